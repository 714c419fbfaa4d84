"""Every encoding against a control, over the data sets."""

from collections.abc import Sequence

import pandas as pd

from posenc import _checks
from posenc.audit.survey.ours import ranked
from posenc.study import statistics
from posenc.study.tables import Scores

_MORE_HEADS = ("sets", "effect", "better / equal / worse")


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
) -> pd.DataFrame:
    """Return every encoding against each control: four columns for each, best average rank first.

    Mean difference in points, sets won/tied/lost, rank-biserial correlation, and the Bayesian
    probabilities of better/equal/worse.
    """
    found = {c: against(scores, c, rope=rope) for c in controls}
    names = [e for e in ranked(scores) if any(e in one for one in found.values())]
    rows = [[text for one in found.values() for text in _duel(one.get(e))] for e in names]
    heads = [head for c in controls for head in (f"over {c}", *_MORE_HEADS)]
    return pd.DataFrame(rows, names, heads).rename_axis("encoding", axis="columns")


def _duel(c: statistics.Comparison | None) -> list[str]:
    if c is None:
        return [""] * (1 + len(_MORE_HEADS))
    points = round(100 * c.difference, 1) + 0.0  # never -0.0
    chances = f"{c.better:.2f}/{c.equal:.2f}/{c.worse:.2f}"
    return [f"{points:+.1f}", f"{c.wins}/{c.ties}/{c.losses}", f"{c.rank_biserial:+.2f}", chances]
