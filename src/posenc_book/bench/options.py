"""The commands of the engine, and options that several commands share."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from posenc_book import _files
from posenc_book.records import store as stores
from posenc_book.records.settings import (
    HELP,
    NAMED,
    PROFILES,
    PROTOCOL,
    Settings,
    complete,
    profile,
)
from posenc_book.records.store import Store

SECONDS = (
    "begin no training after so many seconds; what has begun is trained to its end, so the command "
    "may overrun by as long as one training takes: therefore none is begun either that would end "
    "too late if it took as long as the longest so far, once the first has ended; run it again to "
    "go on"
)

OUT = "results file; the same command goes on with what it holds"
_PROFILES = (
    f"{', '.join(PROFILES)} (laptop); {PROTOCOL} trains as the book did: to the end, tuned, on "
    "five resamples, with none beside the rest"
)

_AGREE = "compare a GPU with the processor, on a short training"
_AGREEMENT = (
    "Trains one short cell, of an encoding for each kind of door, on the processor and on the "
    "named device, in float32, and stores by how much losses and logits differ at most. Both start "
    "from the same weights and see the same batches; dropout's masks are drawn on the processor "
    "for both, as each kind of device has a generator of its own. With --device cpu the processor "
    "is compared with itself, and the difference is 0."
)


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the commands of the engine to a command line."""
    _add_run(commands.add_parser("run", help="train what a results file lacks"))
    _add_agree(commands.add_parser("agree", help=_AGREE, description=_AGREEMENT))
    status = commands.add_parser("status", help="count what a results file holds")
    status.add_argument("file", type=Path, help="a results file")
    status.set_defaults(command=_status)
    merge = commands.add_parser("merge", help="gather several results files in one")
    merge.add_argument("sources", nargs="+", type=Path, metavar="FILE", help="results files")
    merge.add_argument("--out", type=Path, help="target; by default the first file")
    merge.set_defaults(command=_merge, to_a_file=True)
    _add_baselines(commands.add_parser("baselines", help="score sets without a transformer"))
    _add_report(commands.add_parser("report", help="write tables, tests and figures"))


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--datasets",
        nargs="+",
        required=True,
        metavar="NAME[:KEY=VALUE]",
        help="sets of the archives, or folders of your own in $POSENC_DATA",
    )
    run.add_argument(
        "--encodings", "--encoding", nargs="+", metavar="NAME[:KEY=VALUE]", help="all, or MOD:CLASS"
    )
    run.add_argument("--models", nargs="+", metavar="NAME", help="time_series, patch (both)")
    run.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1 (5)")
    run.add_argument(
        "--resamples",
        type=int,
        metavar="N",
        help="the official split and N - 1 others, a seed each",
    )
    run.add_argument(
        "--tune", action="store_true", help="first choose each encoding's learning rate and scale"
    )
    run.add_argument("--profile", default="laptop", metavar="NAME", help=_PROFILES)
    run.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    run.add_argument("--workers", type=int, help="processes; by default one per core, or one a GPU")
    run.add_argument(
        "--engine", default="local", help="local, serial, or a Dask scheduler's tcp://HOST:PORT"
    )
    run.add_argument(
        "--out", type=Path, default=Path("results/bench.jsonl"), metavar="FILE", help=OUT
    )
    run.add_argument("--stack", type=int, help="seeds trained together; 1 on a CPU, 16 on a GPU")
    run.add_argument("--compile", action="store_true", help="compile the models")
    run.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    for item in fields(Settings):  # every other setting can be changed by its own option
        if item.name not in NAMED:
            option = "--" + item.name.replace("_", "-")
            of = f"{HELP[item.name]} (laptop: {item.default or 'none'})"
            run.add_argument(option, type=item.type, dest=item.name, help=of)
    run.set_defaults(command=_run, to_a_file=True)


def add_course(command: argparse.ArgumentParser, out: str) -> None:
    """Add what every command takes that trains cells one by one."""
    command.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    command.add_argument("--out", type=Path, default=Path(out), metavar="FILE", help=OUT)
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    command.add_argument("--workers", type=int, help="processes; by default one per core")
    command.add_argument("--seconds", type=float, help=SECONDS)
    command.set_defaults(to_a_file=True)


def _add_agree(agree: argparse.ArgumentParser) -> None:
    agree.add_argument("--device", default="cuda", help="cuda (by default), cuda:1, mps, cpu")
    agree.add_argument(
        "--out",
        type=Path,
        default=Path("results/agreement.json"),
        metavar="FILE",
        help="what it holds of other devices stays; a file of another origin is left alone",
    )
    agree.set_defaults(command=_agree, to_a_file=True)


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


def _agree(options: argparse.Namespace) -> int:
    from posenc_book.bench import agreement

    return agreement.run(options)


def _run(options: argparse.Namespace) -> int:
    from posenc_book.bench import commands

    return commands.run(options)


def _status(options: argparse.Namespace) -> int:
    from posenc_book.bench import failures

    stored = list(Store(existing(options.file)))
    records, (failed, n_mended) = stores.unique(iter(stored)), failures.standing(stored)
    seconds = sum(r["seconds"] for r in records)
    n_finished = len(records) - len(failed) - n_mended
    print(f"{options.file}: {n_finished} finished, {len(failed)} failed{failures.again(n_mended)}")
    print(f"{seconds / 3600:.2f} hours of training")
    for kind in ("profile", "dataset", "model", "encoding"):
        counts = Counter(r[kind] for r in records)
        print(f"{kind}: " + ", ".join(f"{name} {n}" for name, n in counts.items()))
    for r in failed:
        print(f"failed: {r['encoding']} {r['model']} {r['dataset']} seed {r['seed']}: {r['error']}")
    if failed:
        print("to try them again: the command that trained them, with --retry-failed")
    return 0


def _merge(options: argparse.Namespace) -> int:
    target = options.out or options.sources[0]
    sources = [path for path in options.sources if path != target]
    print(f"{stores.merge(sources, target)} cells added to {target}")
    return 0


def _baselines(options: argparse.Namespace) -> int:
    from posenc_book.bench import baselines

    only = options.only or list(baselines.BASELINES)
    most = profile(PROTOCOL)["max_cases"] if options.max_cases is None else options.max_cases
    new = baselines.run(
        options.datasets, options.resamples, options.out, only=only, max_cases=most, tell=print
    )
    print(f"{new} new records in {options.out}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from posenc_book.bench import report

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


def existing(path: Path) -> Path:
    """Return the path of a results file that must be there."""
    _files.check_regular(path)
    if not path.exists():
        raise ValueError(f"there is no results file {path}")
    return path
