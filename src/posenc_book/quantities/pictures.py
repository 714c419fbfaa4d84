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
    return {
        f"{name.replace(', ', '_')}.{key}": f"{read.mean(name, shape).mean:.0f}"
        for name in read.PLAN["encodings"]
        for key, shape in _SHAPES.items()
    }
