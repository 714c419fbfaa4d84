"""What the guide tells beside its table."""

from posenc_book.guide import chooser, measured
from posenc_book.guide import recommendations as guide
from posenc_book.read.range_probe import longer


def time_of_a_step():
    """In steps of a model without positions, by encoding: medians over lengths."""
    return {name: measured.number(one.cost) for name, one in measured.measured().items()}


def series():
    """How long those of the length probe are, in training and at most."""
    found = longer.load_longer()
    return {"trained": str(found.trained), "far": str(max(found.longer))}


def few_series():
    """At most so many in the training part."""
    return str(chooser.FEW_SERIES)


def long_series():
    """In steps, and how many times the work of their patches they are."""
    work = guide.attention_work()
    return {"steps": f"{guide.LONG:,}", "times": f"{work:.0f}"}
