"""From settings to a model, for the encodings of the book and for a reader's own."""

import ast
import hashlib
import importlib
import inspect
import sys
import textwrap
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks, encodings, models
from posenc.attention import DOORS, Position, words
from posenc_book.bench import fingerprints, names
from posenc_book.data import Dataset
from posenc_book.records.settings import Settings


class OnTimes(nn.Module):
    """A model that takes the times of the steps from the last channel of its series."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, length, n_channels + 1) to (batch, n_classes)."""
        return self.model(x[..., :-1], mask, times=x[..., -1])


Model = models.TimeSeriesTransformer | models.PatchTransformer
MODELS: dict[str, type[Model]] = {
    "time_series": models.TimeSeriesTransformer,
    "patch": models.PatchTransformer,
}


def model(settings: Settings, n_channels: int, n_classes: int, length: int) -> Model:
    """Return the model of a cell, with the initial weights of its seed."""
    cls = find_model(settings.model)
    options: dict[str, Any] = {}
    if issubclass(cls, models.PatchTransformer):
        options["patch"] = min(settings.patch, length)
    if settings.norm != "own":
        options["norm"] = settings.norm
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return cls(
            n_channels,
            n_classes,
            length,
            position=position(settings),
            d_model=settings.d_model,
            n_heads=settings.n_heads,
            n_layers=settings.n_layers,
            d_ff=settings.d_ff,
            dropout=settings.dropout,
            check_input=False,  # the data have been checked once, where they were read
            **options,
        )


def check_gaps(settings: Settings, part: Dataset) -> None:
    """Raise ValueError if a cell's encoding refuses a part of its data set for its missing steps.

    Such are the encodings that make their vectors from the tokens around.
    """
    if part.mask is None or not find_class(settings.encoding).reads_neighbours:
        return
    gapped = part.take(np.flatnonzero(~part.mask.all(1)))
    series, masks = (
        torch.from_numpy(a).split(settings.batch_size) for a in (gapped.x, gapped.mask)
    )
    made = model(settings, part.n_channels, part.n_classes, part.length)
    try:
        with torch.no_grad():
            for x, mask in zip(series, masks, strict=True):
                made.encode(x, mask)
    except ValueError as error:
        raise ValueError(
            f"encoding {settings.encoding!r} and dataset {settings.dataset!r} do not go together: "
            f"the set has missing steps, and {error}; leave out one of the two"
        ) from None


def refuses_times(settings: Settings, part: Dataset) -> bool:
    """Return whether a cell's encoding cannot stand at the times of its data set."""
    if part.times is None:
        return False
    made = model(settings, part.n_channels, part.n_classes, part.length).eval()
    whole = (part.x, np.ones(part.x.shape[:2], bool) if part.mask is None else part.mask)
    given = (torch.from_numpy(a).split(settings.batch_size) for a in (*whole, part.times))
    try:
        with torch.no_grad():
            for x, mask, times in zip(*given, strict=True):
                made.encode(x, mask, times)
    except ValueError:
        return True
    return False


def n_tokens(settings: Settings, length: int) -> int:
    """Return the number of tokens that attention sees."""
    patched = issubclass(find_model(settings.model), models.PatchTransformer)
    return -(-length // settings.patch) if patched else length


def find_model(name: str) -> type[Model]:
    """Return the class of a model: a name of `MODELS`, or "module:Class" derived from one."""
    module_name, colon, class_name = names.present(name).partition(":")
    if not colon:
        return MODELS[_checks.choice("model", name, MODELS)]
    found = getattr(importlib.import_module(module_name), class_name, None)
    if not (inspect.isclass(found) and issubclass(found, Model)):
        raise ValueError(
            f"model {name!r} must name a class derived from {' or '.join(_names(MODELS))}, "
            f"got {found!r}"
        )
    return found


def _names(classes: Mapping[str, type]) -> list[str]:
    return [cls.__name__ for cls in classes.values()]


def position(settings: Settings) -> Callable[[int, int, int], Position]:
    """Return what makes the cell's encoding from (d_model, n_heads, max_length)."""
    cls = find_class(settings.encoding)
    options = dict(settings.encoding_options)
    if "scale" in inspect.signature(cls).parameters:
        options.setdefault("scale", settings.scale)
    return partial(cls, **options)


def find_class(name: str) -> type[Position]:
    """Return the class of an encoding: a name of `encodings.names("series")`, or "module:Class"."""
    module_name, colon, class_name = names.present(name).partition(":")
    if not colon:
        if "." in name:
            raise ValueError(f"encoding {name!r} must be written module:Class, as in mine:Nearby")
        if name in encodings.names("axes"):
            raise ValueError(
                f"encoding {name!r} wants several numbers a token as its position, and a step of a "
                "series has one; 'rotary' is for that"
            )
        try:
            return encodings.get(name, argument="encoding", axes=False)
        except ValueError as error:
            own = "one of your own is written module:Class, as in mine:Nearby"
            raise ValueError(f"{error}; {own}") from None
    if module_name in encodings.names("all") + encodings.names("own"):
        raise ValueError(f"encoding {name!r}: options are written {module_name}:key=value")
    module = _imported(name, module_name.removesuffix(".py"))
    found = getattr(module, class_name, None)
    if found is None:
        there = [k for k, v in vars(module).items() if _is_position(v) and v is not Position]
        has = f"has {', '.join(there)}" if there else "has no encoding"
        raise ValueError(f"encoding {name!r}: {module.__name__} has no {class_name!r}, it {has}")
    if not _is_position(found):
        raise ValueError(
            f"encoding {name!r} must name a class derived from posenc.attention.Position, "
            f"got {found!r}"
        )
    if not found.doors():
        raise ValueError(
            f"encoding {name!r} overrides none of the doors {', '.join(DOORS)}, so it would train "
            "as a model without position; look for a misspelt method"
        )
    for door in found.doors():
        if _returns_nothing(getattr(found, door)):
            raise ValueError(
                f"encoding {name!r}: its method {door} returns nothing, so it would do nothing; "
                "end it with return"
            )
    return found


@cache
def _returns_nothing(method: Callable) -> bool:
    """Return whether a method has no `return` with a value, as far as its text can be read."""
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(method)))
        [definition] = ast.parse(text).body
    except (OSError, TypeError, SyntaxError):  # made elsewhere than by lines of a file
        return False
    ends = [n for n in ast.walk(definition) if isinstance(n, ast.Return | ast.Raise)]
    return isinstance(definition, ast.FunctionDef) and not any(
        isinstance(node, ast.Raise) or node.value is not None for node in ends
    )


