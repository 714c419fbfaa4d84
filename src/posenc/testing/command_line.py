"""The command `posenc check`."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from posenc import _checks
from posenc.testing.apart import Job, NoReport, report_of
from posenc.testing.promises import Promises

HELP = """examples:
  posenc check mylayers:make
  posenc check mylayers:make causal cached relative padding=both trained=512 --json
  posenc check mylayers:make like=config.json
  posenc check mylayers:make like=config.json layer=3
  posenc check mylayers:write --writes padding=left trained=512 --vocabulary 1000
  posenc check mylayers:model kernels=sdpa,flex,flash device=cuda

mylayers is a module here or one that Python can import, make a function in it, without arguments,
that builds the layer or model. With like= it has to do with positions what a configuration says:
what differs is named, with the value that it seems to use. With --writes it may also be the loop
itself, a function of (prompts, n_new) that returns the tokens behind them. What is not promised is
measured and fails nothing. The module runs with your rights, in a process of its own; what it
prints goes to stderr."""


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
    parser.add_argument("--writes", action="store_true", help="it goes on from prompts; see below")
    parser.add_argument("--width", type=int, help="tokens are vectors of so many numbers")
    parser.add_argument("--vocabulary", type=int, help="tokens are integers below this")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="limit of the import, and of each check"
    )
    parser.add_argument("--memory", type=float, default=8.0, help="limit in gigabytes")
    asked = parser.parse_intermixed_args(arguments)
    try:
        job = Job(asked.factory, _words(asked), asked.seconds, asked.memory, asked.writes)
        report, text = report_of(job, find)
        text = json.dumps(report, indent=1, ensure_ascii=False) if asked.json else text
        print(text, flush=True)
    except ValueError as error:
        return _print_error(error, 2)
    except NoReport as error:
        return _print_error(error, 1 if error.asked else 2)
    except OSError as error:  # nobody reads, or the disk is full
        with suppress(OSError):
            sys.stdout.close()
        return _print_error(f"the report could not be written: {error.strerror}", 2)
    return 0 if report["passed"] else 1


def _words(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments for `check_attention`, or raise ValueError before anything is run."""
    if sys.stdout is None:
        raise ValueError("stdout must be open, as the report goes there, and it is closed")
    _split(asked.factory)
    promises = dict(promise(one) for one in asked.promises)
    Promises.of(promises)
    for limit in ("seconds", "memory"):
        _checks.positive(limit, getattr(asked, limit))
    words = {"vocabulary": asked.vocabulary, **promises}
    return words if asked.writes else {"width": asked.width, **words}


def _print_error(error: object, status: int) -> int:
    print(f"posenc check: {error}", file=sys.stderr)
    return status


def find(path: str) -> Callable[..., Any]:
    """Return the function that `module:name` means; modules of the working folder count."""
    module, name = _split(path)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found = importlib.import_module(module)
    if not callable(getattr(found, name, None)):
        there = [one for one in dir(found) if one[0] != "_" and callable(getattr(found, one))]
        raise ValueError(f"{module} has no function {name!r}; it has: {', '.join(there)}")
    function: Callable[..., Any] = getattr(found, name)
    return function


def _split(path: str) -> tuple[str, str]:
    """Return module and name of `module:name`, or raise ValueError."""
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise ValueError(f"factory must be module:function, such as mylayers:make, got {path!r}")
    if module.endswith(".py"):
        name_alone = os.path.basename(module).removesuffix(".py")
        raise ValueError(
            f"factory must name a module as `import` does: {name_alone}:{name}, in its own folder, "
            f"got {path!r}"
        )
    return module, name


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
