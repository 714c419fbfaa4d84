"""Does a newer version of a paper still say what a row of the ledger judged?

    python -m posenc_book.audit.versions  # the survey: version 1 beside the newest
    python -m posenc_book.audit.versions --new v2               # version 1 beside version 2
    python -m posenc_book.audit.versions --paper YaRN           # the rows of another paper
    python -m posenc_book.audit.versions --ask  # only ask which versions are the newest
    python -m posenc_book.audit.versions --old one.txt --new two.html  # files, no network

Each row names at most six words of the sentence that it judges. These are searched; spaces,
hyphens, quotes and case do not matter. What comes out is about words, not about truth:

    still there      the words stand, and their sentence is the old one
    other sentence   the words stand in another sentence, perhaps with another number
    reworded         the words are gone, and a sentence is much like the old one
    gone             no sentence is much like the old one
    by hand          the row has no words to search: a formula, code, or a statement of ours
"""

import argparse
import difflib
import re
import sys
import time
import unicodedata
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from posenc import _checks
from posenc._wall import behind
from posenc_book import _files
from posenc_book.audit import ledger

SAME = 0.97  # so alike are the letters of one sentence in two versions; numbers must agree
NEAR = 0.5  # so alike are the words of a sentence and of its new form
PAUSE = 3.0  # seconds between two requests, as arXiv asks
LEAST = 5000  # letters of a whole paper; fewer are an abstract or a page of errors
MOST = 1 << 26  # bytes of an answer
SECONDS = 60.0
UNKNOWN = "not known"


@dataclass(frozen=True)
class Paper:
    """A paper of the ledger: its rows are those of a source whose place begins with a word.

    `known` is the newest version of which the book has heard; "" where a version is not known.
    """

    number: str
    known: str = ""
    judged: str = ""
    begins: str = ""
    source: str = "N"

    def rows(self) -> list[dict]:
        """Return the rows of the ledger that judge this paper."""
        return [
            row
            for row in ledger.rows()
            if row["source"] == self.source and row["place"].startswith(self.begins)
        ]


PAPERS = {
    "survey": Paper("2502.12370", "v3", "v1", source="S"),
    "DFT": Paper("2405.09061", source="F"),
    "RoFormer": Paper("2104.09864", "v5", "v5", "RoFormer"),
    "ALiBi": Paper("2108.12409", "v2", "v2", "ALiBi"),
    "T5": Paper("1910.10683", "v4", "", "T5"),
    "Transformer-XL": Paper("1901.02860", "v3", "", "Transformer-XL"),
    "DeBERTa": Paper("2006.03654", "v6", "", "DeBERTa"),
    "xPos": Paper("2212.10554", "v1", "", "xPos"),
    "KERPLE": Paper("2205.09921", "v2", "", "KERPLE"),
    "FIRE": Paper("2310.04418", "v2", "v2", "FIRE"),
    "PI": Paper("2306.15595", "v2", "v2", "Position interpolation"),
    "YaRN": Paper("2309.00071", "v3", "v2", "YaRN"),
    "NoPE": Paper("2305.19466", "v2", "v2", "NoPE"),
    "CoPE": Paper("2405.18719", "v2", "v2", "CoPE"),
    "p-RoPE": Paper("2410.06205", "v3", "v3", "p-RoPE"),
    "Random": Paper("2305.16843", "v1", "v1", "Random places"),
    "DyWPE": Paper("2509.14640", "v1", "", "DyWPE"),
    "base": Paper("2405.14591", begins="RoPE's base"),
    "partial": Paper("2603.11611", "v1", "v1", "Partial RoPE, abstract"),
    "lengths": Paper("2410.02140", begins="Length generalisation"),
    "limits": Paper("2605.15514", "v1", "v1", "RoPE's limits"),
    "DLinear": Paper("2205.13504", begins="DLinear"),
    "PatchTST": Paper("2211.14730", begins="PatchTST"),
    "iTransformer": Paper("2310.06625", begins="iTransformer"),
    "Informer": Paper("2012.07436", begins="Informer"),
    "Autoformer": Paper("2106.13008", begins="Autoformer"),
    "Moirai": Paper("2402.02592", begins="Moirai"),
}


