"""The extras of `posenc-book` that bring what its rooms import."""

from posenc._extras import CPU, Hint

EXTRAS = {
    "torch": "torch",
    "matplotlib": "plots",
    "sympy": "plots",
    "IPython": "plots",
    "aeon": "data",
    "pooch": "data",
    "requests": "data",  # comes with pooch
    "sklearn": "data",
    "tqdm": "data",
    "pandas": "bench",
    "distributed": "cluster",
    "bs4": "slides",  # what tools make of the built site
    "pikepdf": "pdf",
    "playwright": "pdf",
    "pypdf": "pdf",
}
# rooms that need all that `bench` brings
WHOLE = ("posenc_book.bench", "posenc_book.read", "posenc_book.guide", "posenc_book.audit")


def wanted(package: str, room: str = "") -> str:
    """Return what to install for a package that a room asks for, as typed in a shell."""
    extra = EXTRAS[package]
    if extra in ("torch", "plots", "data") and room.startswith(WHOLE):
        extra = "bench"
    return f"'posenc-book[{extra}]'" + (CPU if extra in ("torch", "bench", "cluster") else "")


def _wanted(package: str, asking: list[str]) -> str:
    rooms = [name for name in asking if name.startswith("posenc_book.")]
    whole = next((name for name in rooms if name.startswith(WHOLE)), "")
    return wanted(package, whole) if rooms and package in EXTRAS else ""


HINT = Hint(("posenc.", "posenc_book."), _wanted)
