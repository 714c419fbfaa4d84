"""Print what is whole, and what the whole families say, as Markdown.

python -m posenc_book.read.forecasting          # what is there, and what it says
python -m posenc_book.read.forecasting --lock   # and lock the scores by their digests
"""

import argparse
import sys
from collections.abc import Iterator, Sequence

from posenc._wall import behind
from posenc_book.read import digests, results
from posenc_book.read.forecasting import devices, plan, rivals, show
from posenc_book.read.forecasting.answers import Answered, ask, families_text, kept_apart
from posenc_book.read.forecasting.complete import Stored, completeness_sentences, load_stored
from posenc_book.read.forecasting.registered import FAMILIES, QUESTIONS

COMMAND = "python -m posenc_book.read.forecasting --lock"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 if a file is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.read.forecasting", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--last-check",
        action="store_true",
        help="repeat what was shown on the units kept apart: after the answer is written down",
    )
    parser.add_argument("--lock", action="store_true", help="write the digests of the scores")
    options = parser.parse_args(arguments)
    try:
        if options.lock:
            hashes = {"training": plan.HASH, "analysis": plan.ANALYSIS_HASH}
            folder = results.folder() / "forecasting"
            print(f"written: {digests.lock(folder, 'forecasting', COMMAND, **hashes)}")
        stored = load_stored()
        print("\n\n".join(_report(stored)))
        if options.last_check:
            print("\n## Last check: do the differences repeat on the units kept apart?")
            for one in kept_apart(stored, last_check=True):
                print(f"\n### {one.family.question}\n", *_families([one]), sep="\n")
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.forecasting: {error}", file=sys.stderr)
        return 2
    return 0


def _report(stored: Stored) -> Iterator[str]:
    """Yield paragraphs and tables: what is whole, each question, and the rivals."""
    asked = {question: ask(stored, question) for question in FAMILIES}
    yield "# Forecasting: what is whole, and what it says"
    yield " ".join([*completeness_sentences(stored), families_text(asked.values())])
    yield from map(show.markdown, show.completeness_tables(stored))
    if again := devices.load_ratios():
        yield f"## Devices\n\n{devices.agreement_text(again)}"
        yield show.markdown(devices.devices_table(again))
    for question, answered in asked.items():
        yield f"## {question}: {QUESTIONS[question]}"
        yield from _families(answered)
    yield "## Rivals"
    standings = rivals.standings(stored, rivals.load_rivals())
    yield show.markdown(show.rivals_table(standings))
    yield from show.behind_sentences(standings, "linear")


def _families(answered: Sequence[Answered]) -> Iterator[str]:
    """Yield the tables of the families that are whole, and how far the others are."""
    for one in answered:
        table = show.answers_table(one)
        yield f"{one.family.name}: {one.completeness}" if table is None else show.markdown(table)


if __name__ == "__main__":
    sys.exit(behind(main))
