"""What trainings to the end say of the sources' sentences, by readings that were fixed beforehand.

Four statements are judged on the first tier of the second benchmark: the survey's S19 (the order of
the methods), S20 (what the gain grows with) and S31 (TUPE and SPE are more accurate), and F23 of
the paper on the DFT encoding (it improves classification). S50 (the norm amplifies what advanced
encodings bring) is judged on the third tier's models with the other norm. How these five are read,
on which sets, by which test and within which margin stands here since before their tier was whole,
so that nobody can choose a reading by its result; sets of later tiers do not enter the first four.
S93 to S97 (single methods serve time series) came afterwards. A statement about both architectures
holds if it holds in both. None of this is the sources' own code, so that nothing here can refute:
what is shown to be otherwise is "not reproduced".

SPE is `sine_spe`, the candidate of the first tier.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from posenc_book import data
from posenc_book.audit import printed
from posenc_book.audit.evidence import Claim, Direction, Evidence, Units, correct
from posenc_book.audit.outcomes import Outcome
from posenc_book.audit.rules import Decision, decide
from posenc_book.data.units import unit_of
from posenc_book.read.classification import edition, edition2, variants
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import equality, friedman, power

TAU_MARGIN = 0.1  # mean agreement of orders that counts as none
GAIN_MARGIN = edition2.MARGIN
TREND_MARGIN = 0.005  # accuracy per doubling, or between sets with two classes and others
CONDITIONS = "small models, tuned alike and trained to the end, on the sets of the first tier"
NORM_CONDITIONS = "small models, tuned alike and trained to the end, on ten sets, TUPE alone"
METHODS = [names[0] for names in printed.OURS.values()]  # of the survey's columns
TOKENS = {"time_series": "steps as tokens", "patch": "patches"}
FIGURES = ("estimate", "low", "high", "units")
WORST_FIRST = (
    Outcome.REFUTED,
    Outcome.NOT_REPRODUCED,
    Outcome.UNTESTABLE,
    Outcome.CONDITION,
    Outcome.CONFIRMED,
)


def missing() -> str:
    """Return what the pages' edition lacks of the first tier, in words; "" where it is whole."""
    there = {model: edition2.load_grid(model).datasets for model in TOKENS}
    planned = {model: [block.dataset for block in protocols.blocks(1, model)] for model in TOKENS}
    if all(set(planned[model]) <= set(there[model]) for model in TOKENS):
        return ""
    counts = " and ".join(
        f"{len(there[model])} of {len(planned[model])} with {tokens}"
        for model, tokens in TOKENS.items()
    )
    return (
        "Needed: training runs to the end, tuned alike, on all sets of our protocol's first tier. "
        f"Of these {edition.edition_name()} has {counts}. How this will be judged stands in "
        "posenc_book.audit.survey.trained since before the tier was whole"
    )


def normed() -> dict[str, variants.Pair]:
    """Return the plain model and that with the other norm, by model, on the edition's sets."""
    whole = variants.whole()
    return {model: pair for (variant, model), pair in whole.items() if variant == "other-norm"}


def norms_missing(pairs: Mapping[str, variants.Pair]) -> str:
    """Return what is lacking for S50, in words; "" where both models have all ten sets.

    Parameters
    ----------
    pairs : mapping of model to (Accuracies, Accuracies)
        As `normed` returns them.
    """
    there = {m: len(pairs[m][0].datasets) if m in pairs else 0 for m in TOKENS}
    planned = len(protocols.VARIED)
    if all(n == planned for n in there.values()):
        return ""
    counts = " and ".join(f"{n} of {planned} sets with {TOKENS[m]}" for m, n in there.items())
    return (
        "Needed: the same models with the one norm and the other, tuned alike and trained to the "
        "end. Of the ten sets of our protocol's third tier "
        f"{edition.edition_name()} has {counts}. How this will be judged stands in "
        "posenc_book.audit.survey.trained"
    )


def order(grids: Mapping[str, Accuracies]) -> Decision:
    """Return the verdict on S19: that the eight methods rank in the printed order.

    The difference is Kendall's tau between the printed average ranks and the order of our scores,
    one a deciding unit; 0 is no agreement.

    Parameters
    ----------
    grids : mapping of model to Accuracies
        "time_series" for Table 4 and "patch" for Table 5, encodings of tier 1.
    """
    cells = {model: _taus(ranked(g)) for model, g in grids.items()}
    return both(judged(cells, TAU_MARGIN, "agreement with the printed order"))


def first_tier(grid: Accuracies) -> Accuracies:
    """Return the sets of the first tier alone.

    Parameters
    ----------
    grid : Accuracies
    """
    return grid.only(block.dataset for block in protocols.blocks(1, grid.model))