class Text:
    """A text that can be searched for words, whatever stands between their letters."""

    def __init__(self, text: str) -> None:
        plain = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
        self.plain = re.sub(r"-[ \t]*\r?\n\s*", "-", plain)
        letters = [(i, c) for i, sign in enumerate(self.plain) for c in sign.casefold()]
        kept = [(i, c) for i, c in letters if c.isalnum()]
        self.places = [i for i, _ in kept]
        self.bare = "".join(c for _, c in kept)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences, in the order of the text."""
        parts = re.split(r"(?<=[.?!])\s+(?=[\"(A-Z0-9])|\n\s*\n", self.plain)
        return [" ".join(part.split()) for part in parts if part.strip()]

    def where(self, words: str) -> list[int]:
        """Return where these words begin and end as whole words."""
        wanted, found = bare(words), []
        start = self.bare.find(wanted) if wanted else -1
        while start >= 0:
            first, last = self.places[start], self.places[start + len(wanted) - 1]
            inside = self.plain[max(0, first - 1) : first] + self.plain[last + 1 : last + 2]
            found += [first] * (not any(c.isalnum() for c in inside))
            start = self.bare.find(wanted, start + 1)
        return found

    def sentence(self, place: int) -> str:
        """Return the sentence around a place, or some 300 letters to either side."""
        start = max(0, place - 300)
        ends = re.finditer(r"[.?!:]\s+(?=[\"(A-Z0-9])|\n\s*\n", self.plain[start : place + 1])
        start = max((start + one.end() for one in ends), default=start)
        stop = re.search(r"[.?!](?=\s|$)|\n\s*\n", self.plain[place : place + 400])
        end = place + (stop.end() if stop else 300)
        return " ".join(self.plain[start:end].split())

    def nearest(self, sentence: str) -> tuple[float, str]:
        """Return how alike the most similar sentence is, from 0 to 1, and that sentence."""
        wanted = _words(sentence)
        rough = sorted(self.sentences, key=lambda one: -len({*wanted} & {*_words(one)}))[:40]
        ratios = [(_alike(wanted, _words(one)), one) for one in rough]
        return max(ratios, default=(0.0, ""))


def bare(words: str) -> str:
    """Return the letters and digits alone, in lower case."""
    normal = unicodedata.normalize("NFKC", words).casefold()
    return "".join(c for c in normal if c.isalnum())


def _words(sentence: str) -> list[str]:
    return [word for word in map(bare, sentence.split()) if word]


def _alike(one: Sequence[str], two: Sequence[str]) -> float:
    return difflib.SequenceMatcher(None, one, two, autojunk=False).ratio()


def likeness(one: str, two: str) -> float:
    """Return how alike two sentences are, below `SAME` where their numbers differ."""
    numbers = [re.findall(r"\d+(?:\.\d+)?", re.sub(r"\[[\d,\s]+\]", "", s)) for s in (one, two)]
    alike = _alike(bare(one), bare(two))
    return alike if numbers[0] == numbers[1] else min(alike, SAME - 0.01)


@dataclass(frozen=True)
class Outcome:
    """What became of a row's words, with the old and the new sentence where there are any."""

    said: str
    old: str = ""
    new: str = ""


def judge(row: dict, old: Text | None, new: Text) -> Outcome:
    """Return what became of the words of a row of the ledger."""
    words = row.get("find")
    if not words or row.get("ours") or row.get("found"):
        return Outcome("by hand")
    before = [old.sentence(place) for place in old.where(words)] if old else []
    after = [new.sentence(place) for place in new.where(words)]
    if after and not before:
        return Outcome("still there", new=after[0])
    if after:
        alike, one, two = max((likeness(one, two), one, two) for one in before for two in after)
        lost = len(after) < len(before)  # it stood in more places
        return Outcome("other sentence" if lost or alike < SAME else "still there", one, two)
    alike, two, one = max((*new.nearest(one), one) for one in before or [words])
    if alike >= NEAR:
        return Outcome("reworded", one, two)
    return Outcome("gone", one if before else "")


def report(rows: Sequence[dict], old: Text | None, new: Text, *, every: bool = False) -> str:
    """Return a line for each row, both sentences where they differ, and a count."""
    lines, counts = [], Counter[str]()
    for row in rows:
        outcome = judge(row, old, new)
        counts[outcome.said] += 1
        about = row.get("find") or row.get("found") or "ours"
        lines.append(f"{row['id']:<5}{outcome.said:<16}{about}  [{row['place']}]")
        if every or outcome.said in ("other sentence", "reworded", "gone"):
            shown = (("was", outcome.old), ("now", outcome.new))
            lines += [f"     {when}: {sentence}" for when, sentence in shown if sentence]
    lines += ["", ", ".join(f"{count} {said}" for said, count in counts.items())]
    if not counts["still there"] and counts["gone"] > 2:
        lines.append("The words of no row stand here. Is this the right paper, and all of it?")
    return "\n".join(lines)


