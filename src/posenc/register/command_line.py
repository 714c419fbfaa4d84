"""The commands `posenc explain` and `posenc extend`."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from posenc import register
from posenc.register import extending, picture
from posenc.register.differences import differences
from posenc.register.words import printable

CONFIG = (
    "a config.json, a params.json, a GGUF file or a folder with one of them, or an architecture's "
    "name as configurations call it"
)


def main(arguments: Sequence[str]) -> int:
    """Print what a model does with positions; return 2 where its configuration cannot be read."""
    asked = parser().parse_args(arguments)
    return _print("explain", lambda: _explained(asked))


def extend(arguments: Sequence[str]) -> int:
    """Print how a model is made longer; return 2 where it cannot be, or cannot be read."""
    asked = extend_parser().parse_args(arguments)
    return _print(
        "extend",
        lambda: extending.extend(
            asked.config, register.read(asked.config), asked.to, asked.trained
        ),
    )


def _print(command: str, told: Callable[[], str]) -> int:
    try:
        print(told())
    except (ValueError, OSError) as error:
        said = printable(str(error)).replace("\n", "\\n")
        print(f"posenc {command}: {said}", file=sys.stderr)
        return 2
    return 0


def _explained(asked: argparse.Namespace) -> str:
    description = register.read(asked.config)
    if asked.diff is not None:
        return differences(description, register.read(asked.diff))
    if asked.svg:
        return picture.svg(description, asked.config)
    if asked.json:
        return json.dumps(description.entries(), indent=1)
    return description.explain(asked.length) + _to_paste(description, asked.length)


def _to_paste(description: register.Description, length: int | None) -> str:
    """Return the lines for engines, where a longer input can be had by a schedule."""
    if length is None:
        return ""
    try:
        block = extending.yarn(description, length)
    except register.ConfigError:
        return ""
    return "\n".join(["", *extending.engines(block, length, extending.own_reach(description))])


def parser() -> argparse.ArgumentParser:
    """Return the parser of `posenc explain`."""
    top = argparse.ArgumentParser(
        prog="posenc explain", description="Say what a model does with positions."
    )
    top.add_argument("config", help=CONFIG)
    top.add_argument(
        "--length",
        type=int,
        help="tokens of the input asked about; with lines to paste for engines",
    )
    top.add_argument("--json", action="store_true", help="print all that is described as JSON")
    top.add_argument("--svg", action="store_true", help="print a drawing of the layers")
    top.add_argument("--diff", metavar="OTHER", help="print where another configuration differs")
    return top


def extend_parser() -> argparse.ArgumentParser:
    """Return the parser of `posenc extend`."""
    top = argparse.ArgumentParser(
        prog="posenc extend", description="Say how a model is run on longer texts than in training."
    )
    top.add_argument("config", help=CONFIG)
    top.add_argument("--to", type=int, required=True, metavar="TOKENS", help="tokens to be read")
    top.add_argument(
        "--from", dest="trained", type=int, metavar="TOKENS",
        help="tokens of training, where the configuration says more than that",
    )  # fmt: skip
    return top
