"""What can go wrong with data: every error says which file or set, and what to do about it."""

from pathlib import Path


class DataError(ValueError):
    """A data set cannot be had, or is not what it should be: what all errors of data derive from.

    Examples
    --------
    >>> from posenc_book import data
    >>> try:
    ...     data.load("no set", "train")
    ... except data.DataError as error:
    ...     print(type(error).__name__)
    UnknownDatasetError
    """


class UnknownDatasetError(DataError):
    """No data set has this name; the message says which names are close.

    Examples
    --------
    >>> from posenc_book import data
    >>> try:
    ...     data.load("no set", "train")
    ... except data.UnknownDatasetError as error:
    ...     print(error)
    name must be up to 100 letters, digits, - and _, beginning with a letter or digit, got 'no set'
    """


class MissingDataError(DataError):
    """The files of a known data set are not on this machine and could not be downloaded.

    The message says what to fetch from where, and into which folder it goes.

    Examples
    --------
    Some sets were not counted for this book:

    >>> from posenc_book import data
    >>> try:
    ...     data.recorded_facts("Sleep")
    ... except data.MissingDataError as error:
    ...     print(str(error).split(";")[0])
    Sleep was not counted for this book
    """


class DownloadError(DataError):
    """A download failed; nothing of it is left on the disk.

    `load` turns it into a `MissingDataError`, whose message holds this one.
    """


class ArchiveError(DataError):
    """An archive is broken or would write outside the folder it is unpacked into.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from posenc_book.data.archives import unpack
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     archive = Path(folder) / "set.zip"
    ...     _ = archive.write_text("an error page in place of an archive")
    ...     try:
    ...         unpack(archive, Path(folder))
    ...     except ArchiveError as error:
    ...         print(error)
    set.zip: not a usable zip archive (File is not a zip file)
    """


class FileFormatError(DataError):
    """A file does not follow its format.

    Parameters
    ----------
    path : path
        The file.
    line : int or None
        Its line, counted from 1; None for binary files.
    problem : str
        What is wrong there. More than `LONGEST` = 1000 characters, which quote damaged bytes, are
        cut.

    Attributes
    ----------
    path : pathlib.Path
    line : int or None

    Examples
    --------
    >>> print(FileFormatError("rides_TRAIN.ts", 7, "label 'x' is not among ['up', 'down']"))
    rides_TRAIN.ts, line 7: label 'x' is not among ['up', 'down']
    """

    LONGEST = 1000

    def __init__(self, path: Path | str, line: int | None, problem: str) -> None:
        self._given = path, line, problem
        self.path, self.line = Path(path), line
        place = f"{path}" if line is None else f"{path}, line {line}"
        if len(problem) > self.LONGEST:
            problem = f"{problem[: self.LONGEST]} ... and {len(problem) - self.LONGEST:,} more"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type, tuple[Path | str, int | None, str]]:
        return type(self), self._given  # a pool of processes hands errors over as pickles
