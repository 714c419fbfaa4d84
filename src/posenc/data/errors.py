"""What can go wrong with data: every error says which file or set, and what to do about it."""

from pathlib import Path


class DataError(ValueError):
    """A data set cannot be had, or is not what it should be."""


class UnknownDatasetError(DataError):
    """No data set has this name."""


class MissingDataError(DataError):
    """The files of a known data set are not on this machine and could not be downloaded."""


class DownloadError(DataError):
    """A download failed; nothing of it is left on the disk."""


class ArchiveError(DataError):
    """An archive is broken or would write outside the folder it is unpacked into."""


class FileFormatError(DataError):
    """A file does not follow its format.

    Attributes: `path` (the file), `line` (its line, counted from 1, or None for binary files). A
    problem of more than `LONGEST` characters, which quotes damaged bytes, is cut.
    """

    LONGEST = 1000

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        self.path, self.line = Path(path), line
        place = f"{path}" if line is None else f"{path}, line {line}"
        if len(problem) > self.LONGEST:
            problem = f"{problem[: self.LONGEST]} ... and {len(problem) - self.LONGEST:,} more"
        super().__init__(f"{place}: {problem}")
