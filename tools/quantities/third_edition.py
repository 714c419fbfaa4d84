"""What is whole of the third edition."""

from posenc.experiments.edition3 import reading
from posenc.experiments.edition3.questions import QUESTIONS


def _dft():
    return reading.load_answers()["F23"].answers[0]


def dft_over_the_sinusoid():
    """In points, where the paper defines the table."""
    return f"{100 * _dft().estimate:+.1f}"


def dft_equals_the_sinusoid():
    """Shown to be within the margin of a point, and no difference shown."""
    return _dft().outcome == "equal"


def pairs_in_the_printed_order():
    """Of a hundred pairs of methods, those whose better one the survey's order names."""
    tau = reading.load_answers()["S19"].answers[0].estimate
    return f"{50 * (1 + tau):.0f}"


def printed_order_is_shown():
    return reading.load_answers()["S19"].answers[0].outcome == "ahead"


def tupe_and_spe_stay_open():
    return reading.load_answers()["S31"].answers[0].outcome == "undecided"


def _shaw():
    return reading.load_answers()["shaw"].answers[0]


def shaw_whole_over_clipped():
    """In points."""
    return f"{100 * _shaw().estimate:.1f}"


def shaw_whole_is_ahead():
    return _shaw().outcome == "ahead"


def two_sets_carry_it():
    """Only there the whole encoding is more than a point ahead."""
    by_set = zip(QUESTIONS["shaw"].datasets, _shaw().by_set, strict=True)
    return {name for name, by in by_set if by > 0.01} == {"MelbournePedestrian", "LSST"}