class _Page(HTMLParser):
    """Collects the words of a page, without scripts and a formula's second notation."""

    SILENT = ("script", "style", "annotation", "annotation-xml", "svg", "head", "nav", "button")
    BREAKS = ("p", "div", "section", "li", "tr", "td", "th", "br", "figcaption", "h1", "h2", "h3")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.silent += tag in self.SILENT
        self.parts += ["\n\n"] * (tag in self.BREAKS)

    def handle_endtag(self, tag: str) -> None:
        self.silent = max(0, self.silent - (tag in self.SILENT))
        self.parts += ["\n\n"] * (tag in self.BREAKS)

    def handle_data(self, data: str) -> None:
        self.parts += [data] * (not self.silent)


def from_html(page: str) -> str:
    """Return the words of a page as plain text."""
    reader = _Page()
    reader.feed(page)
    return "".join(reader.parts)


def read(path: Path) -> str:
    """Return the text of a file that somebody saved: a page, or plain text."""
    try:
        text = _files.text(path)
    except FileNotFoundError:
        raise _files.fault(path, None, "there is no such file") from None
    except UnicodeDecodeError:
        kind = "a PDF: turn it into text first, for example with pdftotext"
        wrong = kind if path.suffix.lower() == ".pdf" else "not UTF-8 text"
        raise _files.fault(path, None, wrong) from None
    is_page = path.suffix.lower() in (".html", ".htm") or "<html" in text[:2000].lower()
    return from_html(text) if is_page else text


def fetch(address: str) -> bytes:
    """Return what stands at an address, no sooner than arXiv asks after the request before."""
    time.sleep(PAUSE)
    request = urllib.request.Request(address, headers={"User-Agent": "posenc_book.audit.versions"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.read(MOST)
    except urllib.error.HTTPError as problem:
        raise ValueError(f"{address} answers {problem.code} {problem.reason}. {_ELSE}") from None
    except OSError as problem:
        why = getattr(problem, "reason", problem)
        raise ValueError(f"{address} could not be reached ({why}). {_ELSE}") from None


_ELSE = (
    "Save the paper in a browser, as a page or as text, and give the file: "
    "--new saved.html, and the old version with --old"
)


def newest(paper: Paper) -> tuple[str, str]:
    """Return the newest version that arXiv has of a paper, such as "v2", and its date."""
    address = f"https://export.arxiv.org/api/query?id_list={paper.number}"
    try:
        feed = ElementTree.fromstring(fetch(address))
    except ElementTree.ParseError:
        raise ValueError(f"{address} should answer with a feed. Try again later") from None
    entry = feed.find("{*}entry")
    told = "" if entry is None else entry.findtext("{*}id", "")
    version = re.search(r"v\d+$", told)
    if entry is None or version is None:
        raise ValueError(f"{address} names no version of the paper. Try again later")
    return version[0], entry.findtext("{*}updated", "")[:10]


def text_of(what: str, paper: Paper) -> Text:
    """Return the text of a version ("v2", "newest") from arXiv, or of a file."""
    version = newest(paper)[0] if what == "newest" else what
    if re.fullmatch(r"v\d+", version):
        what = f"https://arxiv.org/html/{paper.number}{version}"
        text = Text(from_html(fetch(what).decode("utf-8", "replace")))
    else:
        text = Text(read(Path(what)))
    if len(text.bare) < LEAST:
        raise ValueError(
            f"{what} should hold a whole paper, and has {len(text.bare):,} letters and digits"
        )
    return text


def _compare(asked: argparse.Namespace) -> str:
    paper = PAPERS[_checks.choice("--paper", asked.paper, PAPERS)]
    from_files = not re.fullmatch(r"v\d+|newest", asked.new)
    before = asked.old or ("" if from_files else paper.judged)  # a file asks for no network
    old = text_of(before, paper) if before else None
    return report(paper.rows(), old, text_of(asked.new, paper), every=asked.every)


def _versions() -> Iterable[str]:
    """Yield a line for each paper: its newest version beside the one that was judged."""
    for name, paper in PAPERS.items():
        version, date = newest(paper)
        judged, known = paper.judged or UNKNOWN, paper.known or UNKNOWN
        yield f"{name:<16}{version} of {date}; judged: {judged}, the book has heard of: {known}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two versions of a paper, or say which are the newest."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", default="survey", help=f"one of {', '.join(PAPERS)}")
    parser.add_argument("--new", default="newest", help="the version to look at, or a file")
    parser.add_argument("--old", help="the version that was judged, or a file")
    parser.add_argument("--every", action="store_true", help="show the sentences of all rows")
    parser.add_argument("--ask", action="store_true", help="only ask which versions are newest")
    asked = parser.parse_args(arguments)
    try:
        for line in _versions() if asked.ask else [_compare(asked)]:
            print(line, flush=True)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
