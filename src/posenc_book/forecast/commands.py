"""The command `forecast`: one's own file, in one command."""

import argparse
from pathlib import Path

from posenc_book.bench.options import add_course

MARGIN = 0.03

DESCRIPTION = (
    "Says what positions are worth in forecasting a file of your own. The file is a CSV with a "
    "head line and a row for each time. Its last third is cut into blocks; each block is forecast "
    "by transformers that learned from what lies before it, without positions and with several "
    "encodings, all tuned alike. The table shows their errors beside those of simple methods, and "
    "the sentence below it says whether these data can decide."
)
EXAMPLE = "posenc bench forecast sales.csv --time date --value sold --horizon 24 --frequency h"


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to a command line."""
    forecast = commands.add_parser(
        "forecast",
        help="what positions are worth in forecasting a CSV file of your own",
        description=DESCRIPTION,
        epilog=f"example: {EXAMPLE}",
    )
    _add_file(forecast)
    _add_question(forecast)
    add_course(forecast, "results/forecast.jsonl")
    forecast.set_defaults(command=_run)


def _add_file(forecast: argparse.ArgumentParser) -> None:
    forecast.add_argument("file", type=Path, metavar="FILE", help="a CSV file, plain or .gz")
    forecast.add_argument("--time", required=True, metavar="COLUMN", help="column of the times")
    forecast.add_argument(
        "--value", nargs="+", default=[], metavar="COLUMN",
        help="columns to forecast, each by itself; all but the time if left out",
    )  # fmt: skip
    forecast.add_argument(
        "--series", default="", metavar="COLUMN",
        help="column that names a row's series, where the file holds several below each other",
    )  # fmt: skip
    forecast.add_argument(
        "--horizon", type=int, required=True, metavar="N", help="steps that are forecast"
    )
    forecast.add_argument(
        "--frequency", required=True, metavar="F",
        help="from one row to the next: s, min, h, d, w, month, quarter, year, or such as 30min",
    )  # fmt: skip
    forecast.add_argument(
        "--context", type=int, metavar="N",
        help="steps that a forecast sees (twice the horizon, or four seasons of up to 24)",
    )  # fmt: skip
    forecast.add_argument(
        "--season", type=int, metavar="N",
        help="steps after which things repeat; 1 for none (a day of hours, a year of months ...)",
    )  # fmt: skip
    forecast.add_argument("--separator", default=",", metavar="SIGN", help="between fields (,)")
    forecast.add_argument("--decimal", default=".", metavar="SIGN", help="in numbers (.)")
    forecast.add_argument(
        "--time-format", default="", metavar="FORM",
        help="such as '%%d.%%m.%%Y %%H:%%M', where times are not written 2016-07-01 14:00",
    )  # fmt: skip

    forecast.add_argument(
        "--known-ahead", nargs="+", default=[], metavar="COLUMN",
        help="columns that are known for the steps to come, such as promotions or holidays",
    )  # fmt: skip


def _add_question(forecast: argparse.ArgumentParser) -> None:
    forecast.add_argument(
        "--encodings", "--encoding", nargs="+", metavar="NAME[:KEY=VALUE]",
        help="beside none: sinusoidal rotary t5, or others of the library, or MOD:CLASS",
    )  # fmt: skip
    forecast.add_argument(
        "--readers", nargs="+", default=["patches_flat"], metavar="NAME",
        help="patches_flat (the usual one), patches_mean, steps_flat, steps_mean, decoder",
    )  # fmt: skip
    forecast.add_argument(
        "--calendar", action="store_true",
        help="hour, day of the week, of the month and of the year join the values",
    )  # fmt: skip
    forecast.add_argument("--blocks", type=int, metavar="N", help="blocks that test (6)")
    forecast.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 (2)")
    forecast.add_argument(
        "--margin", type=float, default=MARGIN, metavar="SHARE",
        help="of the error, up to which a difference counts as none (0.03)",
    )  # fmt: skip
    forecast.add_argument(
        "--profile", default="laptop", metavar="NAME",
        help="smoke (does it run?), laptop (minutes), protocol (as the book trains: longer, on 8 "
        "blocks, with 5 seeds)",
    )  # fmt: skip


def _run(options: argparse.Namespace) -> int:
    from posenc_book.forecast import run

    return run.run(options)
