"""Gather what the capstone's two examples have measured in the file that its page reads.

python -m experiments.capstone stretched.json runs
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from posenc._wall import behind
from posenc_book import _files
from posenc_book.bench import console
from posenc_book.capstone import stretching
from posenc_book.read import capstone, results

SPLITS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Write results/capstone.json; return 0, or 2 if a file is wrong."""
    return console.run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.capstone", description=__doc__.splitlines()[0]
    )
    parser.add_argument("stretched", type=Path, help="what `stretching` has written")
    parser.add_argument("runs", type=Path, help="folder of the trainings of `nearby`")
    parser.set_defaults(command=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    text = json.dumps(gathered(options.stretched, options.runs), indent=1)
    _files.replace(results.folder() / capstone.FILE, text + "\n")
    return 0


def gathered(stretched: Path, runs: Path) -> dict:
    """Return what the file holds, from the two runs; a data set counts with all its splits."""
    sets = {}
    for path in sorted(runs.glob("second-*.jsonl")):
        records = [json.loads(line) for line in _files.text(path).splitlines()]
        by_split = {r["resample"]: r["metrics"]["accuracy"] for r in records if "metrics" in r}
        if len(by_split) == SPLITS:
            sets[path.stem.removeprefix("second-")] = [by_split[s] for s in range(SPLITS)]
    cost = stretching.seconds_a_step("evening")
    return {**json.loads(_files.text(stretched)), "nearby": sets, "seconds_a_step": cost}


if __name__ == "__main__":
    sys.exit(behind(main))
