"""What the first page tells of the whole book, and README after it."""

import re
from functools import cache

import yaml

import chapter_times
import repository
from posenc_book.audit import ledger
from posenc_book.audit.outcomes import Outcome
from posenc_book.quantities import _read, afterwards
from posenc_book.read.range_probe import longer
from repository import ROOT

CORRECTED = (Outcome.SLIP, Outcome.REFUTED)
HOLD = (Outcome.CONFIRMED, Outcome.CONDITION)


def having_is_worth_more_than_which():
    """With steps, in the mean over sets."""
    gained, apart = (
        one()["steps"] for one in (afterwards.mean_of_ten, afterwards.apart_in_the_mean)
    )
    return float(gained) > 2 * float(apart)


@cache
def _four_times():
    """Return accuracy at four times the trained length, of encodings that learned and accept it."""
    runs = longer.load_longer()
    if max(runs.longer) != 4 * runs.trained:
        raise ValueError(f"the longest series are not four times {runs.trained} steps")
    # variants bear what is changed in their names, as "dft (loud)"
    accept = [name for name in runs.learned if name.isidentifier() and name not in runs.refusing]
    return {name: runs.accuracy(name, f"longer_{max(runs.longer)}") for name in accept}


def accept_four_times_the_length():
    """Series, by encodings that learned the task."""
    return _read.word(len(_four_times()))


def shaw_and_rope_alone_still_work():
    """Right in nine of ten series."""
    return {name for name, one in _four_times().items() if one >= 0.9} == {"relative", "rotary"}


def _verdicts(sources):
    return [
        one["verdict"] for one in ledger.rows() if one["source"] in sources and "ours" not in one
    ]


def statements():
    """Of the four sources that were read whole, not counting our own."""
    found = _verdicts(ledger.FOUR)
    hold = sum(one in HOLD for one in found)
    return {
        "all": str(len(found)),
        "hold": str(hold),
        "with_condition": str(found.count(Outcome.CONDITION)),
    }


def statements_of_all_papers():
    """The later ones among them."""
    found = _verdicts(ledger.SOURCES)
    return {"all": str(len(found)), "corrected": str(sum(one in CORRECTED for one in found))}


def _timed():
    """Return the text of each page that states its times, in the order of the contents."""
    listed = re.findall(r"- file: (book/[\w-]+)$", (ROOT / "_toc.yml").read_text(), re.MULTILINE)
    paths = {p: path for p in listed if (path := ROOT / f"{p}.ipynb").is_file()}
    texts = {page: chapter_times.markdown(chapter_times.read(path)) for page, path in paths.items()}
    return {page: text for page, text in texts.items() if chapter_times.stated(text)}


def _path():
    """Return each part of the path with its chapters, and each chapter with its pages."""
    return {
        part["caption"]: [
            [one["file"], *(below["file"] for below in one.get("sections", ()))]
            for one in part["chapters"]
        ]
        for part in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"][:4]
    }


def path_to_the_gpt():
    """Chapters up to the one that says that its reader has finished, and hours by their times."""
    pages, texts = list(_timed()), list(_timed().values())
    last = next(n for n, text in enumerate(texts, start=1) if "**You have finished.**" in text)
    to_read, to_do = (
        sum(one) / 60 for one in zip(*map(chapter_times.stated, texts[:last]), strict=True)
    )
    begun = sum(one in pages[:last] for part in _path().values() for one, *_ in part)
    counts = {"chapters": begun, "hours_to_read": to_read, "hours_of_exercises": to_do}
    return {what: _read.word(round(count)) for what, count in counts.items()}


def chapters():
    """By part of the path, with the times that they state."""
    site, lines = repository.pages(repository.address()), []
    for caption, part in _path().items():
        texts = {page: _timed()[page] for pages in part for page in pages}
        to_read, to_do = (
            sum(one) for one in zip(*map(chapter_times.stated, texts.values()), strict=True)
        )
        titles = {page: re.search(r"^# ([^:\n]+)", text, re.M)[1] for page, text in texts.items()}
        links = (f"[{title}]({site}{page}.html)" for page, title in titles.items())
        times = f"{to_read} minutes to read, {to_do} for the exercises"
        lines.append(f"- **{caption}**, {times}: {' · '.join(links)}")
    return "\n".join(lines) + "\n"
