"""Data files of the package, in TOML, made into records; an error names the file and the field."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

Record = TypeVar("Record")
KINDS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    tuple[str, ...]: "a list of texts",
}
"""What a field of a record may hold, and how an error calls it."""
BREAK_OF_A_LINE = re.compile(r"(?<!\n)\n *(?![\n -])")


def read(path: Traversable, verbatim: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what a file holds, with the texts of each field flowing but for those named.

    In a text that flows a line break is a space; a blank line stays, and so do items of a list.
    """
    try:
        return _flowing(tomllib.loads(path.read_text(encoding="utf-8")), verbatim)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _flowing(value: Any, verbatim: tuple[str, ...], field: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _flowing(one, verbatim, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_flowing(one, verbatim, field) for one in value]
    if not isinstance(value, str):
        return value
    return value.rstrip("\n") if field in verbatim else BREAK_OF_A_LINE.sub(" ", value.strip())


def record(kind: type[Record], values: Mapping[str, Any], place: object) -> Record:
    """Return the record whose fields a file gives; `place` says in errors where they stand."""
    try:
        return kind(**_checked(kind, values))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _checked(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    known = {field.name: field for field in fields(kind)}
    if unknown := values.keys() - known.keys():
        raise ValueError(f"{min(unknown)} is none of its fields, which are {', '.join(known)}")
    needed = [name for name, field in known.items() if field.default is MISSING]
    if missing := [name for name in needed if name not in values]:
        raise ValueError(f"{missing[0]} is missing")
    return {name: _value(name, value, known[name].type) for name, value in values.items()}


def _value(name: str, value: object, kind: Any) -> object:
    """Return the value of a field; lists become tuples."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        found: object = tuple(value)
        right = kind == tuple[str, ...]
    else:
        found, right = value, type(value) is kind
    if not right:
        raise ValueError(f"{name} must be {KINDS[kind]}, got {value!r}")
    return found
