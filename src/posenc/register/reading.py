"""Reading a configuration: a mapping or a file. Nothing of it is executed, nothing is fetched."""

import difflib
import functools
import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

MOST_BYTES = 10_000_000  # released configurations have up to a few hundred thousand
PARTS = ("text_config", "language_config", "llm_config", "thinker_config", "decoder")


class ConfigError(ValueError):
    """A configuration that cannot be read, lacks what is needed, or contradicts itself."""


def load(config: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Return a configuration; a name of the register stands for the defaults of its class."""
    if isinstance(config, Mapping):
        found = dict(config)
    elif isinstance(config, str) and config in families():
        found = {"model_type": config}
    elif isinstance(config, str) and config in released():
        found = dict(released()[config]["config"])
    elif isinstance(config, str | os.PathLike):
        found = _file(Path(config))
    else:
        raise ConfigError(
            f"config must be a mapping, a path or a name of the register, got {config!r:.80}"
        )
    return _text_part(found)


def families() -> dict[str, dict[str, Any]]:
    """Return what the register holds of each architecture."""
    return _held("families.json")


def wrappers() -> dict[str, dict[str, Any]]:
    """Return for models that hold several the class of their language model."""
    return _held("wrappers.json")


def released() -> dict[str, dict[str, Any]]:
    """Return the configuration of each released model, with its address and date."""
    return _held("released.json")


@functools.cache
def _held(name: str) -> dict[str, dict[str, Any]]:
    held: dict[str, dict[str, Any]] = json.loads(
        (resources.files(__package__) / name).read_text("utf-8")
    )
    return held


def who_knows(name: str) -> str:
    """Return where names are listed, and the nearest one."""
    nearest = difflib.get_close_matches(name, [*families(), *released()], n=1)
    meant = f"did you mean {nearest[0]!r}? " if nearest else ""
    return f"{meant}posenc.register.names() lists what it knows"


def _file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ConfigError(
            f"{path} is neither a file nor a name of the register; {who_knows(str(path))}"
        )
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ConfigError(
            f"{path}: a configuration has up to {MOST_BYTES:,} bytes, this file {size:,}"
        )
    try:
        found = json.loads(
            path.read_text("utf-8-sig"), parse_constant=_no_number, object_pairs_hook=_once
        )
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}, line {error.lineno}: this is no JSON ({error.msg})") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: this is no JSON that can be read ({error})") from None
    if not isinstance(found, dict):
        raise ConfigError(
            f"{path}: a configuration is a JSON object, this is a {type(found).__name__}"
        )
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, or raise ConfigError if it says two things under one name."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and found[name] != value:
            raise ConfigError(
                f"{name:.60} is said to be {found[name]!r:.40} and {value!r:.40}; one must go"
            )
        found[name] = value
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _text_part(config: dict[str, Any]) -> dict[str, Any]:
    """Return the part about the language model, where a configuration holds several models."""
    outer = config.get("model_type")
    if not isinstance(outer, str):
        return config
    known = wrappers().get(outer, {})
    name, part = _part(config)
    if part is not None:
        kind = part.get("model_type") or (known.get("text") if name == "text_config" else None)
        if kind is None:
            raise ConfigError(
                f"{name} says no model_type, and model_type {outer!r:.60} does not settle it"
            )
        if outer in families() and kind != outer:
            raise ConfigError(
                f"model_type is said to be {outer!r:.60}, which holds no other model, and "
                f"{kind!r:.60} in {name}; one of them must go"
            )
        return _text_part(dict(part) | {"model_type": kind})
    if known.get("flat"):  # earlier releases put the language model's entries beside the others
        return config | {"model_type": known["text"]}
    if known.get("text") and outer not in families():
        raise ConfigError(
            f"model_type {outer!r:.60} holds several models; text_config must say what its "
            "language model is like"
        )
    return config


def _part(config: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """Return the first part that is about a language model, with its name."""
    for name in PARTS:
        part = config.get(name)
        if isinstance(part, Mapping):
            return name, part
        if name.endswith("_config") and part is not None:
            raise ConfigError(f"{name} must be an object with named entries, got {part!r:.60}")
    return "", None
