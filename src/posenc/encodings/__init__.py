"""Every encoding of the book, one file per family, and a registry of their names."""

import inspect
from typing import Any

from posenc import _checks
from posenc.attention import Position
from posenc.encodings import toeplitz as toeplitz
from posenc.encodings.added import Added
from posenc.encodings.axial import AxialRotary
from posenc.encodings.cope import CoPE
from posenc.encodings.deberta import DeBERTa
from posenc.encodings.distance import ALiBi, T5Bias
from posenc.encodings.dywpe import DyWPE
from posenc.encodings.erpe import ERPE
from posenc.encodings.fire import FIRE
from posenc.encodings.fope import FoPE
from posenc.encodings.kerple import Kerple
from posenc.encodings.learnable import Learnable, LearnableFrequency, SineLinear
from posenc.encodings.none import NoPosition
from posenc.encodings.pope import PoPE
from posenc.encodings.relative import Relative
from posenc.encodings.rotary import Rotary
from posenc.encodings.sinusoidal import DFT, TAPE, Sinusoidal
from posenc.encodings.spe import ConvSPE, SineSPE, StochasticPosition
from posenc.encodings.tpe import TPE
from posenc.encodings.transformer_xl import TransformerXL
from posenc.encodings.tupe import TUPE
from posenc.encodings.window_statistics import (
    WindowStatistics,
    window_statistics,
    with_window_statistics,
)
from posenc.encodings.xpos import XPos

__all__ = [
    "DFT",
    "ERPE",
    "FIRE",
    "TAPE",
    "TPE",
    "TUPE",
    "ALiBi",
    "Added",
    "AxialRotary",
    "CoPE",
    "ConvSPE",
    "DeBERTa",
    "DyWPE",
    "FoPE",
    "Kerple",
    "Learnable",
    "LearnableFrequency",
    "NoPosition",
    "PoPE",
    "Relative",
    "Rotary",
    "SineLinear",
    "SineSPE",
    "Sinusoidal",
    "StochasticPosition",
    "T5Bias",
    "TransformerXL",
    "WindowStatistics",
    "XPos",
    "get",
    "make",
    "names",
    "window_statistics",
    "with_window_statistics",
]

_BOOK: dict[str, type[Position]] = {
    "none": NoPosition,
    "sinusoidal": Sinusoidal,
    "dft": DFT,
    "learnable": Learnable,
    "tape": TAPE,
    "learnable_frequency": LearnableFrequency,
    "sine_linear": SineLinear,
    "rotary": Rotary,
    "relative": Relative,
    "t5": T5Bias,
    "alibi": ALiBi,
    "tupe": TUPE,
    "sine_spe": SineSPE,
    "conv_spe": ConvSPE,
    "tpe": TPE,
    "erpe": ERPE,
}
_MODERN: dict[str, type[Position]] = {
    "transformer_xl": TransformerXL,
    "deberta": DeBERTa,
    "kerple": Kerple,
    "xpos": XPos,
    "fire": FIRE,
    "cope": CoPE,
    "fope": FoPE,
    "pope": PoPE,
}
_SIGNAL: dict[str, type[Position]] = {"dywpe": DyWPE, "window_statistics": WindowStatistics}
_AXES: dict[str, type[Position]] = {"axial_rotary": AxialRotary}
_GROUPS = {
    "book": _BOOK,
    "modern": _MODERN,
    "signal": _SIGNAL,
    "all": {**_BOOK, **_MODERN, **_SIGNAL},
    "axes": _AXES,
}

_ALSO_KNOWN_AS = {
    "disentangled": "deberta",
    "fixed": "sinusoidal",
    "rope": "rotary",
    "shaw": "relative",
    "spe": "sine_spe",
    "time2vec": "sine_linear",
    "vanilla": "sinusoidal",
}


def names(group: str = "book") -> list[str]:
    """Return names that `make` knows.

    Parameters
    ----------
    group : {"book", "modern", "signal", "all", "axes"}
        "book" for the sixteen that the chapters explain and the benchmark measures; "modern" for
        those that came later to the library, which the atlas explains; "signal" for those that are
        made from the values of a series, which must be whole; "all" for these three; "axes" for
        those that want several numbers a token, whose positions must be given.

    Returns
    -------
    list of str
        Those of the book in its order, the modern ones by year of publication.

    Raises
    ------
    ValueError
        For another group.

    Examples
    --------
    >>> names()[:3]
    ['none', 'sinusoidal', 'dft']
    >>> names("modern")[:3]
    ['transformer_xl', 'deberta', 'kerple']
    """
    return list(_GROUPS[_checks.choice("group", group, _GROUPS)])


def get(name: str, *, argument: str = "position", axes: bool = True) -> type[Position]:
    """Return the class behind a name.

    Parameters
    ----------
    name : str
        One of `names("all")` or `names("axes")`.
    argument : str
        What the name was given for, for messages.
    axes : bool
        Whether those of `names("axes")` will do.

    Returns
    -------
    type
        The class, a `posenc.attention.Position`.

    Raises
    ------
    ValueError
        For an unknown name; the message lists all.

    Examples
    --------
    >>> get("rotary").__name__
    'Rotary'
    """
    if isinstance(name, str) and name in _ALSO_KNOWN_AS:
        raise ValueError(f"{argument} {name!r} has the name {_ALSO_KNOWN_AS[name]!r} here")
    known = _GROUPS["all"] | (_AXES if axes else {})
    return known[_checks.choice(argument, name, known)]


def make(name: str, d_model: int, n_heads: int, max_length: int, **options: Any) -> Position:
    """Return a new encoding.

    Parameters
    ----------
    name : str
        One of `names("all")` or `names("axes")`.
    d_model, n_heads, max_length : int
        As for `posenc.attention.Position`.
    **options
        Those of the class; see its documentation.

    Returns
    -------
    Position
        Of the class that `get` returns.

    Raises
    ------
    ValueError
        For an unknown name or option, or a bad value.

    Examples
    --------
    >>> make("rotary", 64, 4, 100, pairing="half").pairing
    'half'
    """
    cls = get(name)
    known = list(inspect.signature(cls).parameters)[3:]
    unknown = [option for option in options if option not in known]
    if unknown:
        takes = ", ".join(known) or "none"
        raise ValueError(f"options of {name!r} are: {takes}; got {', '.join(unknown)}")
    return cls(d_model, n_heads, max_length, **options)
