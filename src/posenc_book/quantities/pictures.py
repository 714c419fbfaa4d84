"""What small transformers read of digits in other shapes than those they learned from."""

from posenc_book.read import pictures as read

_SHAPES = {
    "home": read.HOME,
    "cut": read.CUT,
    "wide": read.WIDE,
    "sheet": read.SHEET,
    "counted": read.COUNTED,
    "spread": read.SPREAD,
}


def right():
    """Accuracies in per cent, by encoding and shape."""
    each = [(name, key) for name in read.PLAN["encodings"] for key in _SHAPES]
    each += [(name, "hidden") for name in read.LATER["encodings"]]
    shapes = {**_SHAPES, "hidden": read.HIDDEN}
    return {
        f"{name.replace(', ', '_')}.{key}": f"{read.mean(name, shapes[key]).mean:.0f}"
        for name, key in each
    }


def _means(shape):
    return {name: read.mean(name, shape).mean for name in read.PLAN["encodings"]}


def at_home_it_hardly_matters():
    """Of the four that were told a pixel's place as it is."""
    told = [_means(read.HOME)[name] for name in ("learned", "sinusoid", "axial", "mixed")]
    return min(told) > 85 and max(told) - min(told) < 5


def counting_on_is_guessing():
    """Of all that were told places as they are; a resized table is told none."""
    told = _means(read.COUNTED)
    return max(told[name] for name in ("sinusoid", "axial", "mixed")) < 20


def all_guess_on_a_sheet():
    return max(_means(read.SHEET).values()) < 20


def rope_reads_a_masked_sheet_as_at_home():
    there, here = (read.accuracy("axial", shape) for shape in (read.HIDDEN, read.HOME))
    return bool((there == here).all())
