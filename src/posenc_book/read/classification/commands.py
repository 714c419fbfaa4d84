"""The commands of this experiment: `protocol`, `baselines` and `report`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from posenc_book.bench.options import OUT, SECONDS, existing
from posenc_book.records.settings import complete
from posenc_book.records.store import Store


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the commands of this experiment to a command line."""
    _add_protocol(commands.add_parser("protocol", help="train a tier of the book's own protocol"))
    _add_baselines(commands.add_parser("baselines", help="score sets without a transformer"))
    _add_report(commands.add_parser("report", help="write tables, tests and figures"))


def _add_protocol(protocol: argparse.ArgumentParser) -> None:
    protocol.add_argument("--tier", type=int, default=1, help="as the protocol counts them (1)")
    protocol.add_argument("--model", help="one model only")
    protocol.add_argument("--datasets", nargs="+", metavar="NAME", help="these of the tier only")
    protocol.add_argument(
        "--encodings",
        "--encoding",
        nargs="+",
        metavar="NAME",
        help="these of the tier only, or MOD:CLASS",
    )
    protocol.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    protocol.add_argument(
        "--out", type=Path, default=Path("results"), metavar="FOLDER", help="a file for each set"
    )
    protocol.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    protocol.add_argument("--workers", type=int, help="processes; by default one per core")
    protocol.add_argument("--stack", type=int, help="resamples trained together; 1, or 16 on a GPU")
    protocol.add_argument("--seconds", type=float, help=SECONDS)
    protocol.set_defaults(command=_protocol)


def _add_baselines(baselines: argparse.ArgumentParser) -> None:
    baselines.add_argument(
        "--datasets", nargs="+", required=True, metavar="NAME", help="as for the command run"
    )
    baselines.add_argument(
        "--resamples",
        type=int,
        default=5,
        metavar="N",
        help="the official split and N - 1 others (5)",
    )
    baselines.add_argument("--only", nargs="+", metavar="NAME", help="all, or these")
    most = "series of a part at most, 0 for all; as many as the protocol's trainings take"
    baselines.add_argument("--max-cases", type=int, metavar="N", help=most)
    out = Path("results/baselines/baselines.jsonl")
    baselines.add_argument("--out", type=Path, default=out, metavar="FILE", help=OUT)
    baselines.set_defaults(command=_baselines, to_a_file=True)


def _add_report(report: argparse.ArgumentParser) -> None:
    report.add_argument("files", nargs="+", type=Path, metavar="FILE", help="results files")
    report.add_argument(
        "--out",
        type=Path,
        help="folder; by default beside the first file; files that it did not write are left alone",
    )
    report.add_argument(
        "--metric", default="accuracy", help="what is compared, such as balanced_accuracy"
    )
    report.add_argument(
        "--where", nargs="*", default=[], metavar="SETTING=VALUE", help="take only these records"
    )
    report.set_defaults(command=_report)


def _baselines(options: argparse.Namespace) -> int:
    from posenc_book.read.classification import baselines
    from posenc_book.read.classification.protocol import TRAINING

    only = options.only or list(baselines.BASELINES)
    most = TRAINING["settings"]["max_cases"] if options.max_cases is None else options.max_cases
    new = baselines.run(
        options.datasets, options.resamples, options.out, only=only, max_cases=most, tell=print
    )
    print(f"{new} new records in {options.out}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from posenc_book.read.classification import report

    stored = [r for path in options.files for r in Store(existing(path))]
    folder = options.out or options.files[0].with_suffix("")
    records = [r for r in stored if _fits(r, options.where)]
    print(f"written: {report.write_report(records, folder, options.metric)}")
    return 0


def _fits(record: dict, conditions: Sequence[str]) -> bool:
    stored = complete(record["settings"])
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not equals or name not in stored:
            raise ValueError(f"where must be SETTING=VALUE with a known setting, got {condition!r}")
        if str(stored[name]) != value:
            return False
    return True


def _protocol(options: argparse.Namespace) -> int:
    from posenc_book.read.classification import tiers

    return tiers.train(options)
