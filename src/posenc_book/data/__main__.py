"""Command line: posenc data [list | fetch | verify | info | ...], see --help."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from posenc._wall import behind
from posenc_book.data import carried, checksums, from_csv
from posenc_book.data.errors import DataError
from posenc_book.data.info import facts
from posenc_book.data.load import GROUPS, SPLITS, fetch, find, find_entry, load, names
from posenc_book.data.measure import RECORD, add, recorded, write_measured
from posenc_book.data.registry import ENTRIES
from posenc_book.data.synthetic import FAMILIES
from posenc_book.data.verify import verify


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return 0, or 1 where a set is missing, wrong or unknown."""
    options = parser().parse_args(arguments)
    if options.command == "measure":
        return _measure(options.path, options.only)
    if options.command in (None, "list"):
        return _list()
    if options.command == "from-csv":
        return _from_csv(options)
    if options.command == "pack":
        return max(_run(partial(_pack, options.out), name) for name in options.names or _compared())
    known = {"fetch": _fetch, "verify": _verify, "info": _info, "checksums": _checksums}
    return max(
        [_run(known[options.command], name) for name in options.names or _present()], default=0
    )


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="posenc data", description="The data sets.")
    commands = top.add_subparsers(dest="command")
    commands.add_parser("list", help="every set, group by group, and where it lies (the default)")
    for command, many, purpose in (
        ("fetch", "+", "download sets that are not on this machine"),
        ("verify", "*", "compare files with the checksums of the copies this book used"),
        ("info", "+", "count what is in a set, beside what the survey printed"),
        ("checksums", "+", "enter the checksums of sets in the package's list"),
    ):
        which = "names of sets" if many == "+" else "names of sets; by default all that are here"
        one = commands.add_parser(command, help=purpose)
        one.add_argument("names", nargs=many, metavar="NAME", help=which)
    packing = commands.add_parser("pack", help="write sets as arrays for a machine without them")
    packing.add_argument(
        "names", nargs="*", metavar="NAME", help="by default all sets of the protocol"
    )
    packing.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="folder for the arrays"
    )
    _add_from_csv(commands.add_parser("from-csv", help="make a set of your own from a table"))
    measuring = commands.add_parser("measure", help="count every set here, measure leakage")
    measuring.add_argument("path", nargs="?", type=Path, default=RECORD, help="a JSON file")
    measuring.add_argument("--only", metavar="NAME", help="count this set, leave the rest as it is")
    return top


def _list() -> int:
    for group, purpose in GROUPS.items():
        listed = names(group)
        print(f"{group}: {purpose} ({len(listed)})")
        for name in listed:
            print(f"  {name:26}{_place(name)}")
        print()
    print("and every other set of the UCR and UEA archives, by its name there")
    return 0


def _place(name: str) -> str:
    if name in FAMILIES:
        return "made by a simulator"
    found = find(find_entry(name))
    return f"{found.place}: {found.folder}" if found else "not here: fetch it"


def _present() -> list[str]:
    return [name for name, entry in ENTRIES.items() if find(entry)]


def _compared() -> list[str]:
    """Return all sets that were counted, the protocol's among them, but for the anomalies."""
    return [name for name in recorded()["sets"] if ENTRIES[name].role != "anomaly"]


def _run(command: Callable[[str], int], name: str) -> int:
    try:
        return command(name)
    except (DataError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _fetch(name: str) -> int:
    if name not in FAMILIES:
        entry = find_entry(name)
        if find(entry) is None:
            fetch(entry)
    print(f"{name}: {_place(name)}")
    return 0


def _verify(name: str) -> int:
    if name in FAMILIES:
        print(f"{name}: made by a simulator, no files")
        return 0
    report = verify(name)
    print(report)
    return 0 if report.good else 1


def _pack(folder: Path, name: str) -> int:
    if name in FAMILIES:
        print(f"{name}: made by a simulator, needs no files")
        return 0
    entry, path = find_entry(name), carried.location(folder, name)
    splits = {split: load(name, split) for split in SPLITS}
    files = find(entry)
    assert files is not None  # they were read just now
    try:
        carried.write_carried(path, splits, files.digests())
    except OSError as error:
        print(f"error: cannot write {path} ({error})", file=sys.stderr)
        return 1
    print(f"{name}: {path}, {path.stat().st_size / 2**20:.1f} MiB")
    return 0


def _checksums(name: str) -> int:
    found = find(find_entry(name))
    if found is None:
        print(f"{name}: {_place(name)}")
        return 1
    print(f"{name}: {checksums.add(found.digests())} new checksums")
    return 0


def _measure(path: Path, only: str | None) -> int:
    try:
        add(only, path) if only else write_measured(path)
    except (DataError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: cannot read or write the record {path} ({error})", file=sys.stderr)
        return 1
    print(f"written: {path}")
    return 0


def _add_from_csv(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="TABLE", help="a .csv file with a line of names at its top")
    for option, metavar, purpose in (
        ("--out", "FOLDER", "where the two files go; its name is the set's: data/MyGestures"),
        ("--label", "COLUMN", "holds the classes (label)"),
        ("--series", "COLUMN", "says which series a row is a step of; without, a row is a series"),
        ("--group", "COLUMN", "such as a person: whole groups go to either part"),
        ("--time", "COLUMN", "says when a step was; such times are kept, and need --series"),
        ("--time-format", "FORM", "such as '%%d.%%m.%%Y %%H:%%M', if not 2016-07-01 14:00"),
        ("--decimal", "SIGN", "in numbers (a point)"),
    ):
        parser.add_argument(option, metavar=metavar, help=purpose, required=option == "--out")
    parser.add_argument(
        "--leave-out", nargs="+", metavar="COLUMN", help="columns that are no values"
    )
    parser.add_argument(
        "--test", type=float, metavar="SHARE", help="of the series to test on (0.3)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="another one draws another test part")


def _from_csv(options: argparse.Namespace) -> int:
    given = {name: value for name, value in vars(options).items() if value is not None}
    path, folder = given.pop("path"), given.pop("out")
    del given["command"]
    try:
        print(from_csv.convert(path, folder, **given))
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _info(name: str) -> int:
    print(facts(name), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