def _imported(name: str, module_name: str) -> ModuleType:
    """Return the module of a reader's own encoding, or raise ValueError saying what is wrong."""
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise ValueError(
            f"encoding {name!r} must be written module:Class, as in mine:Nearby, and "
            f"{module_name!r} is no name of a module"
        )
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise ValueError(
                f"encoding {name!r}: {module_name} imports {error.name!r}, which is not installed"
            ) from error
        raise ValueError(
            f"encoding {name!r}: cannot import {module_name!r} ({error}); start the command in "
            "the folder of that module, or install it"
        ) from error
    except Exception as error:  # whatever a reader's file raises is a fault of that file
        raise ValueError(
            f"encoding {name!r}: {module_name} cannot be imported, {_where(error)}"
            f"{type(error).__name__}: {error}"
        ) from error


def _where(error: Exception) -> str:
    """Return the line of a file that could not be imported, such as "line 3, ", if it is known."""
    if isinstance(error, SyntaxError):
        return ""  # its message has the line
    lines = traceback.extract_tb(error.__traceback__)
    return f"{Path(lines[-1].filename).name}, line {lines[-1].lineno}, " if lines else ""


def _is_position(found: object) -> bool:
    return inspect.isclass(found) and issubclass(found, Position)


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError unless the encoding exists and takes these options."""
    takes = list(inspect.signature(find_class(name)).parameters)[3:]
    if options and not takes:
        raise ValueError(f"{name} takes no options, got {', '.join(options)}")
    for option in options:
        words.choice(f"option of {name}", option, takes, words.OPTIONS)


def check_option_values(settings: Settings) -> None:
    """Raise ValueError if an encoding of the book refuses the values of its options.

    It is made for one token, as whether it serves the length of a data set is a result; a factor
    that follows from that length counts as 1. A reader's own encoding may have reasons to refuse
    that, so it is left to its first training.
    """
    if ":" in settings.encoding:
        return
    options = _without_length(settings.encoding_options)
    with torch.random.fork_rng(devices=[]):
        try:
            position(replace(settings, encoding_options=options))(
                settings.d_model, settings.n_heads, 1
            )
        except ValueError as error:
            raise ValueError(f"encoding {settings.encoding!r}: {error}") from error


def _without_length(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of an encoding with the factor that a length would say, if none is given."""
    follows = options.get("scaling", "none") != "none" and options.get("factor") is None
    if follows and options.get("original_length") is not None:
        return {**options, "factor": 1.0}
    return dict(options)


def source_file(name: str) -> Path | None:
    """Return the file of a reader's own encoding; None for classes of this package."""
    if ":" not in name and name not in encodings.names("own"):
        return None
    cls = find_class(name)
    return None if cls.__module__.startswith(names.OURS) else Path(inspect.getfile(cls))


def stored_name(name: str) -> str:
    """Return the name under which trainings are stored: "module:Class" for a registered class."""
    if name not in encodings.names("own"):
        return name
    cls = encodings.get(name)
    in_module = getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls
    try:
        inspect.getfile(cls)
    except (TypeError, OSError):
        in_module = False
    if not in_module:
        raise ValueError(
            f"encoding {name!r} must have its class at the top of a file, where other processes "
            f"find it and its code can be compared, got {cls.__module__}.{cls.__qualname__}"
        )
    return f"{cls.__module__}:{cls.__qualname__}"


def encoding_fingerprint(name: str) -> str:
    """Return a short hash of an encoding: of a reader's own file, or of this package's code."""
    path = source_file(name)
    if path is None:
        return fingerprints.of_name(stored_name(name))
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
