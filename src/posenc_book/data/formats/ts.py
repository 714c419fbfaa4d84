"""The .ts format of the UCR and UEA archives.

aeon's reader is the well-kept one and the tests compare with it, value by value. It is not used
for reading because its errors do not name a line, it accepts labels that the header does not
list, it turns class names into lower case, it overlooks a tag behind a byte-order mark, and it
neither reads .gz files nor marks missing steps.
"""

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.dataset import Dataset, check_growth, stack
from posenc_book.data.errors import DataError, FileFormatError
from posenc_book.data.formats import text

MOST_TAGS = 1000  # the format has nine
_COMMENT = ("#", "%")
_FLAGS = ("timestamps", "missing", "univariate", "equallength", "targetlabel")
_COUNTS = {"dimensions": "dimensions", "dimension": "dimensions", "serieslength": "serieslength"}
_TAGS = ("problemname", "classlabel", "data", *_FLAGS, *_COUNTS)
_PAIR = r"\s*+\([^(),]*+,[^(),]*+\)\s*+"  # a time and a value
_PAIRS = re.compile(f"{_PAIR}(?:,{_PAIR})*+")
_NO_BRACKETS = str.maketrans("", "", "()")


@dataclass(frozen=True)
class Header:
    """What the lines before `@data` announce, None where they are silent; and times behind them."""

    classes: tuple[str, ...]
    name: str
    missing: bool
    univariate: bool
    equal_length: bool
    n_channels: int | None
    length: int | None
    timed: bool = False
    times: tuple[NDArray[np.float64], ...] = ()  # of each series, where the file has them


def read_ts(path: Path | str) -> Dataset:
    r"""Return the series of a classification file in .ts or .ts.gz format.

    Unequal lengths are padded and masked, missing values (`?` or `NaN`) masked. With
    `@timeStamps true` each value stands in a pair with its time, a number, as in
    `(0,1.5),(0.7,2):(0,3),(0.7,4):up`; the channels of a series share their times.

    Parameters
    ----------
    path : path
        The file; its lines before `@data` must name the classes.

    Returns
    -------
    Dataset

    Raises
    ------
    FileFormatError
        A ValueError that names the file and the line of whatever is wrong.
    ValueError
        If `path` cannot be one.
    OSError
        If the file cannot be opened.

    Source: The format of the UCR and UEA archives, https://timeseriesclassification.com.

    Examples
    --------
    >>> import tempfile
    >>> lines = ["@univariate true", "@classLabel true up down", "@data", "1,2,3:up", "3,2,?:down"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rides.ts"
    ...     _ = path.write_text("\n".join(["@missing true", *lines]))
    ...     rides = read_ts(path)
    >>> rides.x[:, :, 0].tolist(), rides.mask.tolist()
    ([[1.0, 2.0, 3.0], [3.0, 2.0, 0.0]], [[True, True, True], [True, True, False]])
    """
    path = text.readable(path)
    series, labels, header = read_series(path)
    origin = f"{path.name}, read from a .ts file"
    return stack(series, labels, header.classes, header.name, origin, times=header.times)


def read_series(path: Path) -> tuple[list[NDArray[np.float32]], NDArray[np.int64], Header]:
    """Return the series, arrays (length_i, n_channels) with NaN for missing, labels and header."""
    rows = text.lines(path)
    header = _read_header(path, rows)
    index = {label: i for i, label in enumerate(header.classes)}
    series: list[NDArray] = []
    labels: list[int] = []
    times: list[NDArray] = []
    most_series, most_channels = _files.most("series"), _files.most("columns")
    longest = 0, 0  # steps, line
    for line, row in rows:
        if not row.strip() or row.startswith(_COMMENT):
            continue
        if row.count(":") > most_channels:
            raise FileFormatError(path, line, _files.beyond("columns"))
        *channels, label = row.split(":")
        if label.strip() not in index:
            raise FileFormatError(
                path, line, f"label {label.strip()[:40]!r} is not among {list(header.classes)}"
            )
        expected = series[0].shape if series else (header.length, header.n_channels)
        case = _read_case(path, line, channels, header, expected)
        if header.timed:
            times.append(_common_times(path, line, case[..., 0]))
            case = case[..., 1]
        text.check_real_step(path, line, case)
        series.append(case.astype(np.float32))
        labels.append(index[label.strip()])
        longest = max(longest, (len(series[-1]), -line))
        if len(series) > most_series:
            raise FileFormatError(path, line, _files.beyond("series"))
    if not series:
        raise FileFormatError(path, None, "holds no series after @data")
    try:
        check_growth(series, longest[0], "this series")
    except DataError as error:
        raise FileFormatError(path, -longest[1], str(error)) from error
    return series, np.array(labels, dtype=np.int64), replace(header, times=tuple(times))


def is_classification(path: Path) -> bool:
    """Return whether the header is in order and lists classes (regression sets have none)."""
    try:
        _read_header(path, text.lines(path))
    except FileFormatError:
        return False
    return True


