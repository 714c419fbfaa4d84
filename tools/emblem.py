"""Store the sign that a browser's tab shows: `python tools/emblem.py`."""

from posenc_book.figures import emblem
from repository import ROOT

if __name__ == "__main__":
    stored = ROOT / "book" / "_assets" / "favicon.svg"
    stored.write_text(emblem.favicon(), encoding="utf-8")
