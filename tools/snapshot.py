"""What a reader can see must survive when code moves: store it once, compare it after each step.

    python tools/snapshot.py store visible.json     # before
    python tools/snapshot.py check visible.json     # after: names what differs

Stored are hashes of every record's scores, seeds and settings; of the verdicts of the ledger; of
the text outputs of all notebooks; and of what those functions return that read the records and need
no argument, or a model's name. Such a function may move or change its name: its value must still be
returned by some function. How a record names a class outside the registry, its key and the
fingerprint of that class's code are left out.
"""

import argparse
import dataclasses
import hashlib
import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import pandas as pd
import yaml

import posenc_book
from posenc_book.bench import build

ROOT = Path(__file__).parents[1]
ROOMS = ("audit", "guide", "read", "forecast")  # those that read records
CLASS = re.compile(r"[\w.]+:(?=[A-Z]\w*$)")  # the module of "module:Class"
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
SHOWN = ("text/plain", "text/html", "text/markdown")


def digest(value: object) -> str:
    """Return a short hash of what a value says."""
    text = json.dumps(plain(value), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def plain(value: object) -> object:
    """Return a value in the words of JSON, without the names that may change."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, pd.DataFrame | pd.Series):
        return plain(value.to_csv())
    if isinstance(value, Mapping):
        left_out = {"key", "encoding_source"} if ":" in str(value.get("encoding", "")) else ()
        return {str(plain(k)): plain(v) for k, v in value.items() if k not in left_out}
    if hasattr(value, "tolist"):  # arrays and tensors
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(str, map(plain, value)))
    if isinstance(value, Collection) and not isinstance(value, str):
        return [plain(one) for one in value]
    if isinstance(value, bool | int | float | None):
        return value
    return ADDRESS.sub("", CLASS.sub("", str(value)))


def records() -> Iterator[tuple[str, object]]:
    """Yield every line of the results under its file and number."""
    for path in sorted((ROOT / "results").rglob("*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(map(json.loads, lines), 1):
            own = ":" in line.get("settings", {}).get("encoding", "")
            yield f"{path.name}:{number}", {k: v for k, v in line.items() if not own or k != "key"}


def verdicts() -> Iterator[tuple[str, object]]:
    """Yield the rows of the ledger."""
    for row in yaml.safe_load((ROOT / "book/claims.yml").read_text(encoding="utf-8")):
        yield row["id"], row


def outputs() -> Iterator[tuple[str, object]]:
    """Yield what the cells of every notebook show in words."""
    for path in sorted((ROOT / "book").rglob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            shown = [
                out.get("text") or {kind: out.get("data", {}).get(kind) for kind in SHOWN}
                for out in cell.get("outputs", ())
            ]
            if shown:
                yield f"{path.stem}, {cell['id']}", shown


def readings() -> Iterator[tuple[str, object]]:
    """Yield what functions return that need no argument, or a model's name."""
    for function in functions():
        parameters = inspect.signature(function).parameters.values()
        needed = [(p.name, p.annotation) for p in parameters if is_needed(p)]
        name = f"{function.__module__}.{function.__qualname__}"
        if not needed and function.__name__ != "main":
            yield name, function()
        elif needed == [("model", str)]:
            for model in build.MODELS:
                yield f"{name}({model})", called(function, model)


def functions() -> Iterator[Callable]:
    """Yield the public functions of the rooms that read records."""
    for room in ROOMS:
        if (Path(posenc_book.__path__[0]) / room).is_dir():
            package = importlib.import_module(f"posenc_book.{room}")
            for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                if not found.name.endswith("__main__"):
                    module = importlib.import_module(found.name)
                    yield from (f for f in vars(module).values() if is_public(f, module.__name__))


def is_public(value: object, module: str) -> bool:
    """Return whether a value is a function of a module that others may call."""
    function = inspect.isfunction(inspect.unwrap(value)) if callable(value) else False
    return function and value.__module__ == module and not value.__name__.startswith("_")


def is_needed(parameter: inspect.Parameter) -> bool:
    """Return whether a call must give this argument."""
    return parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD


def called(function: Callable, model: str) -> object:
    """Return what a function says of a model, or why it has nothing to say."""
    try:
        return function(model)
    except (ValueError, KeyError) as error:
        return repr(error)


KINDS = {"records": records, "verdicts": verdicts, "outputs": outputs, "readings": readings}


def take() -> dict[str, dict[str, str]]:
    """Return the hashes of all that is visible, by kind and place."""
    return {kind: {k: digest(v) for k, v in found()} for kind, found in KINDS.items()}


def differences(before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> list[str]:
    """Return the places whose content is not there any more, and new lines of records."""
    moved = set(now["readings"].values())
    lost = [
        f"{kind}: {place}"
        for kind, there in before.items()
        for place, value in there.items()
        if now[kind].get(place) != value and not (kind == "readings" and value in moved)
    ]
    return lost + [f"records, new: {p}" for p in now["records"].keys() - before["records"].keys()]


def main() -> int:
    """Store what is visible, or say what differs from what was stored."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("store", "check"), help="what to do")
    parser.add_argument("file", type=Path, help="where it is stored, such as _build/visible.json")
    options = parser.parse_args()
    now = take()
    print(", ".join(f"{len(there)} {kind}" for kind, there in now.items()))
    if options.command == "store":
        options.file.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return 0
    lost = differences(json.loads(options.file.read_text(encoding="utf-8")), now)
    print("\n".join(lost) or "all as before")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