def _read_case(
    path: Path,
    line: int,
    channels: list[str],
    header: Header,
    expected: tuple[int | None, int | None],
) -> NDArray[np.float64]:
    """Return values (length, n_channels), with a last axis of time and value where both are."""
    length, n_channels = expected
    if header.univariate:
        n_channels = 1
    if not channels or n_channels not in (None, len(channels)):
        wanted = "at least 1" if n_channels is None else n_channels
        raise FileFormatError(path, line, f"expected {wanted} channels, got {len(channels)}")
    first = _count(channels[0], header)
    wanted = length or first if header.equal_length else first
    values = [
        _read_channel(path, line, i, one, wanted, header) for i, one in enumerate(channels, 1)
    ]
    return np.stack(values, axis=1)


def _common_times(path: Path, line: int, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the times (length,) that all channels share, from those of each one."""
    if not (np.isfinite(times).all() and (times == times[:, :1]).all()):
        raise FileFormatError(path, line, "every value must have a time, equal in all channels")
    if (np.diff(times[:, 0]) <= 0).any():
        raise FileFormatError(path, line, "the times of a series must rise")
    return times[:, 0].copy()


def _plain(channel: str, header: Header) -> str:
    return channel.translate(_NO_BRACKETS) if header.timed else channel


def _count(channel: str, header: Header) -> int:
    return channel.count("(") if header.timed else channel.count(",") + 1


def _read_channel(
    path: Path, line: int, number: int, fields: str, wanted: int, header: Header
) -> NDArray[np.float64]:
    """Return the values of a channel, (n,) or with their times (n, 2), but never too many."""
    if header.timed and not _PAIRS.fullmatch(fields):
        why = f"channel {number} must be pairs (time,value),(time,value) with numbers as times"
        raise FileFormatError(path, line, f"{why}, got {fields.strip()[:40]!r}")
    count = _count(fields, header)
    if count != wanted:
        begin = _plain(fields, header).split(",", wanted + 1)[: wanted + 1]
        text.numbers(path, line, ",".join(begin), missing=header.missing)  # a fault there is told
        raise FileFormatError(
            path, line, f"channel {number} has {count:,} values, expected {wanted:,}"
        )
    values = text.numbers(path, line, _plain(fields, header), missing=header.missing)
    return values.reshape(-1, 2) if header.timed else values


def _read_header(path: Path, rows) -> Header:
    tags: dict[str, str] = {}
    line = 0
    for line, row in rows:
        row = row.strip()
        if not row or row.startswith(_COMMENT):
            continue
        if not row.startswith("@"):
            raise FileFormatError(path, line, f"expected a @tag before @data, got {row[:40]!r}")
        name, *rest = row.split(None, 1)
        tag, value = name[1:].lower(), "".join(rest)
        if tag == "data" and value:
            raise FileFormatError(path, line, f"@data must stand alone, got {row[:40]!r}")
        if tag == "data":
            return _check_header(path, line, tags)
        if tag in tags:
            raise FileFormatError(path, line, f"@{tag} appears a second time")
        tags[tag] = _check_tag(path, line, tag, value)
        if len(tags) > MOST_TAGS:
            raise FileFormatError(path, line, f"more than {MOST_TAGS:,} tags before @data")
    raise FileFormatError(path, line or None, "ends without a @data line")


def _check_tag(path: Path, line: int, tag: str, value: str) -> str:
    if tag in _FLAGS and value.lower() not in ("true", "false"):
        raise FileFormatError(path, line, f"@{tag} must be true or false, got {value[:40]!r}")
    if tag in _COUNTS and not re.fullmatch(r"[1-9][0-9]{0,8}", value):
        raise FileFormatError(
            path, line, f"@{tag} must be a positive integer below 1e9, got {value[:40]!r}"
        )
    word = re.findall(r"\w{0,40}", tag)[0]  # of `equallength=false`, too
    near = difflib.get_close_matches(word, _TAGS, n=1, cutoff=0.8)
    if near and tag not in _TAGS:
        raise FileFormatError(path, line, f"there is no tag @{tag[:40]}; did you mean @{near[0]}?")
    return value


def _check_header(path: Path, line: int, tags: dict[str, str]) -> Header:
    flag, *classes = tags.get("classlabel", "").split(None, _files.most("columns") + 1) or [""]
    if len(classes) > _files.most("columns"):
        raise FileFormatError(path, line, f"@classLabel names {_files.beyond('columns')}")
    if flag.lower() != "true" or not classes:
        raise FileFormatError(
            path, line, "the header needs `@classLabel true` followed by the class names"
        )
    if len(set(classes)) != len(classes):
        raise FileFormatError(path, line, "@classLabel names a class twice")
    counts = {_COUNTS[tag]: int(value) for tag, value in tags.items() if tag in _COUNTS}
    equal = tags.get("equallength", "true").lower() == "true"
    return Header(
        classes=tuple(classes),
        name=tags.get("problemname", path.name.partition(".")[0]),
        missing=tags.get("missing", "false").lower() == "true",
        univariate=tags.get("univariate", "false").lower() == "true",
        equal_length=equal,
        n_channels=counts.get("dimensions"),
        length=counts.get("serieslength") if equal else None,
        timed=tags.get("timestamps", "false").lower() == "true",
    )
