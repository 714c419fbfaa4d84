"""What the book found out, for its first page: sentences whose numbers are computed here."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posenc.audit import ledger
from posenc.audit.outcomes import Outcome
from posenc.data import recorded_facts
from posenc.experiments import peers
from posenc.experiments.classification import afterwards, edition, second
from posenc.experiments.range_probe import longer as lengths


@dataclass(frozen=True)
class Finding:
    """A sentence with its number, in Markdown, and the page that shows it.

    Attributes
    ----------
    title, text : str
    page : str
        Address of the page, from the folder of the book.
    """

    title: str
    text: str
    page: str


def findings() -> list[Finding]:
    """Return the findings, the most important first."""
    return [make() for make in _FINDINGS]


def markdown() -> str:
    """Return the findings as a numbered list with links."""
    return "\n".join(
        f"{n}. **{one.title}** {one.text} [See it.]({one.page})"
        for n, one in enumerate(findings(), 1)
    )


def position_matters() -> Finding:
    """A token a step, on the sets of the edition: none beside all encodings."""
    grid = second.learned(second.load_grid("time_series"))
    by_set = 100 * grid.scores.mean(2)
    scores = by_set.mean(0)
    none, others = scores[0], scores[1:]
    middle = np.median(by_set[:, 1:].mean(1) - by_set[:, 0])
    on_one, rival = afterwards.on_one_set(grid), afterwards.rival_over_the_sinusoid()
    in_steps = second.gains(grid)
    in_patches = second.gains(second.learned(second.load_grid("patch")))
    means = [100 * one.effect.mean for one in in_patches]
    return Finding(
        "When every time step is a token, having an encoding mattered more, on average over sets, "
        "than which one.",
        f"In {edition.said()} of the benchmark, on {_listed(grid.datasets)}, a transformer without "
        f"positions is right in {none:.1f} %, and with positions in {others.min():.1f} to "
        f"{others.max():.1f} %, whichever of {len(others)} encodings gives them: "
        f"{others.mean() - none:.1f} points for having one ({middle:.1f} in the median), "
        f"{others.max() - others.min():.1f} "
        f"between the best and the worst. On a single set the best lies {on_one.apart.mean():.1f} "
        f"points above the worst; luck alone would put equal ones {on_one.luck.mean():.1f} apart. "
        "By the test that was fixed beforehand, "
        f"{second.said_shown(in_steps)}. Where a token is a patch of eight steps, the mean gain of "
        f"an encoding is {min(means):+.1f} to {max(means):+.1f} points over "
        f"{in_patches[0].n_units} independent sets, and {second.said_shown(in_patches)}. "
        "MiniRocket, which is no transformer, is ahead of the sinusoid by "
        f"{rival['steps']:.1f} points with steps and {rival['patches']:.1f} with patches.",
        "benchmark.ipynb",
    )


def _listed(names: tuple[str, ...]) -> str:
    """Return few names as a list with the steps of their series, many as a number."""
    if len(names) > 2:
        return f"{len(names)} independent sets"
    return " and ".join(f"{name} ({recorded_facts(name).length} steps)" for name in names)


def beyond_training() -> Finding:
    """Trained at one length, read at four times that, by those that learned the task."""
    runs = lengths.load_longer()
    short, far = runs.trained, max(runs.longer)
    names = {"relative": "Shaw's relative encoding", "rotary": "RoPE", "sinusoidal": "sinusoids"}
    shares = {
        title: f"{100 * runs.accuracy(name, f'longer_{far}'):.0f} %"
        for name, title in names.items()
    }
    (first, share), *others = shares.items()
    rest = " and ".join(f"{title} in {share}" for title, share in others)
    return Finding(
        "Many encodings go on beyond the training length, few work there.",
        f"Models learned from series of {short} steps which of two pulses came first, and were "
        f"tested on series of {far}: {first} is right in {share} of cases, {rest}, "
        "where a coin is right in 50 %. The task is synthetic.",
        "beyond-training-length.ipynb",
    )


def same_as_others() -> Finding:
    """What `make peers` stored."""
    stored = peers.load_comparisons()["comparisons"]
    references = {one["reference"] for one in stored}
    differ = sum(bool(one["explanation"]) for one in stored)
    return Finding(
        "Our encodings agree with other people's code, or we know why not.",
        "Every encoding of the library was compared with other people's code, in "
        f"{len(stored)} comparisons with {len(references)} other implementations, Hugging Face's "
        f"and the authors' own among them. In {len(stored) - differ} of these both sides agree "
        "to rounding or, where codes are random, to the error of the sample; for each of the "
        f"other {differ} the page gives the reason.",
        "peers.ipynb",
    )


def published_table_shrinks() -> Finding:
    """The companion code that scales its own table at each call."""
    import torch

    from posenc.audit.published import DecayingDFT

    d_model, norms = 240, []
    encoding = DecayingDFT(d_model, 1, 100)
    for _ in range(4):
        added = encoding.embed(torch.zeros(1, 100, d_model))
        norms.append(added[0, 50].norm().item())
    said = ", ".join(f"{norm:.2g}" for norm in norms)
    return Finding(
        "A published encoding wore off.",
        "The code that accompanies one of our sources multiplies its own table at every call: "
        f"rows have norm {said} in the first four calls, while the encoding that it is compared "
        "with keeps its size.",
        "audit/published-code.ipynb",
    )


def verdicts() -> Finding:
    """The ledger, counted: the four sources with what we say ourselves, and later papers apart."""
    rows = [row for row in ledger.rows() if row["source"] in ledger.FOUR]
    others = [row for row in ledger.rows() if row["source"] not in ledger.FOUR]
    later = [row for row in others if not row.get("ours")]
    count = Counter(row["verdict"] for row in rows)
    return Finding(
        "Most of what is written about positional encoding holds, with a condition.",
        f"Of {len(rows)} checkable statements in and about four sources {_tally(count)}; of those "
        f"that hold, {count[Outcome.CONDITION]} do so under a condition that the source does not "
        f"name. Of {len(later)} statements of the papers behind the modern encodings "
        f"{_tally(Counter(row['verdict'] for row in later))}.",
        "claims.md",
    )


def _tally(count: Counter) -> str:
    """Return how many statements hold and what became of the others, in words."""
    holds = count[Outcome.CONFIRMED] + count[Outcome.CONDITION]
    *parts, last = [
        f"{holds} hold",
        *(f"{count[outcome]} {words}" for outcome, words in _FAILS.items() if count[outcome]),
    ]
    return f"{', '.join(parts)} and {last}" if parts else last


_FAILS = {
    Outcome.SLIP: "are slips",
    Outcome.NOT_REPRODUCED: "could not be reproduced",
    Outcome.REFUTED: "are refuted",
    Outcome.UNTESTABLE: "cannot be tested here",
}
_FINDINGS: tuple[Callable[[], Finding], ...] = (
    position_matters,
    beyond_training,
    same_as_others,
    published_table_shrinks,
    verdicts,
)