def ranked(grid: Accuracies) -> Accuracies:
    """Return what S19 is judged by: the deciding units, and the eight methods as printed.

    Parameters
    ----------
    grid : Accuracies
        Of one model, encodings of tier 1.

    Returns
    -------
    Accuracies
        Encodings in the order of the survey's columns; scores (n_units, 8, n_resamples).
    """
    return edition2.deciding(first_tier(grid)).compare(METHODS)


def accuracy(grids: Mapping[str, Accuracies]) -> Decision:
    """Return the verdict on the first half of S31: TUPE and SPE are the more accurate ones.

    The difference is the mean of both minus the mean of the sinusoid and the learned table, one a
    learned unit.

    Parameters
    ----------
    grids : mapping of model to Accuracies
    """
    cells = {
        model: _mean(unit, ("tupe", "sine_spe")) - _mean(unit, ("sinusoidal", "learnable"))
        for model, unit in ((m, edition2.learned(first_tier(g))) for m, g in grids.items())
    }
    return both(judged(cells, GAIN_MARGIN, "TUPE and SPE against fixed and learned"))


def fourier(grids: Mapping[str, Accuracies]) -> Decision:
    """Return the verdict on F23: the DFT encoding is more accurate than the original one.

    The difference is that of DFT rows and sinusoids, each tuned, also in size; one a learned unit.

    Parameters
    ----------
    grids : mapping of model to Accuracies
    """
    cells = {
        model: _mean(unit, ("dft",)) - _mean(unit, ("sinusoidal",))
        for model, unit in ((m, edition2.learned(first_tier(g))) for m, g in grids.items())
    }
    return both(judged(cells, GAIN_MARGIN, "DFT rows against sinusoids"))


def over_sinusoid(grids: Mapping[str, Accuracies], names: Sequence[str]) -> dict[str, Decision]:
    """Return the verdicts on sentences that say of one method each that it serves time series.

    The difference is that of the method and the sinusoid, one a learned unit; all methods and both
    models are one family of tests. Unlike the others these readings were chosen when the trainings
    were known.

    Parameters
    ----------
    grids : mapping of model to Accuracies
    names : sequence of str
        Encodings of tier 1.
    """
    units = {TOKENS[m]: edition2.learned(first_tier(g)) for m, g in grids.items()}
    cells = {
        f"{name}, {tokens}": _mean(unit, (name,)) - _mean(unit, ("sinusoidal",))
        for name in names
        for tokens, unit in units.items()
    }
    found = judged(cells, GAIN_MARGIN, "single methods over the sinusoid")
    return {name: both({t: found[f"{name}, {t}"] for t in units}) for name in names}


def trends(grids: Mapping[str, Accuracies]) -> Decision:
    """Return the verdict on S20: the gain grows with length and channels, and with two classes.

    The gain is that of TUPE and SPE over the sinusoid. Differences are slopes of lines through the
    learned units, per doubling of length and of channels, and from more classes to two.

    Parameters
    ----------
    grids : mapping of model to Accuracies
    """
    slopes = {
        f"{TOKENS[model]}, {name}": _slope(*values)
        for model, grid in grids.items()
        for name, values in _against_facts(first_tier(grid)).items()
    }
    p_values = correct("trends of the gain", {k: s.p_value for k, s in slopes.items()})
    equal = correct("equivalence of the same", {k: s.p_equal for k, s in slopes.items()})
    return both(
        {
            name: decide(
                Claim(Direction.GREATER, TREND_MARGIN),
                Evidence(
                    slope.estimate,
                    slope.low,
                    slope.high,
                    p_values[name],
                    Units("data sets", slope.n, independent=True),
                    CONDITIONS,
                    reproduced=False,
                    equivalence=equal[name],
                ),
            )
            for name, slope in slopes.items()
        }
    )


def norms(pairs: Mapping[str, variants.Pair]) -> Decision:
    """Return the verdict on S50: batch norm amplifies what advanced encodings bring.

    The survey's model with the larger gaps has batch norm, the other one layer norm. The benefit is
    that of TUPE over the sinusoid; the difference is the benefit with batch norm minus that with
    layer norm in the same model, one a unit that both models learn.

    Parameters
    ----------
    pairs : mapping of model to (Accuracies, Accuracies)
        The plain model and that with the other norm.
    """
    cells = {}
    for model, pair in pairs.items():
        plain, other = (
            _mean(unit, ("tupe",)) - _mean(unit, ("sinusoidal",)) for unit in variants.learned(pair)
        )
        plain_is_batch = variants.norm(model, "") == "batch"
        cells[model] = plain - other if plain_is_batch else other - plain
    family = "what TUPE gains by batch norm"
    return both(judged(cells, GAIN_MARGIN, family, NORM_CONDITIONS))


