"""What the book found out, for its first page: sentences whose numbers are computed here."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from posenc import encodings
from posenc.audit import ledger
from posenc.audit.outcomes import Outcome
from posenc.study import lengths, peers, second


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
    """A token a step, on the sets that are measured to the end: none beside all encodings."""
    grid = second.learned(second.load("time_series"))
    scores = 100 * grid.scores.mean((0, 2))
    none, others = scores[0], scores[1:]
    in_patches = second.gains(second.learned(second.load("patch")))
    means = [100 * one.effect.mean for one in in_patches]
    shown = sum(one.shown for one in in_patches)
    return Finding(
        "To have positions matters more than which encoding gives them.",
        f"On {_listed(grid.datasets)}, the sets that are measured to the end so far, a "
        f"transformer without positions is right in {none:.1f} %. With positions it is "
        f"{others.min():.1f} to {others.max():.1f} %, whichever of {len(others)} encodings gives "
        f"them: {others.mean() - none:.1f} points for having one, "
        f"{others.max() - others.min():.1f} between the best and the worst. Where a token is a "
        f"patch of eight steps, mean gains are {min(means):+.1f} to {max(means):+.1f} points over "
        f"{in_patches[0].n_units} independent sets, and {shown or 'none'} of the "
        f"{len(others)} is shown to differ from zero.",
        "benchmark.ipynb",
    )


def _listed(names: tuple[str, ...]) -> str:
    """Return few names as a list, many as a number."""
    return " and ".join(names) if len(names) < 3 else f"{len(names)} sets of short series"


def beyond_training() -> Finding:
    """Trained at one length, read at four times that, by those that learned the task."""
    runs = lengths.load()
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
    stored = peers.load()["comparisons"]
    references = {one["reference"] for one in stored}
    names = {one["encoding"] for one in stored} & set(encodings.names()) - {"none"}
    return Finding(
        "What holds here holds for the code that you use.",
        f"All {len(names)} encodings that this book measures were compared with "
        f"{len(references)} other implementations, Hugging Face's and the authors' own among "
        f"them, in {len(stored)} comparisons. Outputs and gradients agree to rounding, or the "
        "page says why not.",
        "peers.ipynb",
    )


def published_table_shrinks() -> Finding:
    """The companion code that scales its own table at each call."""
    import torch

    from posenc.audit.decaying import DecayingDFT

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
    holds = sum(count[outcome] for outcome in _HOLDS)
    return Finding(
        "Most of what is written about positional encoding holds, with a condition.",
        f"Of {len(rows)} checkable statements in four sources {holds} hold, "
        f"{count[Outcome.CONDITION]} of them under a condition that the source does not name; "
        f"{count[Outcome.SLIP]} are slips, {count[Outcome.NOT_REPRODUCED]} we could not "
        f"reproduce, {count[Outcome.REFUTED]} are refuted, and {count[Outcome.UNTESTABLE]} "
        f"cannot be tested here. Of {len(later)} statements of the papers behind the modern "
        f"encodings {sum(row['verdict'] in _HOLDS for row in later)} hold, and "
        f"{sum(row['verdict'] == Outcome.SLIP for row in later)} are slips.",
        "claims.md",
    )


_HOLDS = (Outcome.CONFIRMED, Outcome.CONDITION)
_FINDINGS: tuple[Callable[[], Finding], ...] = (
    position_matters,
    beyond_training,
    same_as_others,
    published_table_shrinks,
    verdicts,
)
