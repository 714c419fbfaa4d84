"""Make a data set of one's own out of a table: a training part and a test part in .ts files."""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book import _files
from posenc_book.data.errors import DataError, FileFormatError
from posenc_book.data.formats import moments, text
from posenc_book.data.load import check_own_name
from posenc_book.data.sets import archive

DRAWS = 1000  # of whole groups, until every class stands in both parts
EVEN = 1e-3  # of a step, up to which steps count as equally long
EMPTY = ("", "?", "na", "nan", "null")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")


@dataclass
class Series:
    """One series of the table: where it begins, its class and group, values and times by step."""

    line: int
    label: str
    group: str
    steps: list[NDArray[np.float64]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def convert(
    path: Path | str,
    folder: Path | str,
    *,
    label: str = "label",
    series: str | None = None,
    group: str | None = None,
    time: str | None = None,
    time_format: str = "",
    decimal: str | None = None,
    leave_out: Sequence[str] = (),
    test: float = 0.3,
    seed: int = 0,
) -> str:
    """Write the two files of a data set into `folder`, which gives it its name.

    Parameters
    ----------
    path : path
        A table with a line of names at its top and commas, semicolons or tabs between its columns.
        Fields in quotes may hold line breaks, and a first line `sep=;` may say what parts columns.
    folder : path
        Where `NAME_TRAIN.ts` and `NAME_TEST.ts` go; it is made if it is not there.
    label : str
        The column that holds the classes.
    series : str, optional
        A column that is equal in all rows of a series. Then each row is a step, and each other
        column a channel. Without it each row is a series, and each other column a step.
    group : str, optional
        A column, such as a person, whose series must not be divided between the two parts.
    time : str, optional
        A column, in a table with `series`, that says when each step was: numbers, or dates such as
        2016-07-01 14:00:05. The times are kept. They count from the first step of their series, in
        a unit in which the median distance of two neighbours is 1.
    time_format : str
        As `datetime.strptime` has it, where dates are written otherwise.
    decimal : {".", ","}, optional
        What parts whole numbers from their fractions: a point, unless it may be one of thousands.
    leave_out : sequence of str
        Columns that are not read.
    test : float
        Share of the series in the test part.
    seed : int
        Another seed draws another test part.

    Returns
    -------
    str
        What was written, in one sentence, and how uneven the times are.

    Raises
    ------
    DataError
        If something is wrong with the table, which its message names with its line, if a part
        would lack a class, if `load` would not take the folder's name or could not read what was
        made, or if the files are there already. Then nothing is written.
    ValueError
        If `test` is not between 0 and 1, `seed` no count, `decimal` another sign, or `time_format`
        no form.

    Examples
    --------
    >>> import tempfile
    >>> table = "label,first,second" + 4 * "\\nup,1,2" + 4 * "\\ndown,2,1"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rides.csv"
    ...     _ = path.write_text(table)
    ...     print(convert(path, Path(folder) / "Rides", test=0.25))
    Rides: 8 series of 2 steps, 1 channel; 6 to learn from, 2 to test on; classes down (4), up (4)
    """
    if not 0 < (test := float(test)) < 1:
        raise ValueError(f"test must be a share between 0 and 1, got {test}")
    rng = np.random.default_rng(_checks.count("seed", seed))
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be . or a comma, got {decimal!r}")
    if time_format:
        moments.check_form("time_format", time_format)
    path, folder = text.readable(path), Path(folder)
    names = _free(folder)
    roles = {"label": label, "series": series, "group": group, "time": time}
    table = _Table(path, roles, set(leave_out), decimal, time_format)
    found = table.read()
    classes = _classes(path, found)
    held = _held_out(path, found, test, rng, by_group=group is not None)
    unit = 0.0 if time is None else _unit(found)
    parts = [
        _ts(folder.name, [found[i] for i in np.flatnonzero(part)], classes, unit)
        for part in (~held, held)
    ]
    _check_readable(path, folder.name, parts)
    for one, content in zip(names, parts, strict=True):
        _files.replace(one, content)
    summary = _read_summary(folder.name, found, held, classes)
    return f"{summary}; {_describe_times(found, unit)}" if unit else summary


def _free(folder: Path) -> list[Path]:
    """Return the files of a set in a folder whose name `load` takes, and where none is yet."""
    check_own_name(folder.name)
    names = [folder / f"{folder.name}_{part}.ts" for part in ("TRAIN", "TEST")]
    for one in names:
        if one.exists():
            raise DataError(f"{one} is there already; take it away, or choose another folder")
    return names


def _check_readable(path: Path, name: str, parts: Sequence[str]) -> None:
    """Raise DataError if what was made of a table cannot be read again."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}_{part}.ts" for part in ("TRAIN", "TEST")]
        for file, content in zip(files, parts, strict=True):
            file.write_text(content, encoding="utf-8")
        try:
            archive.build(files, name)
        except DataError as error:
            why = str(error).replace(f"{folder}/", "")
            raise DataError(f"{path}: what was made of it cannot be read ({why})") from None


class _Table:
    """Takes the rows of a table, and sorts them into series."""

    def __init__(
        self,
        path: Path,
        roles: Mapping[str, str | None],
        leave_out: set[str],
        decimal: str | None,
        time_format: str,
    ) -> None:
        self.path = path
        delimiter, self.rows = text.table(path)
        self.header = text.heads(next(self.rows, (1, []))[1])
        self.at = {
            role: self._place(role, name) for role, name in roles.items() if name is not None
        }
        if unknown := leave_out - set(self.header):
            raise FileFormatError(path, 1, f"has no column {min(unknown)!r} to leave out")
        taken = leave_out | {self.header[i] for i in self.at.values()}
        self.values = [i for i, name in enumerate(self.header) if name not in taken]
        if not self.values:
            raise FileFormatError(path, 1, "no column is left that could hold values")
        if "time" in self.at and "series" not in self.at:
            raise FileFormatError(
                path, 1, f"time {roles['time']!r} needs a column that says which rows are the "
                "steps of one series: add --series"
            )  # fmt: skip
        self.numbers = _Numbers(path, decimal, in_doubt=delimiter != ",")
        self.clock = moments.Moments(path, roles["time"] or "", time_format)

    def read(self) -> list[Series]:
        """Return the series in the order of their first rows."""
        series: dict[str, Series] = {}
        for line, row in self.rows:
            self._take(series, line, [one.strip() for one in row])
            if len(series) > _files.most("series"):
                raise FileFormatError(self.path, line, _files.beyond("series"))
        if not series:
            raise FileFormatError(self.path, 1, "there are no rows below the line of names")
        self.numbers.check()
        for one in series.values():
            text.check_real_step(self.path, one.line, np.stack(one.steps))
        return list(series.values())

    def _take(self, series: dict[str, Series], line: int, row: list[str]) -> None:
        if len(row) != len(self.header):
            problem = f"expected {len(self.header)} columns as in line 1, got {len(row)}"
            raise FileFormatError(self.path, line, problem + text.uneven(line, row))
        name = row[self.at["series"]] if "series" in self.at else str(line)
        kind = row[self.at["label"]], row[self.at["group"]] if "group" in self.at else name
        one = series.setdefault(name, Series(line, *kind))
        if (one.label, one.group) != kind:
            raise FileFormatError(
                self.path, line, f"series {name[:40]!r} had another class or group"
            )
        values = self.numbers.read(line, [row[i] for i in self.values])
        one.steps += [values] if "series" in self.at else list(values[:, None])
        if "time" in self.at:
            one.times.append(self._time(one, name, row[self.at["time"]], line))

    def _time(self, one: Series, name: str, written: str, line: int) -> float:
        time = self.clock.number(self.numbers.plain(written), line)
        if one.times and time <= one.times[-1]:
            which = "the same as" if time == one.times[-1] else "earlier than"
            why = f"the time {written} of series {name[:40]!r} is {which} the one before it"
            raise FileFormatError(self.path, line, f"{why}; sort the rows, one for each time")
        return time

    def _place(self, role: str, name: str) -> int:
        """Return where a column stands that has a role of its own."""
        if self.header.count(name) != 1:
            problem = f"{role} must be one of the columns {self.header[:20]}, got {name!r}"
            raise FileFormatError(self.path, 1, problem)
        return self.header.index(name)


class _Numbers:
    """Reads fields as numbers; a point may be that of thousands, where nothing says which it is.

    Spreadsheets that part fields by semicolons or tabs may write a thousand as 1.000. One number
    that no point of thousands explains, such as 0.5, settles it.
    """

    def __init__(self, path: Path, decimal: str | None, *, in_doubt: bool) -> None:
        self.path, self.decimal = path, decimal or "."
        self.settled = decimal is not None or not in_doubt
        self.doubt: tuple[int, str] | None = None

    def read(self, line: int, fields: Sequence[str]) -> NDArray[np.float64]:
        """Return the values of a row, NaN where one is missing."""
        given = ["?" if one.lower() in EMPTY else self.plain(one) for one in fields]
        if odd := next((one for one in given if "," in one), None):
            why = f"expected a number with a decimal point, got {odd[:40]!r}"
            why += "; if that is a decimal comma, add --decimal ,"
            raise FileFormatError(self.path, line, why)
        for one in [] if self.settled else [one for one in given if "." in one]:
            if THOUSANDS.fullmatch(one):
                self.doubt = self.doubt or (line, one)
            else:
                self.settled = True
        if self.decimal == "," and (odd := next((one for one in fields if "." in one), None)):
            why = f"{odd[:40]!r} has a point beside decimal commas"
            raise FileFormatError(self.path, line, f"{why}; leave out the points between thousands")
        return text.numbers(self.path, line, ",".join(given), missing=True)

    def plain(self, written: str) -> str:
        """Return a number with a decimal point."""
        return written.replace(",", ".") if self.decimal == "," else written

    def check(self) -> None:
        """Raise FileFormatError if every number with a point may be a whole one."""
        if self.doubt and not self.settled:
            line, one = self.doubt
            whole = one.replace(".", "")
            why = f"{one} may be {whole} with a point between thousands"
            raise FileFormatError(
                self.path, line, f"{why}: add --decimal . if it is none, or write {whole}"
            )


def _classes(path: Path, found: Sequence[Series]) -> dict[str, str]:
    """Return how each label is written: the format ends names at spaces, commas and colons."""
    labels = sorted({one.label for one in found})
    written = {label: re.sub(r"[\s,:]+", "_", label) for label in labels}
    if len(labels) < 2:
        raise FileFormatError(path, None, f"needs two classes or more, has {labels}")
    if "" in labels:
        raise FileFormatError(path, None, "some series have no label")
    if len(set(written.values())) < len(labels):
        raise FileFormatError(path, None, f"two of its labels become one: {labels[:20]}")
    return written


def _held_out(
    path: Path, found: Sequence[Series], test: float, rng: np.random.Generator, *, by_group: bool
) -> NDArray[np.bool_]:
    """Return which series are for the test: of each class the same share, or whole groups."""
    if by_group:
        labels = np.array([one.label for one in found])
        return _whole_groups(path, labels, np.array([one.group for one in found]), test, rng)
    held, places = np.zeros(len(found), dtype=bool), defaultdict(list)
    for place, one in enumerate(found):
        places[one.label].append(place)
    for label in sorted(places):
        here = rng.permutation(places[label])
        if len(here) < 2:
            raise FileFormatError(
                path, None, f"class {label!r} has one series; learning and testing need one each"
            )
        held[here[: min(max(round(test * len(here)), 1), len(here) - 1)]] = True
    return held


def _whole_groups(
    path: Path, labels: NDArray, groups: NDArray, test: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    names, sizes = np.unique(groups, return_counts=True)
    classes = set(labels)
    for _ in range(DRAWS):
        order = rng.permutation(len(names))
        n = np.searchsorted(np.cumsum(sizes[order]), test * len(labels)) + 1
        held = np.isin(groups, names[order[:n]])
        if set(labels[held]) == set(labels[~held]) == classes:
            return held
    raise FileFormatError(
        path,
        None,
        f"no way was found to share out {len(names)} groups with every class on both sides",
    )


def _unit(found: Sequence[Series]) -> float:
    """Return the median distance of two steps that follow one another."""
    apart = _distances(found)
    return float(np.median(apart)) if len(apart) else 1.0


def _distances(found: Sequence[Series]) -> NDArray[np.float64]:
    return np.array([b - a for one in found for a, b in pairwise(one.times)])


def _ts(name: str, found: Iterable[Series], classes: Mapping[str, str], unit: float) -> str:
    """Return a part as a file; with a unit of time each value stands in a pair with its time."""
    cases = [":".join([*_channels(one, unit), classes[one.label]]) for one in found]
    head = f"@problemName {name}\n@timeStamps {str(bool(unit)).lower()}\n@missing true\n"
    if unit:
        head = f"# times count from the first step of a series, in units of {unit:.9g}\n{head}"
    flags = f"@univariate {str(all(len(one.steps[0]) == 1 for one in found)).lower()}\n"
    named = f"@equalLength false\n@classLabel true {' '.join(classes.values())}\n@data\n"
    return head + flags + named + "\n".join(cases) + "\n"


def _channels(one: Series, unit: float) -> Iterator[str]:
    times = [f"{(time - one.times[0]) / unit:.12g}" for time in one.times]
    for channel in np.stack(one.steps, axis=1):
        values = ["?" if np.isnan(value) else f"{value:.9g}" for value in channel.tolist()]
        if unit:
            values = [f"({time},{value})" for time, value in zip(times, values, strict=True)]
        yield ",".join(values)


def _read_summary(
    name: str, found: Sequence[Series], held: NDArray[np.bool_], classes: Mapping[str, str]
) -> str:
    lengths = {len(one.steps) for one in found}
    steps = f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else f"{min(lengths)}"
    n, counts = len(found[0].steps[0]), Counter(one.label for one in found)
    named = ", ".join(f"{written} ({counts[label]})" for label, written in classes.items())
    return (
        f"{name}: {len(found)} series of {steps} steps, {n} channel{'s' if n > 1 else ''}; "
        f"{(~held).sum()} to learn from, {held.sum()} to test on; classes {named}"
    )


def _describe_times(found: Sequence[Series], unit: float) -> str:
    """Return how uneven times are."""
    apart = _distances(found) / unit
    if not len(apart) or np.ptp(apart) < EVEN:
        return f"times in units of {unit:.4g}: all steps are equally long, as if counted"
    low, high = np.quantile(apart, (0.05, 0.95))
    return (
        f"times in units of {unit:.4g}, the median step: nine in ten steps last {low:.2g} to "
        f"{high:.2g} of it, the longest {apart.max():.3g}"
    )
