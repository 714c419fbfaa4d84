"""Check the files of a data set against the checksums of the copies this book used."""

from dataclasses import dataclass

from posenc_book.data import checksums
from posenc_book.data.load import Found, find, find_entry


@dataclass(frozen=True)
class Report:
    """The outcome for one data set: how many files agree, how many are unknown, which differ."""

    name: str
    found: Found | None
    agree: int = 0
    unknown: int = 0
    differ: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return self.found is not None and not self.differ

    def __str__(self) -> str:
        if self.found is None:
            return f"{self.name}: not on this machine"
        said = f"{self.name}: {self.agree} agree, {self.unknown} unknown, {len(self.differ)} differ"
        lines = [f"{said} ({self.found.place}, {self.found.folder})"]
        return "\n".join([*lines, *(f"  differs: {path}" for path in self.differ)])


def verify(name: str) -> Report:
    """Return what the checksums say of data set `name`. Nothing is downloaded."""
    entry = find_entry(name)
    found = find(entry)
    if found is None:
        return Report(name, None)
    agree, unknown, differ = checksums.compare(found.digests())
    return Report(name, found, agree, unknown, tuple(differ))
