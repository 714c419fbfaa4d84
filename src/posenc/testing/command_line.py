"""The command `posenc check`."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from posenc.testing.attention import check_attention
from posenc.testing.promises import Promises

HELP = """examples:
  posenc check mylayers:make
  posenc check mylayers:make causal cached relative padding=both trained=512 --json

mylayers is a module here or one that Python can import, make a function in it, without arguments,
that builds the layer or model. What is not promised is measured and fails nothing."""


def main(arguments: Sequence[str]) -> int:
    """Return 0 if every promise holds, 1 if one does not, 2 if nothing could be asked."""
    parser = argparse.ArgumentParser(
        prog="posenc check",
        description="Ask a layer or model whether it treats positions as it promises.",
        epilog=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = ", ".join(Promises.__dataclass_fields__)
    parser.add_argument("factory", help="module:function that builds it")
    parser.add_argument("promises", nargs="*", help=f"word or word=value; the words: {words}")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--width", type=int, help="tokens are vectors of so many numbers")
    parser.add_argument("--vocabulary", type=int, help="tokens are integers below this")
    parser.add_argument("--seconds", type=float, default=20.0, help="patience with one check")
    asked = parser.parse_args(arguments)
    try:
        report = check_attention(
            find(asked.factory),
            width=asked.width,
            vocabulary=asked.vocabulary,
            seconds=asked.seconds,
            **dict(promise(one) for one in asked.promises),
        )
    except (ValueError, ImportError) as error:
        print(f"posenc check: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report.as_dict(), indent=1, ensure_ascii=False) if asked.json else report)
    return 0 if report.passed else 1


def find(path: str) -> Callable[..., Any]:
    """Return the function that `module:name` means; modules of the working folder count."""
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise ValueError(f"factory must be module:function, such as mylayers:make, got {path!r}")
    if module.endswith(".py"):
        name_alone = os.path.basename(module).removesuffix(".py")
        raise ValueError(
            f"factory must name a module as `import` does: {name_alone}:{name}, in its own folder, "
            f"got {path!r}"
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found = importlib.import_module(module)
    if not callable(getattr(found, name, None)):
        there = [one for one in dir(found) if one[0] != "_" and callable(getattr(found, one))]
        raise ValueError(f"{module} has no function {name!r}; it has: {', '.join(there)}")
    function: Callable[..., Any] = getattr(found, name)
    return function


def promise(text: str) -> tuple[str, Any]:
    """Return the word and value of `word`, `word=3`, `word=false` or `word=one,other`."""
    word, given, value = text.partition("=")
    if not given:
        return word, True
    if value.lower() in ("true", "false"):
        return word, value.lower() == "true"
    if value.isdigit():
        return word, int(value)
    return word, tuple(value.split(",")) if "," in value else value
