"""What a table or a line looks like, in words that are read from its numbers."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

Array = NDArray[np.float64]

STILL = 0.1  # share of the widest column's range below which a column hardly moves
SLACK = 2  # crossings by which a run of columns may turn back
JUMP = 8  # crossings between neighbours that end a run of columns
FEW = 6  # peaks that a wave may have among the offsets; more of them have no order


@dataclass(frozen=True)
class Look:
    """A picture in words: its shape in a few, and the numbers behind it in a sentence or two."""

    shape: str
    details: str


def of_lines(lines: Array) -> Look:
    """Return what lines over offsets look like."""
    line, apart = lines[0], np.abs(lines[0] - lines[1]).max()
    if np.ptp(lines) < 1e-12:
        shape = f"{line[0] + 0.0:g} at every offset"
        return Look(shape, f"The two lines coincide: {shape}.")
    pair = f"The two lines differ by up to {apart:.2f}; the first"
    shape = f"{_sides(line)}, {_course(line)}"
    pair = "The two lines coincide" if np.allclose(lines[0], lines[1], atol=1e-9) else pair
    return Look(shape, f"{pair}: {shape}; {_extremes(line)}.")


def of_table(table: Array) -> Look:
    """Return what a table looks like, with positions downwards."""
    crossings = _crossings(table)
    runs = _runs(crossings)
    if len(runs) > 3:
        few, most = crossings.min(), crossings.max()
        shape = "no order from column to column"
        said = [f"each column crosses its mean {few} to {most} times"]
    else:
        shape = _waves(crossings, runs)
        said = [_run_in_words(crossings, *run) for run in runs]
    half = len(table) // 2
    early, late = (_crossings(part).mean() for part in (table[:half], table[half:]))
    if late > 1.5 * early:
        shape += ", but waves that get faster downwards"
        said.append(f"in the upper half on average {early:.1f} times, in the lower {late:.1f}")
    details = [f"{shape[0].upper()}{shape[1:]}: {'; '.join(said)}", *_still(table), _rows(table)]
    return Look(shape, ". ".join(details) + ".")


# --- lines -------------------------------------------------------------------------------------


def _number(value: float) -> str:
    digits = 2 if abs(value) >= 0.1 or value == 0 else 3
    return f"{value:z.{digits}f}"


def _sides(line: Array) -> str:
    """Return whether the side before the query mirrors that behind it."""
    apart = np.abs(line - line[::-1]).max() / np.ptp(line)
    if apart < 1e-6:
        return "symmetric"
    return "nearly symmetric" if apart < 0.05 else "not symmetric"


def _course(line: Array) -> str:
    """Return how a line goes, from its middle to both sides."""
    reach = len(line) // 2
    steps = np.diff(np.stack([line[reach::-1], line[reach:]]), axis=1)
    tiny = 1e-9 * np.ptp(line)
    if (np.abs(steps) <= tiny).sum() > reach / 2:
        widest = max(len([*run]) for _, run in groupby(line.round(9)))
        return f"a staircase without order, whose steps are up to {widest} offsets wide"
    if (steps < 0).all():
        if np.allclose(steps, steps[0, 0]):
            return "a fall at one rate from the middle to both sides"
        slower = (np.diff(steps, axis=1) > -tiny).all()
        return f"{'an ever slower' if slower else 'a'} fall from the middle to both sides"
    peaks = _peaks(line) - reach
    if len(peaks) > FEW:
        return "up and down from offset to offset without order"
    if len(peaks) == 1:
        return f"one peak, at offset {peaks[0]}, and an uneven fall to both sides"
    return f"waves with peaks at the offsets {', '.join(map(str, peaks))}"


def _peaks(line: Array) -> NDArray[np.int64]:
    """Return where a line has peaks that stand out by a tenth of its range."""
    low = line.min() - 1.0
    walled = np.concatenate([[low], line, [low]])  # so that an end may be a peak
    return find_peaks(walled, prominence=0.1 * np.ptp(line))[0] - 1


def _extremes(line: Array) -> str:
    reach = len(line) // 2
    words = []
    for name, value in (("highest", line.max()), ("lowest", line.min())):
        places = np.flatnonzero(np.isclose(line, value, rtol=0, atol=1e-9)) - reach
        at = f"offset{'s' * (len(places) > 1)} {' and '.join(map(str, places))}"
        words.append(f"{name} ({_number(value)}) at {at}")
    return ", ".join(words)


# --- tables ------------------------------------------------------------------------------------


def _crossings(table: Array) -> NDArray[np.int64]:
    """Return how often each column crosses its mean."""
    signs = table - table.mean(axis=0) > 1e-12
    return (signs[1:] != signs[:-1]).sum(axis=0)


def _runs(crossings: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the longest runs of columns in which crossings rise, or fall: first and last."""
    runs, first = [], 0
    jumps = np.flatnonzero(np.abs(np.diff(crossings)) > JUMP) + 1
    while first < len(crossings):
        last = [*jumps[jumps > first], len(crossings)][0]
        lengths = []
        for sign in (1, -1):
            piece = sign * crossings[first:last]
            turned = np.flatnonzero(piece < np.maximum.accumulate(piece) - SLACK)
            lengths.append(turned[0] if len(turned) else len(piece))
        runs.append((first, int(first + max(lengths) - 1)))
        first = runs[-1][1] + 1
    return runs


def _pace(crossings: NDArray[np.int64], first: int, last: int) -> str:
    faster = crossings[last] > crossings[first]
    return "get faster" if faster else "slow down"


def _waves(crossings: NDArray[np.int64], runs: list[tuple[int, int]]) -> str:
    paces = [_pace(crossings, *run) for run in runs if run[1] > run[0]]
    groups = {1: "waves that", 2: "two groups of waves that", 3: "three groups of waves that"}
    shape = f"{groups[len(paces)]} {' and '.join(dict.fromkeys(paces))} from left to right"
    alone = [str(first) for first, last in runs if last == first]
    return f"{shape}, with column {alone[0]} apart" if alone else shape


def _run_in_words(crossings: NDArray[np.int64], first: int, last: int) -> str:
    begin, end = (_times(n) for n in crossings[[first, last]])
    if first == last:
        return f"column {first} crosses its mean {begin}"
    return f"column {first} crosses its mean {begin}, column {last} {end}"


def _times(n: int) -> str:
    return {0: "not once", 1: "once"}.get(int(n), f"{n} times")


def _still(table: Array) -> list[str]:
    """Return what stands in the columns on the right that hardly move, if there are some."""
    ranges = np.ptp(table, axis=0)
    moving = np.flatnonzero(ranges > STILL * ranges.max())
    first = moving[-1] + 1
    if len(ranges) - first < 4:
        return []
    even, odd = (table[:, first + k :: 2].mean() for k in (first % 2, 1 - first % 2))
    return [
        f"Columns {first} to {len(ranges) - 1} hardly move, near {even:.1f} in even columns and "
        f"near {odd:.1f} in odd ones"
    ]


def _rows(table: Array) -> str:
    """Return how many rows differ, how large they are, and between which values they lie."""
    n = len(np.unique(table.round(9), axis=0))
    norms = np.linalg.norm(table, axis=1)
    low, high = (_number(norm) for norm in (norms.min(), norms.max()))
    size = f"of norm {low}" if low == high else f"with norms from {low} to {high}"
    differ = f"All {n} rows differ" if n == len(table) else f"{n} of {len(table)} rows differ"
    return f"{differ}, {size}; values from {_number(table.min())} to {_number(table.max())}"
