"""The sources' words: can a reader find the place, and have we copied more than a few of them?

    python tools/sources.py FOLDER    # write tests/audit/shingles.bin anew from the sources' texts

The texts are not ours to publish. So that the test on copying runs without them, the repository
holds hashes of every run of nine consecutive words, five bytes each. Four would be enough to look
one up, but the book has some hundred thousand runs, and among so many a chance hit would be likely.
Formulas interrupt a run and numbers do not count: anyone may print them.
"""

import hashlib
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from repository import ROOT

TEXTS = {
    "B": ("blog-first-principles.txt",),
    "R": ("blog-linear-relationships.md",),
    "F": ("paper-faithful-dft.md", "paper-faithful-dft-pdftext.txt"),
    "S": ("survey-time-series.txt",),
}
HASHES = ROOT / "tests" / "audit" / "shingles.bin"
RUN, SIZE = 9, 5  # words; bytes of a hash
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.S)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
NUMBER = re.compile(r"[\d.,;:%~()\[\]\"']*\d[\d.,;:%~()\[\]\"']*")  # passed over, not counted
# What interrupts a run of words: signs and digits of formulas, the cells of a table.
BREAK = re.compile(r"[\d=+^_{}\\<>|∈∑√×·α-ωΑ-Ω]")


class SourceError(ValueError):
    """A source's text is not where it should be."""


def plain(text: str) -> str:
    """Return a text without ligatures, and with words that a line's end parted put together."""
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "")
    return re.sub(r"(?<=[^\W\d_])[-‐]\n(?=[^\W\d_])", "", text)


def bare(text: str) -> str:
    """Return a text for searching: without white space, hyphens, emphasis and kinds of quotes."""
    text = plain(text).translate(str.maketrans("“”‘’", "\"\"''"))
    return re.sub(r"[\s\-‐–*]", "", text)


def read(folder: Path, source: str) -> list[str]:
    """Return the texts of a source."""
    paths = [Path(folder) / name for name in TEXTS[source]]
    if missing := [path.name for path in paths if not path.is_file()]:
        raise SourceError(f"folder must hold the sources' texts, {missing[0]} is not in {folder}")
    return [path.read_text(encoding="utf-8") for path in paths]


def not_found(claims: list[dict], folder: Path) -> list[tuple[str, str]]:
    """Return the ids and words of claims whose words to search for are not in their source.

    Looked at are the sources whose texts are kept. Later papers were read where they are public.
    """
    searched = {source: [bare(text) for text in read(folder, source)] for source in TEXTS}
    return [
        (claim["id"], claim["find"])
        for claim in claims
        if "find" in claim
        and claim["source"] in TEXTS
        and not any(bare(claim["find"]) in text for text in searched[claim["source"]])
    ]


def runs(text: str) -> Iterator[str]:
    """Yield every run of nine consecutive words of a text, in small letters."""
    text = MATHS.sub(" | ", plain(text))
    text = text.replace("-", " ").replace("\n\n", " | ")
    held: list[str] = []
    for token in text.split():
        if NUMBER.fullmatch(token):
            continue
        if BREAK.search(token):
            held = []
            continue
        for word in WORD.findall(token):
            held = [*held, word.casefold().replace("’", "'")][-RUN:]
            if len(held) == RUN:
                yield " ".join(held)


def hashed(run: str) -> bytes:
    """Return the hash of a run of words."""
    return hashlib.blake2b(run.encode(), digest_size=SIZE).digest()


def body(text: str) -> str:
    """Return a text without its list of references: titles are nobody's sentences."""
    return re.split(r"\n#* ?References\n", text)[0]


def shingles(folder: Path) -> bytes:
    """Return the hashes of all runs of all sources, sorted, one behind the other."""
    found = {hashed(r) for s in TEXTS for text in read(folder, s) for r in runs(body(text))}
    return b"".join(sorted(found))


def load(path: Path = HASHES) -> set[bytes]:
    """Return the stored hashes."""
    data = path.read_bytes()
    return {data[i : i + SIZE] for i in range(0, len(data), SIZE)}


def copied(text: str, hashes: set[bytes]) -> list[str]:
    """Return the runs of nine words of a text that stand in a source."""
    return [run for run in runs(text) if hashed(run) in hashes]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name the folder with the sources' texts: python tools/sources.py FOLDER")
    HASHES.write_bytes(shingles(Path(sys.argv[1])))
    print(f"{HASHES.relative_to(ROOT)}: {HASHES.stat().st_size // SIZE} hashes")
