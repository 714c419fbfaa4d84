"""Where the classes stand now that records of results name as they were called then.

Records are never rewritten, so a name in a record stays the key to its training.
"""

OURS = ("posenc.", "posenc_book.")
"""How modules of the library and of the book's code begin."""
MOVED = {
    "posenc.audit.": "posenc_book.audit.",
    "posenc.experiments.capstone.": "posenc_book.capstone.",
    "posenc.experiments.edition3.": "posenc_book.bench.",
    "posenc.experiments.forecasting.": "posenc_book.bench.",
}


def present(name: str) -> str:
    """Return "module:Class" as it is now; other names as they are."""
    module, colon, cls = name.partition(":")
    then = next((start for start in MOVED if colon and module.startswith(start)), None)
    return name if then is None else f"{MOVED[then]}{module.removeprefix(then)}:{cls}"