def both(decisions: Mapping[str, Decision]) -> Decision:
    """Return the verdict on a statement that is made of several, each of which has to hold.

    One that is shown to be otherwise decides; if all hold, the weakest does; else it stays open.
    """
    worst = min((one.outcome for one in decisions.values()), key=WORST_FIRST.index)
    reason = " ".join(f"{name}: {one.reason}" for name, one in decisions.items())
    numbers = {f"{n}, {k}": v for n, one in decisions.items() for k, v in one.numbers.items()}
    return Decision(worst, reason, numbers)


def measured(decision: Decision, what: str) -> str:
    """Return the figures of a decision of `both` in a sentence, one part after the other.

    Parameters
    ----------
    decision : Decision
    what : str
        The difference in words, such as "DFT rows minus sinusoids in accuracy".
    """
    numbers = decision.numbers
    parts = [name.removesuffix(", estimate") for name in numbers if name.endswith("estimate")]
    found = {part: {k: numbers[f"{part}, {k}"] for k in FIGURES} for part in parts}
    said = "{estimate:+.3f} [{low:+.3f}, {high:+.3f}] over {units:.0f} sets".format_map
    told = "; ".join(f"{part} {said(figures)}" for part, figures in found.items())
    return f"{what}, with Student's intervals: {told}"


def judged(
    cells: Mapping[str, NDArray], margin: float, family: str, conditions: str = CONDITIONS
) -> dict[str, Decision]:
    """Return by name, of differences (n_units, n_resamples), whether they are above 0.

    Parameters
    ----------
    cells : mapping of str to array
    margin : float
    family : str
        What the tests decide together.
    conditions : str
        Under which all was trained.
    """
    p_values = correct(family, {m: friedman.wilcoxon(c).p_value for m, c in cells.items()})
    equal = correct(
        f"equivalence, {family}", {m: equality.tost(c, margin).p_value for m, c in cells.items()}
    )
    found = {}
    for model, one in cells.items():
        effect = friedman.effect(one)
        known = power.power(margin, power.estimated_design(one), n_tests=len(cells))
        evidence = Evidence(
            effect.mean,
            effect.low,
            effect.high,
            p_values[model],
            Units("data sets", len(one), independent=True),
            conditions,
            reproduced=False,
            equivalence=equal[model],
            power=known.value,
            power_for=margin,
        )
        found[TOKENS.get(model, model)] = decide(Claim(Direction.GREATER, margin), evidence)
    return found


def _taus(grid: Accuracies) -> NDArray[np.float64]:
    """Return Kendall's tau with the printed ranks, (n_units, n_resamples)."""
    ranks = -printed.average_ranks(grid.model)
    scores = np.moveaxis(grid.scores, 1, 2).round(friedman.DECIMALS)
    tau = np.apply_along_axis(lambda one: stats.kendalltau(ranks, one).statistic, 2, scores)
    return np.nan_to_num(tau)  # all scores equal: no order, no agreement


def _mean(grid: Accuracies, names: Sequence[str]) -> NDArray[np.float64]:
    return grid.scores[:, [grid.encodings.index(name) for name in names]].mean(1)


@dataclass(frozen=True)
class _Slope:
    """A line's slope with its interval, its p-value and that of equivalence within the margin."""

    n: int
    estimate: float
    low: float
    high: float
    p_value: float
    p_equal: float


def _slope(x: NDArray, y: NDArray) -> _Slope:
    line, student = stats.linregress(x, y), stats.t(len(x) - 2)
    half = student.ppf(0.975) * line.stderr
    p_equal = student.sf((TREND_MARGIN - abs(line.slope)) / line.stderr)
    return _Slope(
        len(x), line.slope, line.slope - half, line.slope + half, line.pvalue, float(p_equal)
    )


def _against_facts(grid: Accuracies) -> dict[str, tuple[NDArray, NDArray]]:
    """Return the fact of each learned unit and its gain, by trend; facts that vary only."""
    names = [one.dataset for one in edition2.decides(grid) if one.learned]
    units = edition2.learned(grid)
    gains = (_mean(units, ("tupe", "sine_spe")) - _mean(units, ("sinusoidal",))).mean(1)
    of_fact: dict[str, Callable] = {
        "length": lambda f: np.log2(f.length),
        "channels": lambda f: np.log2(f.n_channels),
        "two classes": lambda f: float(f.n_classes == 2),
    }
    found = {}
    for trend, fact in of_fact.items():
        by_unit = [
            np.mean([fact(data.recorded_facts(n)) for n in names if unit_of(n) == unit])
            for unit in units.datasets
        ]
        if np.ptp(by_unit) > 0:
            found[trend] = np.array(by_unit), gains
    return found
