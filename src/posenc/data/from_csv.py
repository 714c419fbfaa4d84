"""Make a data set of one's own out of a table: a training part and a test part in .ts files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import _checks, _files
from posenc.data.errors import DataError, FileFormatError
from posenc.data.formats import text

DRAWS = 1000  # of whole groups, until every class stands in both parts
DELIMITERS = ",;\t"
EMPTY = ("", "?", "na", "nan", "null")


@dataclass
class Series:
    """One series of the table: its class, its group, and a list of values for each channel."""

    label: str
    group: str
    channels: list[list[str]] = field(default_factory=list)


def convert(
    path: Path | str,
    folder: Path | str,
    *,
    label: str = "label",
    series: str | None = None,
    group: str | None = None,
    leave_out: Sequence[str] = (),
    test: float = 0.3,
    seed: int = 0,
) -> str:
    """Write the two files of a data set into `folder`, which gives it its name.

    Parameters
    ----------
    path : path
        A table with a line of names at its top and commas, semicolons or tabs between its columns.
    folder : path
        Where `NAME_TRAIN.ts` and `NAME_TEST.ts` go; it is made if it is not there.
    label : str
        The column that holds the classes.
    series : str, optional
        A column that is equal in all rows of a series. Then each row is a step, and each other
        column a channel. Without it each row is a series, and each other column a step.
    group : str, optional
        A column, such as a person, whose series must not be divided between the two parts.
    leave_out : sequence of str
        Columns that are not read, such as a time.
    test : float
        Share of the series in the test part.
    seed : int
        Another seed draws another test part.

    Returns
    -------
    str
        What was written, in one sentence.

    Raises
    ------
    DataError
        If something is wrong with the table, which its message names with its line, if a part
        would lack a class, or if the files are there already.
    ValueError
        If `test` is not between 0 and 1, or `seed` no count.

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
    path, folder = text.readable(path), Path(folder)
    names = [folder / f"{folder.name}_{part}.ts" for part in ("TRAIN", "TEST")]
    for one in names:
        if one.exists():
            raise DataError(f"{one} is there already; take it away, or choose another folder")
    found = _read(path, label, series, group, set(leave_out))
    classes = _classes(path, found)
    held = _held_out(path, found, test, rng, by_group=group is not None)
    for one, part in zip(names, (~held, held), strict=True):
        chosen = [case for case, wanted in zip(found, part, strict=True) if wanted]
        _files.replace(one, _ts(folder.name, chosen, classes))
    return _told(folder.name, found, held, classes)


def _read(
    path: Path, label: str, series: str | None, group: str | None, leave_out: set[str]
) -> list[Series]:
    rows = _rows(path)
    _, header = next(rows, (1, []))
    roles = {"label": label, "series": series, "group": group}
    at = {role: _place(path, header, role, name) for role, name in roles.items() if name}
    if unknown := leave_out - set(header):
        raise FileFormatError(path, 1, f"has no column {min(unknown)!r} to leave out")
    taken = leave_out | {header[i] for i in at.values()}
    values = [i for i, name in enumerate(header) if name not in taken]
    if not values:
        raise FileFormatError(path, 1, "no column is left that could hold values")
    found: dict[str, Series] = {}
    for line, row in rows:
        if len(row) != len(header):
            raise FileFormatError(
                path, line, f"expected {len(header)} columns as in line 1, got {len(row)}"
            )
        name = row[at["series"]] if series else str(line)
        told = row[at["label"]], row[at["group"]] if group else name
        one = found.setdefault(name, Series(*told, [[] for _ in values if series]))
        if (one.label, one.group) != told:
            raise FileFormatError(path, line, f"series {name[:40]!r} had another class or group")
        numbers = _numbers(path, line, [row[i] for i in values])
        if series:
            for channel, number in zip(one.channels, numbers, strict=True):
                channel.append(number)
        else:
            one.channels.append(numbers)
        if len(found) > _files.most("series"):
            raise FileFormatError(path, line, _files.beyond("series"))
    return list(found.values())


def _place(path: Path, header: list[str], role: str, name: str) -> int:
    """Return where a column stands that has a role of its own."""
    if header.count(name) != 1:
        raise FileFormatError(
            path, 1, f"{role} must be one of the columns {header[:20]}, got {name!r}"
        )
    return header.index(name)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, fields) of the lines that are not empty; the first one tells the delimiter."""
    delimiter = ""
    for line, row in text.lines(path):
        if not row.strip():
            continue
        delimiter = delimiter or max(DELIMITERS, key=row.count)
        yield line, [one.strip() for one in text.fields(path, line, row, delimiter)]


def _numbers(path: Path, line: int, fields: list[str]) -> list[str]:
    given = ["?" if one.lower() in EMPTY else one for one in fields]
    if odd := next((one for one in given if "," in one), None):
        raise FileFormatError(
            path, line, f"expected a number with a decimal point, got {odd[:40]!r}"
        )
    values = text.numbers(path, line, ",".join(given), missing=True)
    return ["?" if np.isnan(value) else f"{value:.9g}" for value in values]


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
    labels = np.array([one.label for one in found])
    if by_group:
        return _whole_groups(path, labels, np.array([one.group for one in found]), test, rng)
    held = np.zeros(len(found), dtype=bool)
    for label in sorted({one.label for one in found}):
        here = rng.permutation(np.flatnonzero(labels == label))
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


def _ts(name: str, found: Iterable[Series], classes: dict[str, str]) -> str:
    cases = [":".join([*map(",".join, one.channels), classes[one.label]]) for one in found]
    head = f"@problemName {name}\n@timeStamps false\n@missing true\n"
    flags = f"@univariate {str(all(line.count(':') == 1 for line in cases)).lower()}\n"
    named = f"@equalLength false\n@classLabel true {' '.join(classes.values())}\n@data\n"
    return head + flags + named + "\n".join(cases) + "\n"


def _told(
    name: str, found: Sequence[Series], held: NDArray[np.bool_], classes: dict[str, str]
) -> str:
    lengths = {len(one.channels[0]) for one in found}
    steps = f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else f"{min(lengths)}"
    n = len(found[0].channels)
    counts = [
        f"{written} ({sum(one.label == label for one in found)})"
        for label, written in classes.items()
    ]
    return (
        f"{name}: {len(found)} series of {steps} steps, {n} channel{'s' if n > 1 else ''}; "
        f"{(~held).sum()} to learn from, {held.sum()} to test on; classes {', '.join(counts)}"
    )
