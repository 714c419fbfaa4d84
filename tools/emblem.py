"""Store the sign of the site as a browser's tab shows it: book/_assets/favicon.svg.

python tools/emblem.py
"""

from posenc_book.figures import emblem
from repository import ROOT

TARGET = ROOT / "book" / "_assets" / "favicon.svg"

if __name__ == "__main__":
    TARGET.write_text(emblem.favicon(), encoding="utf-8")
