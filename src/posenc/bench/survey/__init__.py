"""Our scores put beside the survey's: in its columns, against its ranks, with what is missing.

`posenc.bench.printed` holds what the survey printed; these modules read our results in that form.
"""

from posenc.bench.survey.comparisons import against, duels
from posenc.bench.survey.cost import cost_ratios, relative_cost
from posenc.bench.survey.gains import Trend, advanced_gain, gain_pairs, trends
from posenc.bench.survey.levels import beside, levels
from posenc.bench.survey.missing import coverage, gaps, stand_ins
from posenc.bench.survey.ours import (
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
from posenc.bench.survey.profiles import carried_over, deviation_pairs, differences, rank_again
from posenc.bench.survey.ranks import (
    Agreement,
    agreement,
    first_three,
    redrawn_concordance,
    redrawn_tau,
    regularity,
)
from posenc.bench.survey.spread import Spread, spreads

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
