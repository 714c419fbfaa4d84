"""Our scores put beside the survey's: in its columns, against its ranks, with what is missing.

`posenc.audit.printed` holds what the survey printed; these modules read our results in that form.
"""

from posenc.audit.survey.comparisons import against
from posenc.audit.survey.gains import Trend, advanced_gain, trends
from posenc.audit.survey.levels import levels
from posenc.audit.survey.ours import (
    N_SEEDS,
    PAIRS,
    cells,
    columns,
    common,
    facts,
    in_columns,
    largest_class,
    ranked,
    theirs,
    whole,
)
from posenc.audit.survey.profiles import carried_over, differences
from posenc.audit.survey.ranks import (
    Agreement,
    agreement,
    first_three,
    redrawn_concordance,
    redrawn_tau,
)
from posenc.audit.survey.spread import Spread, spreads
from posenc.study.cost import cost_ratios

__all__ = [
    "N_SEEDS",
    "PAIRS",
    "Agreement",
    "Spread",
    "Trend",
    "advanced_gain",
    "against",
    "agreement",
    "carried_over",
    "cells",
    "columns",
    "common",
    "cost_ratios",
    "differences",
    "facts",
    "first_three",
    "in_columns",
    "largest_class",
    "levels",
    "ranked",
    "redrawn_concordance",
    "redrawn_tau",
    "spreads",
    "theirs",
    "trends",
    "whole",
]
