"""RoomOccupancy: 16 sensors of one room, a reading about every 31 seconds, 0 to 3 people.

Windows of 30 readings (about 15 minutes), disjoint, labelled with the count at their last reading;
no window spans a pause of more than 90 seconds. The test part is 23 December 2017, the only whole
day with all four counts; the rest is the training part. Blocks of 240 readings (two hours) are the
groups, because neighbouring windows look alike; the first and the last window of the test day are
dropped, as they touch the training part.
"""

from datetime import datetime
from pathlib import Path

import numpy as np

from posenc_book.data import windows
from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import text

LENGTH = 30
BLOCK = 240
MAX_PAUSE = 90.0
TEST_DAY = "2017/12/23"
CLASSES = ("0", "1", "2", "3")
HEADER = [
    "Date",
    "Time",
    "S1_Temp",
    "S2_Temp",
    "S3_Temp",
    "S4_Temp",
    "S1_Light",
    "S2_Light",
    "S3_Light",
    "S4_Light",
    "S1_Sound",
    "S2_Sound",
    "S3_Sound",
    "S4_Sound",
    "S5_CO2",
    "S5_CO2_Slope",
    "S6_PIR",
    "S7_PIR",
    "Room_Occupancy_Count",
]
PROTOCOL = (
    f"disjoint windows of {LENGTH} readings, label = count at the last reading, no window over a "
    f"pause of more than {MAX_PAUSE:.0f} s; test part = {TEST_DAY} without its first and last "
    f"window, train part = all other days; groups = blocks of {BLOCK} readings; "
    f"16 sensor columns, date and time dropped"
)


def find(folder: Path, name: str) -> list[Path]:
    """Return the one table of the set, or []."""
    del name
    return sorted(folder.glob("Occupancy_Estimation.csv*"))[:1]


def build(paths: list[Path], name: str) -> dict[str, Dataset]:
    """Return the windows of the training days and of the test day."""
    days, seconds, sensors, counts = read_room(paths[0])
    pause = np.concatenate([[0], np.cumsum(np.diff(seconds) > MAX_PAUSE)])
    block = np.arange(len(days)) // BLOCK
    first = windows.starts(windows.borders(days, pause, block), LENGTH)
    data = Dataset(
        x=windows.cut(sensors, first, LENGTH).astype(np.float32),
        y=counts[first + LENGTH - 1],
        classes=CLASSES,
        name=name,
        provenance=PROTOCOL,
        groups=block[first].astype(np.int64),
    )
    is_test = days[first] == TEST_DAY
    return {"train": data.take(~is_test), "test": data.take(windows.interior(is_test))}


def read_room(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return day (string), time (seconds), sensors (n, 16) and count for every reading."""
    rows = text.lines(path)
    _, header = next(rows, (1, ""))
    if header.split(",") != HEADER:
        raise FileFormatError(path, 1, f"expected the header {','.join(HEADER)!r}")
    days, seconds, sensors, counts = [], [], [], []
    for line, row in rows:
        fields = text.fields(path, line, row)
        if len(fields) != len(HEADER):
            raise FileFormatError(path, line, f"expected {len(HEADER)} columns, got {len(fields)}")
        days.append(fields[0])
        seconds.append(_time(path, line, " ".join(fields[:2])))
        sensors.append(text.numbers(path, line, ",".join(fields[2:-1]), missing=False))
        if fields[-1] not in CLASSES:
            raise FileFormatError(path, line, f"count {fields[-1]!r} is not among {CLASSES}")
        counts.append(int(fields[-1]))
    if not days:
        raise FileFormatError(path, None, "holds no readings")
    return np.array(days), np.array(seconds), np.array(sensors), np.array(counts, dtype=np.int64)


def _time(path: Path, line: int, moment: str) -> float:
    try:
        read = datetime.strptime(moment, "%Y/%m/%d %H:%M:%S")
    except ValueError:
        raise FileFormatError(path, line, f"{moment!r} is not a date and a time") from None
    return (read - datetime(2017, 1, 1)).total_seconds()
