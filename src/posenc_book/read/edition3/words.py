"""What people call what the third edition compares, and what its questions are about."""

from posenc_book.atlas import called
from posenc_book.read.edition3.questions import CHOSEN

NAMES = {
    "none": "no positions",
    "sinusoidal": "the sinusoid",
    "relative": "Shaw, clipped",
    "relative, whole": "Shaw, whole",
    "erpe, one for all heads": "eRPE, one for all heads",
    "dft": "the DFT's table",
    "tpe, kernel alone": "its kernel alone",
    "tpe, sinusoid alone": "its sinusoid alone",
    "sinusoidal + t5": "sinusoid + T5's bias",
    "tape + erpe": "tAPE + eRPE",
    "convtran": "ConvTran",
    "convtran, none": "ConvTran without positions",
    CHOSEN: "the choice of validation",
}
TITLES = {
    "ahead": "eRPE and T-PE",
    "choice": "Choosing among ten",
    "shaw": "Shaw's encoding",
    "definitions": "Definitions",
    "hybrids": "Hybrids",
    "depth": "Four layers in place of two",
    "convtran": "ConvTran's block",
    "tokens": "Encodings of today",
}
"""Of the questions, as panels and tables name them."""


def pair(title: str) -> str:
    """Return a pair as people say it, such as "eRPE beside the sinusoid"."""
    first, other = title.split(" - ")
    return f"{name(first)} beside {name(other)}"


def name(encoding: str) -> str:
    """Return what people call what is trained under a name of `questions.ENCODINGS`."""
    return NAMES.get(encoding) or called(encoding)
