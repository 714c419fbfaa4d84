"""Our scores put beside the survey's: in its columns, against its ranks, with what is missing.

`posenc.audit.printed` holds what the survey printed; these modules read our results in that form.
"""

from posenc.audit.survey.comparisons import against, duels
from posenc.audit.survey.cost import relative_cost
from posenc.audit.survey.gains import Trend, advanced_gain, gain_pairs, trends
from posenc.audit.survey.levels import beside, levels
from posenc.audit.survey.missing import coverage, gaps, stand_ins
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
from posenc.audit.survey.profiles import carried_over, deviation_pairs, differences, rank_again
from posenc.audit.survey.ranks import (
    Agreement,
    agreement,
    first_three,
    redrawn_concordance,
    redrawn_tau,
    regularity,
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
    "beside",
    "carried_over",
    "cells",
    "columns",
    "common",
    "cost_ratios",
    "coverage",
    "deviation_pairs",
    "differences",
    "duels",
    "facts",
    "first_three",
    "gain_pairs",
    "gaps",
    "in_columns",
    "largest_class",
    "levels",
    "rank_again",
    "ranked",
    "redrawn_concordance",
    "redrawn_tau",
    "regularity",
    "relative_cost",
    "spreads",
    "stand_ins",
    "theirs",
    "trends",
    "whole",
]
