"""Every encoding of the book, one file per family, and a registry of their names."""

import inspect
import keyword
from collections.abc import Iterable
from typing import Any, Literal, cast

from posenc import _checks
from posenc.attention import Position, words
from posenc.attention.core import check_doors
from posenc.encodings import toeplitz as toeplitz
from posenc.encodings.added import Added
from posenc.encodings.axial import AxialRotary, patch_centres, shaken
from posenc.encodings.cope import CoPE
from posenc.encodings.deberta import DeBERTa
from posenc.encodings.distance import ALiBi, T5Bias
from posenc.encodings.distance_profiles import DistanceProfiles
from posenc.encodings.dywpe import DyWPE
from posenc.encodings.erpe import ERPE
from posenc.encodings.fire import FIRE
from posenc.encodings.fope import FoPE
from posenc.encodings.fox import FoX
from posenc.encodings.graph import GraphPosition
from posenc.encodings.kerple import Kerple
from posenc.encodings.learnable import Learnable, LearnableFrequency, SineLinear
from posenc.encodings.mrope import MRoPE
from posenc.encodings.none import NoPosition
from posenc.encodings.path import PaTH
from posenc.encodings.pope import PoPE
from posenc.encodings.relative import Relative
from posenc.encodings.resizing import resize, resize_grid
from posenc.encodings.rotary import Rotary
from posenc.encodings.rove import RoVE
from posenc.encodings.sinusoidal import DFT, TAPE, Sinusoidal
from posenc.encodings.spe import ConvSPE, SineSPE, StochasticPosition
from posenc.encodings.swin import SwinBias
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
    "DistanceProfiles",
    "DyWPE",
    "FoPE",
    "FoX",
    "GraphPosition",
    "Kerple",
    "Learnable",
    "LearnableFrequency",
    "MRoPE",
    "Name",
    "NoPosition",
    "PaTH",
    "PoPE",
    "Relative",
    "RoVE",
    "Rotary",
    "SineLinear",
    "SineSPE",
    "Sinusoidal",
    "StochasticPosition",
    "SwinBias",
    "T5Bias",
    "TransformerXL",
    "WindowStatistics",
    "XPos",
    "get",
    "make",
    "names",
    "patch_centres",
    "register",
    "resize",
    "resize_grid",
    "shaken",
    "window_statistics",
    "with_window_statistics",
]

Name = Literal[
    "none", "sinusoidal", "dft", "learnable", "tape", "learnable_frequency", "sine_linear",
    "rotary", "relative", "t5", "alibi", "tupe", "sine_spe", "conv_spe", "tpe", "erpe",
    "transformer_xl", "deberta", "kerple", "xpos", "fire", "cope", "fope", "pope", "fox", "path",
    "rove", "distance_profiles", "dywpe", "window_statistics", "axial_rotary", "mrope", "swin",
]  # fmt: skip
"""The names that the library knows, for checkers of types."""

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
    "fox": FoX,
    "path": PaTH,
    "rove": RoVE,
    "distance_profiles": DistanceProfiles,
}
_SIGNAL: dict[str, type[Position]] = {"dywpe": DyWPE, "window_statistics": WindowStatistics}
_AXES: dict[str, type[Position]] = {"axial_rotary": AxialRotary, "mrope": MRoPE, "swin": SwinBias}
_OWN: dict[str, type[Position]] = {}
_SERIES = {**_BOOK, **_MODERN, **_SIGNAL}
_GROUPS = {
    "book": _BOOK,
    "modern": _MODERN,
    "signal": _SIGNAL,
    "series": _SERIES,
    "axes": _AXES,
    "all": {**_SERIES, **_AXES},
    "own": _OWN,
}


def names(group: str = "book") -> list[str]:
    """Return names that `make` knows.

    Parameters
    ----------
    group : {"book", "modern", "signal", "series", "axes", "all", "own"}
        "book" for the sixteen that the chapters explain and the benchmark measures; "modern" for
        those that came later to the library, which the atlas explains; "signal" for those that are
        made from the values of a series, which must be whole; "series" for these three, which the
        models take; "axes" for those that want several numbers a token, whose positions must be
        given; "all" for every one of the library's; "own" for what was registered.

    Returns
    -------
    list of str
        Those of the book in its order, the modern ones by year of publication, one's own as they
        came.

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
    >>> len(names())
    16
    """
    return list(_GROUPS[_checks.choice("group", group, _GROUPS)])


def get(name: str, *, argument: str = "position", axes: bool = True) -> type[Position]:
    """Return the class behind a name.

    Parameters
    ----------
    name : str
        One of `names("all")` or `names("own")`.
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
        For an unknown name; the message lists all, or says what a word that is known elsewhere is
        called here: "rope" is 'rotary'.

    Examples
    --------
    >>> get("rotary").__name__
    'Rotary'
    """
    known = (_GROUPS["all"] if axes else _SERIES) | _OWN
    return known[words.choice(argument, name, known, words.ENCODINGS)]


