"""Compute what the forecasters are held against: the last season, theta, boosted trees on lags.

    python -m experiments.forecasting.baselines

The linear maps of the same windows are trained with the transformers.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from posenc._wall import behind
from posenc_book import _files
from posenc_book.bench import console
from posenc_book.forecast.baselines import METHODS, score
from posenc_book.forecast.units import UNITS, load_unit
from posenc_book.forecast.windows import cut

FILE = Path("results", "forecasting", "baselines.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 if an argument or a file is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.forecasting.baselines", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--units", nargs="+", choices=UNITS, default=list(UNITS), metavar="NAME",
                        help="all, or some of the units")  # fmt: skip
    parser.add_argument("--out", type=Path, default=FILE, help="the file that grows")
    parser.set_defaults(command=_compute, to_a_file=True)
    return console.run(parser, arguments)


def _compute(options: argparse.Namespace) -> int:
    """Compute the baselines that the file lacks, and store them."""
    known = json.loads(_files.text(options.out)) if options.out.is_file() else {}
    for name in options.units:
        unit = load_unit(name)
        test = cut(unit).test
        for method, forecast in METHODS.items():
            if method in known.setdefault(name, {}):
                continue
            known[name][method] = score(test, forecast(unit, test))
            print(name, method, known[name][method], file=sys.stderr)
            _files.replace(options.out, json.dumps(known, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
