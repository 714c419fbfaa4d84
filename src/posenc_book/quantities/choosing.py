"""What the guide tells, in the decision record and beside it."""

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
    """Beside the sinusoid: the interval over data sets in points, sets, and those of few series."""
    by_set = _edition3.by_set("ahead", "erpe - sinusoidal")
    found = t_interval([*by_set.values()])
    few = sum(recorded_facts(name).train <= evidence.FEW_SERIES for name in by_set)
    return {
        "interval": f"{100 * found.low:.2f} to {100 * found.high:.2f}",
        "units": _read.word(len(by_set)),
        "few": _read.word(few),
    }


def sinusoid_in_patches():
    """The interval of its gain over none, in points."""
    (one,) = [one.effect for one in _read.gains("patches") if one.encoding == "sinusoidal"]
    return f"{100 * one.low:.1f} to {100 * one.high:.1f}"