def _without_default(cls: type[Position]) -> list[str]:
    """Return the options of a class that have no default, behind the three sizes."""
    options = list(inspect.signature(cls).parameters.values())[3:]
    filled = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [o.name for o in options if o.default is o.empty and o.kind not in filled]


def register(name: str, cls: type[Position]) -> type[Position]:
    """Give a class of one's own a name, by which `make`, models and the benchmark know it.

    That holds in this process. A name may be given anew to a class of the same name in the same
    module, as when a notebook's cell runs again. The benchmark stores the class as "module:Class",
    which other processes can find; its class therefore belongs into a file.

    Parameters
    ----------
    name : str
        A valid name in Python, which nobody has.
    cls : type
        Derived from `posenc.attention.Position`, with a door, made from
        (d_model, n_heads, max_length) and options.

    Returns
    -------
    type
        The class.

    Raises
    ------
    ValueError
        If the name is taken, means another encoding elsewhere, or is no name; if the class is none
        that could be made and used.

    Examples
    --------
    >>> class Nearby(ALiBi):
    ...     def bias(self, x, q, k, places=None):
    ...         return 2 * super().bias(x, q, k, places)
    >>> register("nearby", Nearby).__name__
    'Nearby'
    >>> make("nearby", 8, 2, 5).doors()
    ('bias',)
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"name must be a word of letters, digits and underscores, got {name!r}")
    if not inspect.isclass(cls) or not issubclass(cls, Position):
        raise ValueError(f"cls must be a class derived from posenc.attention.Position, got {cls!r}")
    check_doors(cls)
    takes = list(inspect.signature(cls).parameters)[:3]
    wanting = _without_default(cls)
    if wanting:
        raise ValueError(
            f"cls must give its options a default, {cls.__name__} has none for {', '.join(wanting)}"
        )
    if takes != ["d_model", "n_heads", "max_length"]:
        raise ValueError(
            f"cls must be made from (d_model, n_heads, max_length, ...), got {cls.__name__}"
            f"({', '.join(takes)})"
        )
    known, called = _GROUPS["all"], words.here(name, _GROUPS["all"], words.ENCODINGS)
    if name in known or called is not None:
        raise ValueError(f"name {name!r} belongs to {called or name!r}; take another one")
    old = _OWN.get(name, cls)
    if (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(
            f"name {name!r} belongs to {old.__module__}.{old.__qualname__}; take another one"
        )
    _OWN[name] = cls
    return cls


def make(
    name: Name | type[Position], d_model: int, n_heads: int, max_length: int, **options: Any
) -> Position:
    """Return a new encoding.

    Parameters
    ----------
    name : str or type
        One of `names("all")` or `names("own")`, or a class. A checker of types knows the library's
        own names alone, and so finds `make("rotray", ...)`; for an encoding of yours it asks for
        the class, while the name that you registered is as good when the program runs.
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
        For an unknown name or option, or a bad value. Where another library's word means the same,
        the message says what it is called here: `rope_theta` is `base`.

    Notes
    -----
    Encodings with parameters have `reset_parameters()`, which draws them anew as at the start.
    `resize` gives a learned table another length.

    To ONNX: while parameters want gradients, `torch.onnx.export(layer, ..., dynamo=True)` fails
    with "Cannot view a tensor with shape ..." for t5, relative, tupe, deberta, kerple, fire and
    cope, seen with torch 2.13. The fault is torch's. `layer.requires_grad_(False)`, or that of the
    model, mends all seven; `torch.no_grad()` does not mend relative, deberta and cope.

    Examples
    --------
    >>> make("rotary", 64, 4, 100, pairing="half").pairing
    'half'
    >>> make(Rotary, 64, 4, 100).pairing
    'interleaved'
    """
    cls = name if inspect.isclass(name) and issubclass(name, Position) else get(cast("str", name))
    _check_options(
        cls.__name__ if cls is name else str(name),
        list(inspect.signature(cls).parameters)[3:],
        options,
    )
    return cls(d_model, n_heads, max_length, **options)


def _check_options(name: str, known: list[str], options: Iterable[str]) -> None:
    """Raise ValueError unless an encoding has these options; words of elsewhere are translated."""
    unknown = [option for option in options if option not in known]
    if unknown:
        sizes = ["d_model", "n_heads", "max_length"]
        called = {option: words.here(option, known + sizes, words.OPTIONS) for option in unknown}
        hints = "".join(f"; {word} is {here} here" for word, here in called.items() if here)
        for word in (one for one, here in called.items() if not here):
            hints += words.nearest(word, known + sizes)
        takes = ", ".join(known) or "none"
        raise ValueError(f"options of {name!r} are: {takes}; got {', '.join(unknown)}{hints}")
