"""The command `text` of `posenc bench`."""

import argparse

from posenc_book.bench.options import add_course


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command of this experiment to a command line."""
    _add(commands.add_parser("text", help="train the model of characters, and read farther"))


def _add(text: argparse.ArgumentParser) -> None:
    text.add_argument("--encodings", nargs="+", metavar="NAME", help="rotary, none, alibi")
    text.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 only")
    add_course(text, "results/text.jsonl")
    text.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from posenc_book.bench import language
    from posenc_book.read.characters import train as text

    planned = [text.protocol_cells(options.encodings, options.seeds)]
    for schedule, plan in text.LATER.items():
        if plan["encoding"] in (options.encodings or text.PROTOCOL["encodings"]):
            planned.append(text.later_cells(schedule, options.seeds))
    done = [language.run(cells, options, text.train) for cells in planned]
    return 1 if any(one.failed for one in done) else 0
