"""What the guide tells, in the decision record and beside it."""

import numpy as np

from posenc_book.data import recorded_facts
from posenc_book.guide import evidence, measured
from posenc_book.quantities import _edition3, _read
from posenc_book.read.range_probe import longer
from posenc_book.statistics.summary import t_interval


def time_of_a_step():
    """In steps of a model without positions, by encoding: medians over lengths."""
    return {name: measured.number(one.cost) for name, one in measured.measured().items()}


def series():
    """How long those of the length probe are, in training and at most."""
    found = longer.load_longer()
    return {"trained": str(found.trained), "far": str(max(found.longer))}


def right_far():
    """In per cent, on the longest series of the length probe, by encoding."""
    found = measured.measured().items()
    return {name: f"{100 * one.longer:.0f}" for name, one in found}


def few_series():
    """At most so many in the training part."""
    return str(evidence.FEW_SERIES)


def long_series():
    """In steps, and how many times the work of their patches they are."""
    work = evidence.attention_work()
    return {"steps": f"{evidence.LONG:,}", "times": f"{work:.0f}"}


def erpe_on_new_sets():
    """Beside the sinusoid, in points: intervals over data sets, and what is told of some."""
    by_set = _edition3.by_set("ahead", "erpe - sinusoidal")
    few = [by_set[name] for name, n in _new_sets().items() if n <= evidence.FEW_SERIES]
    even = [x for name, x in by_set.items() if not any(recorded_facts(name).masked_steps)]
    return {
        "interval": _interval(by_set.values()),
        "units": _read.word(len(by_set)),
        "few": _read.word(len(few)),
        "few.mean": f"{100 * np.mean(few):.1f}",
        "of_one_length": _read.word(len(even)),
        "of_one_length.mean": f"{100 * np.mean(even):.1f}",
        "of_one_length.interval": _interval(even),
    }


def series_of_new_sets():
    """In the half that is not tested, by which a model learns and is chosen."""
    dealt = _new_sets().values()
    least, most = min(dealt), max(dealt)
    return {"least": str(least), "most": str(most), "about": f"{most // 100 * 100}"}


def _new_sets():
    """Return how many series of each new set are not tested."""
    names = _edition3.by_set("ahead", "erpe - sinusoidal")
    dealt = _edition3.series_to_learn_from()
    return {name: dealt[name] for name in names}


def _interval(by_set):
    found = t_interval([*by_set])
    return f"{100 * found.low:.2f} to {100 * found.high:.2f}"


def sinusoid_in_patches():
    """The interval of its gain over none, in points."""
    (one,) = [one.effect for one in _read.gains("patches") if one.encoding == "sinusoidal"]
    return f"{100 * one.low:.1f} to {100 * one.high:.1f}"
