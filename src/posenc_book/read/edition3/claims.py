"""Four statements of sources, asked again under the sources' own definitions.

Their verdicts in the ledger are about edition 2, and stay. They were "not testable" or "not
reproduced" partly because encodings were not what the source defines, and never on its own sets.
Here the methods are those of the survey, on those six of its sets that can be had, and the DFT's
table is asked only where its paper defines it.

The survey's tAPE is that of its authors, as its printed formula has lost a letter (S3 of the
ledger); SPE is ConvSPE, which its text describes; eRPE has one scalar for each offset, for all
heads; Shaw's vectors are those that its Table 2 counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from posenc_book.data import recorded_facts
from posenc_book.read.edition3.plan import ANALYSIS
from posenc_book.statistics.friedman import DECIMALS

PRINTED_ORDER: tuple[str, ...] = tuple(ANALYSIS["printed order"])
"""The survey's eight methods, as its Table 4 orders them by average rank, the last one best."""
ORDER, TREND = "agreement with the printed order", "trend"


@dataclass(frozen=True)
class Claim:
    """A statement, and what answers it.

    Parameters
    ----------
    words : str
        What the source says.
    asked : str
        What is measured.
    of : {"accuracy", "agreement with the printed order", "trend"}
        What a single training's number is made of; "trend" is shown and not tested.
    margin : float
        Differences up to this size count as none: of accuracy, of Kendall's tau, or of accuracy
        for a doubling.
    resamples : int
    weights : mapping
        Encoding -> its share in the difference; empty for an order, which takes all eight.
    datasets : tuple of str
    """

    words: str
    asked: str
    of: str
    margin: float
    resamples: int
    weights: Mapping[str, float]
    datasets: tuple[str, ...]

    @property
    def encodings(self) -> tuple[str, ...]:
        """What has to be trained for it."""
        return tuple(self.weights) or PRINTED_ORDER


CLAIMS = {
    name: Claim(
        one["words"],
        one["asked"],
        one["of"],
        one["margin"],
        one["resamples"],
        one["weights"],
        tuple(one["sets"]),
    )
    for name, one in ANALYSIS["claims"].items()
}
"""By their names in the ledger."""


def weighted(scores: ArrayLike, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Return differences (...) from scores (..., n_encodings) in the order of the weights."""
    return np.asarray(scores) @ np.array(list(weights.values()))


def agreement(scores: ArrayLike) -> NDArray[np.float64]:
    """Return Kendall's tau with the printed order, (...), from scores (..., 8) in that order."""
    rounded = np.asarray(scores).round(DECIMALS)
    places = np.arange(len(PRINTED_ORDER))
    tau = np.apply_along_axis(lambda one: stats.kendalltau(places, one).statistic, -1, rounded)
    return np.nan_to_num(tau)  # all scores equal: no order, no agreement


def facts_of_trends(datasets: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """Return what gains are said to grow with, a number for each set, by name."""
    facts = [recorded_facts(name) for name in datasets]
    return {
        "a doubling of length": np.log2([one.length for one in facts]),
        "a doubling of channels": np.log2([one.n_channels for one in facts]),
        "two classes": np.array([float(one.n_classes == 2) for one in facts]),
    }


def slope_weights(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by which numbers the sets' means are weighted to give the slope of a line."""
    centred = x - x.mean()
    return centred / (centred @ centred)
