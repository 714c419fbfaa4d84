"""Nine minutes of a GPU: what is too long for a processor. It has not been run.

First the short rows of edition 2's fourth tier (today's encodings, and the larger model, with a
token a step on ten sets), by its own protocol and into its own files; then the three longest sets
of this edition, which no answer counts. What is stored is not trained again.

python -m posenc_book.read.edition3.gpu --seconds 540 --workers 16
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from posenc._wall import behind
from posenc_book.bench.driver import deadline
from posenc_book.read.classification import tiers
from posenc_book.read.classification.protocol import VARIED
from posenc_book.read.edition3 import __main__ as command
from posenc_book.read.edition3 import sets
from posenc_book.read.edition3.questions import MODEL

TIER = 4
SECONDS = 540.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the larger code of both parts."""
    options = _parser().parse_args(arguments)
    until = deadline(options.seconds)
    try:
        first = tiers.train(short_rows(options))
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.edition3.gpu: {error}", file=sys.stderr)
        return 2
    left = until - time.monotonic()
    if left <= 0:
        print("no time is left; the same command goes on from here")
        return first
    return max(first, command.main(longest_sets(options, left)))


def short_rows(options: argparse.Namespace) -> argparse.Namespace:
    """Return the options of edition 2's command for the short rows of its fourth tier."""
    return argparse.Namespace(
        tier=TIER,
        model=MODEL,
        datasets=list(VARIED),
        encodings=None,
        retry_failed=options.retry_failed,
        out=options.out,
        device=options.device,
        workers=options.workers,
        stack=None,
        seconds=options.seconds,
    )


def longest_sets(options: argparse.Namespace, seconds: float) -> list[str]:
    """Return the arguments of this edition's command for the sets that wait for a GPU."""
    told = ["--sets", *sets.LONG, "--device", options.device, "--seconds", str(seconds)]
    told += ["--out", str(options.out / "edition-3")]
    told += ["--workers", str(options.workers)]
    return [*told, *["--retry-failed"] * options.retry_failed]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.read.edition3.gpu",
        description="Train on a GPU what is too long for a processor; stop and go on at will.",
    )
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the results")
    parser.add_argument("--device", default="cuda", help="cuda or cuda:1")
    parser.add_argument("--workers", type=int, default=16, help="processes that share the GPU")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="begin no training after so many seconds"
    )
    parser.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    return parser


if __name__ == "__main__":
    sys.exit(behind(main))
