"""Every encoding against a control, over the data sets."""

from collections.abc import Iterator, Sequence

from posenc import _checks
from posenc.bench import statistics
from posenc.bench.survey.ours import ranked
from posenc.bench.tables import Scores


def against(
    scores: Scores, control: str, *, rope: float = 0.01
) -> dict[str, statistics.Comparison]:
    """Return the comparison of every other encoding with `control`, best average rank first.

    Differences up to `rope` count as practically equal.
    """
    means = dict(zip(scores.encodings, scores.mean().T, strict=True))
    _checks.choice("control", control, means)
    others = [e for e in ranked(scores) if e != control]
    return {e: statistics.compare(means[e], means[control], rope=rope) for e in others}


def duels(
    scores: Scores, controls: Sequence[str] = ("none", "sinusoidal"), *, rope: float = 0.01
) -> Iterator[str]:
    """Yield a table in text: every encoding against each control.

    Points of difference, sets won/tied/lost, rank-biserial correlation, and the probabilities of
    better/equal/worse.
    """
    found = [against(scores, control, rope=rope) for control in controls]
    yield f"{scores.model:21}" + "".join(f"{'against ' + c:38}" for c in controls).rstrip()
    for e in ranked(scores):
        yield f"{e:21}{''.join(f'{_duel(one.get(e)):38}' for one in found)}".rstrip()


def _duel(c: statistics.Comparison | None) -> str:
    if c is None:
        return ""
    won = f"{c.wins}/{c.ties}/{c.losses}"
    chances = f"{c.better:.2f}/{c.equal:.2f}/{c.worse:.2f}"
    return f"{100 * c.difference:+5.1f} {won:>8} {c.rank_biserial:+.2f}  {chances}"
