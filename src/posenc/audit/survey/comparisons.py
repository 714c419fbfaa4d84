"""Every encoding against a control, over the data sets."""

from posenc import _checks
from posenc.audit.survey.ours import ranked
from posenc.study import statistics
from posenc.study.tables import Scores


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
