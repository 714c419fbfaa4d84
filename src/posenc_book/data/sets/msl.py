"""MSL, telemetry of the Curiosity rover: 27 channels, each with 54 one-hot command columns.

The publisher's `train` recordings carry no labels. As a classification task, the labelled `test`
recordings are cut into windows of 50 rows and split by channel: in alphabetical order, every third
channel is in the test part. Channels are the groups. The rows of SMAP, the other spacecraft in the
table, are left out.
"""

import ast
from pathlib import Path

import numpy as np

from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import text
from posenc_book.data.formats.array import read_npy
from posenc_book.data.sets.anomaly import LENGTH, Recording, by_recording

N_COLUMNS = 55
ALL_CHANNELS = 27
PROTOCOL = (
    f"labelled test recordings, disjoint windows of {LENGTH} rows, anomalous if any row is; split "
    f"by channel: every third in alphabetical order is the test part"
)


def find(folder: Path, name: str) -> list[Path]:
    """Return the table of anomalies and the recordings, or [] where the table is not."""
    del name
    tables = sorted(folder.rglob("labeled_anomalies.csv"))[:1]
    arrays = (path for path in folder.rglob("*.npy*") if path.parent.name == "test")
    return [*tables, *sorted(arrays)] if tables else []


def build(paths: list[Path], name: str) -> dict[str, Dataset]:
    """Return the windows of the training channels and of the test channels."""
    channels = read_channels(paths)
    order = sorted(read_segments(paths[0]))
    is_test = [order.index(one.name) % 3 == 2 for one in channels]
    note = f"{PROTOCOL}; {len(channels)} of {ALL_CHANNELS} channels present"
    return by_recording(channels, is_test, name, note)


def read_channels(paths: list[Path]) -> list[Recording]:
    """Return the labelled recordings of MSL that lie beside the table, `paths[0]`."""
    segments = read_segments(paths[0])
    present = [path for path in paths[1:] if path.name.partition(".")[0] in segments]
    if not present:
        raise FileFormatError(paths[0], None, "none of its MSL channels lies beside it")
    return [read_channel(path, *segments[path.name.partition(".")[0]]) for path in present]


def read_channel(path: Path, segments: list[tuple[int, int]], n_rows: int) -> Recording:
    """Return one channel's recording; `segments` are (first row, last row) of its anomalies."""
    values = read_npy(path, N_COLUMNS)
    if len(values) != n_rows:
        raise FileFormatError(path, None, f"has {len(values)} rows, the table says {n_rows}")
    anomalous = np.zeros(n_rows, dtype=bool)
    for first, last in segments:
        anomalous[first : last + 1] = True
    return Recording(path.name.partition(".")[0], values, anomalous)


def read_segments(path: Path) -> dict[str, tuple[list[tuple[int, int]], int]]:
    """Return {channel: (anomalous segments, number of rows)} for the channels of MSL."""
    rows = text.lines(path)
    _, header = next(rows, (1, ""))
    if header != "chan_id,spacecraft,anomaly_sequences,class,num_values":
        raise FileFormatError(path, 1, f"unexpected header {header[:60]!r}")
    channels = {}
    for line, row in rows:
        fields = text.fields(path, line, row)
        if len(fields) != 5:
            raise FileFormatError(path, line, f"expected 5 columns, got {len(fields)}")
        if fields[1] == "MSL":
            channels[fields[0]] = _segments(path, line, fields[2], fields[4])
    return channels


def _segments(path: Path, line: int, segments: str, rows: str) -> tuple[list, int]:
    try:
        pairs = [(int(first), int(last)) for first, last in ast.literal_eval(segments)]
        n_rows = int(rows)
    except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError):
        raise FileFormatError(
            path,
            line,
            f"expected [[first, last], ...] and a count, got {segments[:60]!r}, {rows!r}",
        ) from None
    if any(not 0 <= first <= last < n_rows for first, last in pairs):
        raise FileFormatError(path, line, f"segments {pairs} do not fit into {n_rows} rows")
    return pairs, n_rows
