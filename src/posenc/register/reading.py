"""Reading a configuration: a mapping or a file. Nothing of it is executed, nothing is fetched."""

import functools
import json
import os
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from posenc.register import gguf, params

MOST_BYTES = 10_000_000  # released configurations have up to a few hundred thousand
SOUNDS = re.compile("rope|rot|theta|window|pattern|position|alpha|interval")
PARTS = ("text_config", "language_config", "llm_config", "thinker_config", "decoder")


class ConfigError(ValueError):
    """A configuration that cannot be read, lacks what is needed, or contradicts itself."""


class Given(NamedTuple):
    """A configuration, and what the form in which it came says of the weights beside it."""

    config: dict[str, Any]
    pairing: str | None = None
    unread: tuple[str, ...] = ()


def load(config: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Return the part of a configuration that is about a language model."""
    return text_part(whole(config))[0]


def whole(config: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Return a configuration; a name of the register stands for the defaults of its class."""
    return given(config).config


def given(config: Mapping[str, Any] | str | os.PathLike[str]) -> Given:
    """Return a configuration under transformers' names, whatever form it came in."""
    if isinstance(config, Mapping):
        found = Given(dict(config))
    elif isinstance(config, str) and config in families():
        found = Given({"model_type": config})
    elif isinstance(config, str) and config in released():
        found = Given(dict(released()[config]["config"]))
    elif isinstance(config, str | os.PathLike):
        check_refused(config)
        found = _file(config)
    else:
        raise ConfigError(
            f"config must be a mapping, a path or a name of the register, got {config!r:.80}"
        )
    _check_digits(found.config)
    if not params.is_params(found.config):
        return found
    entries, pairing, unread = params.config(found.config)
    return Given(entries, pairing, tuple(unread))


def _check_digits(config: Mapping[str, Any]) -> None:
    """Raise ConfigError for a whole number that no number of a computer's can stand for."""
    parts: list[tuple[str, Any]] = list(config.items())
    while parts:
        name, value = parts.pop()
        if isinstance(value, Mapping):
            parts += value.items()
        elif isinstance(value, list | tuple):
            parts += [(name, one) for one in value]
        elif isinstance(value, int) and value.bit_length() > 1000:
            digits = int(value.bit_length() * 0.30103)
            raise ConfigError(
                f"{name!s:.60} must be a number that a computer can hold, got a whole number of "
                f"about {digits:,} digits"
            )


def families() -> dict[str, dict[str, Any]]:
    """Return what the register holds of each architecture."""
    return _held("families.json")


def wrappers() -> dict[str, dict[str, Any]]:
    """Return for models that hold several the class of their language model."""
    return _held("wrappers.json")


def released() -> dict[str, dict[str, Any]]:
    """Return the configuration of each released model, with its address and date."""
    return _held("released.json")


def check_refused(name: Any) -> None:
    """Raise ConfigError for an architecture that is known, and that no record describes."""
    if isinstance(name, str) and (why := _held("refused.json").get(name)):
        raise ConfigError(f"model_type {name!r} is not read here: {why}")


@functools.cache
def _held(name: str) -> dict[str, Any]:
    held: dict[str, Any] = json.loads((resources.files(__package__) / name).read_text("utf-8"))
    return held


def architecture(config: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the architecture of a configuration, with what is to be checked about that."""
    name, code = config.get("model_type"), config.get("auto_map")
    known = _of_classes(config.get("architectures"))
    check_refused(name)
    decides = "code of its own, which decides what the model does" if code else ""
    own_class = bool(code) and known not in (None, name)  # as in MiniMax-M2's first releases
    if isinstance(name, str) and name in families() and not own_class:
        own = f"auto_map names {decides} where it is trusted; here transformers' class is read"
        return name, [own] if code else []
    if known is not None:
        own = f", and auto_map names {decides}" if code else ""
        return known, [f"model_type {name!r:.60} is read as {known!r}, as architectures says{own}"]
    if not isinstance(name, str):
        raise ConfigError(_without_name(name))
    own = f"; auto_map names {decides}, not the name" if code else ""
    raise ConfigError(
        f"the register does not know model_type {name!r:.60}{own}; {who_knows(name[:60])}"
    )


def unfolded(config: Mapping[str, Any], family: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration in which entries of a block stand beside it, as a class has them."""
    found = dict(config)
    for name, entries in family.get("unfolds", {}).items():
        block = config.get(name) or {}
        if not isinstance(block, Mapping):
            raise ConfigError(f"{name} must be an object with named entries, got {block!r:.60}")
        found |= {entries[one]: block[one] for one in entries if one in block}
    return found


def _of_classes(classes: Any) -> str | None:
    """Return the architecture of the first class that the register knows."""
    by_spelling = {spelling(name): name for name in families()}
    for name in classes if isinstance(classes, list | tuple) else ():
        stem = (
            spelling(re.sub(r"(For[A-Z]\w*|LMHeadModel|Model)$", "", name)) if _short(name) else ""
        )
        for part in ("", "text", "vltext"):  # the last one for MiniMax-M3
            if known := by_spelling.get(stem + part):
                return known
    return None


def _short(name: Any) -> bool:
    return isinstance(name, str) and len(name) < 100


def _without_name(name: Any) -> str:
    return f"model_type must name the architecture, got {name!r:.60}"


def who_knows(name: str) -> str:
    """Return where names are listed, and one that is spelled alike; other letters, other model."""
    alike = [known for known in (*families(), *released()) if spelling(known) == spelling(name)]
    meant = f"did you mean {alike[0]!r}? " if alike else ""
    return f"{meant}posenc.register.names() lists what it knows"


def spelling(name: str) -> str:
    """Return a name without capitals, separators, doubled letters, and the Meta- of Llama 3.1."""
    bare = re.sub(r"[\W_]", "", re.sub(r"/meta-(?=llama)", "/", name.lower()))
    return re.sub(r"([a-z])\1+", r"\1", bare)


def _file(name: str | os.PathLike[str]) -> Given:
    path = Path(name)
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(name), re.IGNORECASE):
        raise ConfigError(f"{name!s} is an address: nothing is fetched; download it")
    if path.is_dir():
        path = _in_folder(path)
    if not path.is_file():
        raise ConfigError(
            f"{path} is neither a file nor a name of the register; {who_knows(str(path))}"
        )
    with path.open("rb") as file:
        is_gguf = file.read(4) == b"GGUF"
    if not is_gguf:
        return Given(_object(path))
    try:
        entries, pairing, unread = gguf.config(path)
    except gguf.GgufError as error:
        raise ConfigError(f"{path}: {error}") from None
    return Given(entries, pairing, tuple(unread))


def _in_folder(folder: Path) -> Path:
    """Return the file of a model's folder that says how it is built."""
    for name in ("config.json", "params.json"):
        if (folder / name).is_file():
            return folder / name
    files = sorted(folder.glob("*.gguf"))
    if len(files) == 1:
        return files[0]
    several = (
        f"{len(files)} GGUF files; give one" if files else "no config.json, params.json or GGUF"
    )
    raise ConfigError(f"{folder} is a folder with {several}")


def _object(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file."""
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ConfigError(
            f"{path}: a configuration has up to {MOST_BYTES:,} bytes, this file {size:,}"
        )
    try:
        # Infinity, which Falcon-H1's and Nemotron's files say of time steps, is a float here
        found = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=_once)
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


def text_part(config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the part about the language model, and what stands beside it in one of several."""
    outer = config.get("model_type")
    if not isinstance(outer, str):
        return config, {}
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
        held, beside = text_part(dict(part) | {"model_type": kind})
        same = {"model_type": outer, name: part} | held
        left = {n: v for n, v in config.items() if n not in same or same[n] != v}
        return held, left | beside
    if known.get("flat"):  # earlier releases put the language model's entries beside the others
        return config | {"model_type": known["text"]}, {}
    if known.get("text") and outer not in families():
        raise ConfigError(
            f"model_type {outer!r:.60} holds several models; text_config must say what its "
            "language model is like"
        )
    return config, {}


def _part(config: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """Return the first part that is about a language model, with its name."""
    for name in PARTS:
        part = config.get(name)
        if isinstance(part, Mapping):
            return name, part
        if name.endswith("_config") and part is not None:
            raise ConfigError(f"{name} must be an object with named entries, got {part!r:.60}")
    return "", None
