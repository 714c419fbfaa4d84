"""Tiny files of every other real format, and what is said about damaged ones."""

import copy
import gzip
import io
import pickle

import numpy as np
import pytest
import scipy.io

from posenc_book import data
from posenc_book.data import registry
from posenc_book.data.formats import arff, ts
from posenc_book.data.formats.array import read_npy
from posenc_book.data.formats.mat import read_mat
from posenc_book.data.formats.table import read_table
from posenc_book.data.sets import emg, msl, room, smd, unimib

ARFF = """\
% a comment
@relation Prices

@attribute t-2 numeric
@attribute t-1 real
@attribute class {0,1}

@data
1.5,-2,0
?,3,1
"""


def build(name, folder):
    layout = registry.ENTRIES[name].layout
    return layout.build(layout.find(folder, name), name)


@pytest.mark.parametrize("again", [copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("problem", ["label 'x' is not there", "x" * 5000])
def test_an_error_about_a_file_survives_the_way_between_processes(again, problem):
    error = data.FileFormatError("rides_TRAIN.ts", 7, problem)
    other = again(error)
    assert type(other) is data.FileFormatError
    assert (str(other), other.path, other.line) == (str(error), error.path, error.line)


def test_arff(tmp_path):
    path = tmp_path / "one.arff"
    path.write_text(ARFF)
    series, labels, classes = arff.read_series(path)
    np.testing.assert_array_equal(series[0], [[1.5], [-2]])
    np.testing.assert_array_equal(series[1], [[np.nan], [3]])
    np.testing.assert_array_equal(labels, [0, 1])
    assert classes == ("0", "1")


HEADERS = {
    ts: "@univariate true\n@classLabel true a b c\n@data\n",
    arff: "@relation Rows\n@attribute t numeric\n@attribute class {a,b,c}\n@data\n",
}


@pytest.mark.parametrize(("reader", "between"), [(ts, ":"), (arff, ",")], ids=["ts", "arff"])
def test_each_of_many_series_keeps_its_own_label(tmp_path, reader, between):
    meant = np.random.default_rng(0).integers(0, 3, 300)
    rows = [f"{i}{between}{'abc'[label]}\n" for i, label in enumerate(meant)]
    (tmp_path / "many").write_text(HEADERS[reader] + "".join(rows))
    series, labels, _ = reader.read_series(tmp_path / "many")
    assert labels.tolist() == meant.tolist()
    assert np.ravel(series).tolist() == list(range(300))


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("1.5,-2,0", "1.5,-2,2"), 9, "not among"),
        (("1.5,-2,0", "1.5,0"), 9, "expected 2 values, got 1"),
        (("1.5", "1e39"), 9, "1e39 is beyond the 32-bit numbers"),
        (("1.5,-2", "?,?"), 9, "every step of the series has a missing value"),
        (("@data", "@dada"), 8, "got '@dada'"),
        ((ARFF, ""), None, "without a @data"),
        (("t-1 real", "t-1 string"), 5, "numeric"),
        (("@attribute class {0,1}\n", ""), 7, "nominal class"),
        (("1.5,-2,0\n?,3,1\n", ""), None, "no series"),
    ],
)
def test_wrong_arff(tmp_path, change, line, message):
    path = tmp_path / "wrong.arff"
    path.write_text(ARFF.replace(*change))
    with pytest.raises(data.FileFormatError, match=r"wrong\.arff") as caught:
        arff.read_series(path)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_table(tmp_path):
    path = tmp_path / "t.txt.gz"
    path.write_bytes(gzip.compress(b"a\tb\r\n1\t2\r\n\r\n3\t4.5\r\n"))
    values = read_table(path, 2, delimiter="\t", header=1)
    np.testing.assert_array_equal(values, [[1, 2], [3, 4.5]])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"1,2\n3\n", 2, "expected 2 columns, got 1"),
        (b"1,2\n\n3,4,5\n", 3, "expected 2 columns, got 3"),
        (b"1,2\n3,x\n", 2, "'x'"),
        (b"1,2\n3,nan\n", 2, "missing"),
        (b"1,inf\n", 1, "finite"),
        (b"\n", None, "no rows"),
        (b"1,2\n3,-1e39\n", 2, "-1e39 is beyond the 32-bit numbers"),
    ],
)
def test_wrong_table(tmp_path, content, line, message):
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    with pytest.raises(data.FileFormatError) as caught:
        read_table(path, 2)
    assert caught.value.line == line
    assert message in str(caught.value)


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def test_npy(tmp_path):
    path = tmp_path / "a.npy.gz"
    path.write_bytes(gzip.compress(npy(np.arange(6.0).reshape(3, 2))))
    np.testing.assert_array_equal(read_npy(path, 2), [[0, 1], [2, 3], [4, 5]])


def test_npy_is_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (exec, (f"open({str(tmp_path / 'sprung')!r}, 'w')",))

    path = tmp_path / "a.npy"
    path.write_bytes(npy(np.array([[Trap(), 1]], dtype=object), allow_pickle=True))
    with pytest.raises(data.FileFormatError, match="not a plain NumPy array"):
        read_npy(path, 2)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.zeros((3, 4)), ""),
        (np.zeros(2), ""),
        ([["a", "b"]], ""),
        ([[1, np.nan]], ""),
        ([[1, 2], [3, -1e39]], r": row 1 holds a number .* 32 bits: -1e\+39"),
    ],
)
def test_wrong_npy(tmp_path, rows, said):
    path = tmp_path / "a.npy"
    path.write_bytes(npy(np.array(rows)))
    with pytest.raises(data.FileFormatError, match=rf"a\.npy{said}"):
        read_npy(path, 2)


def write_room(folder, days, gap_after=None):
    rows = [",".join(room.HEADER)]
    second = 0
    for day, n in days:
        for i in range(n):
            second = 30 * i + (600 if gap_after is not None and i > gap_after else 0)
            clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
            rows.append(f"{day},{clock}," + ",".join([str(i)] * 16) + f",{i % 4}")
    (folder / "Occupancy_Estimation.csv").write_text("\n".join(rows) + "\n")


def test_room(tmp_path):
    write_room(tmp_path, [("2017/12/22", 70), ("2017/12/23", 150), ("2017/12/24", 60)])
    parts = build("RoomOccupancy", tmp_path)
    train, test = parts["train"], parts["test"]
    assert train.x.shape == (3, 30, 16)  # 2 of the first day, 1 of the last; remainders dropped
    assert len(test) == 3  # of 5 windows, the outer ones touch the training part
    assert (np.diff(train.x[:, :, 0], axis=1) == 1).all()  # no window spans a border
    np.testing.assert_array_equal(test.y, test.x[:, -1, 0] % 4)


def test_room_windows_do_not_span_pauses(tmp_path):
    write_room(tmp_path, [("2017/12/22", 70), ("2017/12/23", 95)], gap_after=20)
    parts = build("RoomOccupancy", tmp_path)
    assert parts["train"].x[:, 0, 0].tolist() == [21]
    assert parts["test"].x[:, 0, 0].tolist() == [51]


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("S1_Temp", "Temp"), 1, "header"),
        (("00:00:30", "noon"), 3, "not a date"),
        ((",1,1,1,", ",1,1,"), 3, "columns"),
        ((",1,1\n", ",1,9\n"), 3, "count '9'"),
        ((",1,1,1,", ",1,x,1,"), 3, "'x'"),
    ],
)
def test_wrong_room(tmp_path, change, line, message):
    write_room(tmp_path, [("2017/12/22", 4)])
    path = tmp_path / "Occupancy_Estimation.csv"
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(data.FileFormatError) as caught:
        build("RoomOccupancy", tmp_path)
    assert caught.value.line == line
    assert message in str(caught.value)


def write_emg(folder, subject, runs):
    lines = ["time\t" + "\t".join(f"channel{i}" for i in range(1, 9)) + "\tclass"]
    row = 0
    for gesture, n in runs:
        for _ in range(n):
            lines.append("\t".join(map(str, [row, *[gesture + row / 1e4] * 8, gesture])))
            row += 1
    path = folder / "EMG" / subject / "1_raw_data_x.txt"
    path.parent.mkdir(parents=True)
    path.write_text("\r\n".join(lines) + "\r\n")


def test_emg(tmp_path):
    write_emg(tmp_path, "01", [(0, 100), (1, 65), (0, 10), (6, 35), (7, 90)])
    write_emg(tmp_path, "05", [(2, 31), (3, 29)])
    parts = build("EMGGestures", tmp_path)
    train, test = parts["train"], parts["test"]
    assert train.x.shape == (3, 30, 8)
    np.testing.assert_array_equal(train.y, [0, 0, 5])
    np.testing.assert_array_equal(test.y, [1])
    assert set(train.groups) == {1}
    assert set(test.groups) == {5}
    assert (np.floor(train.x) == (train.y + 1)[:, None, None]).all()  # one gesture in a window
    assert "2 of 72 recordings" in train.provenance


def test_an_unseen_class_in_sets_that_are_cut_into_windows(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    write_emg(tmp_path / "EMGGestures", "01", [(1, 40)])
    write_emg(tmp_path / "EMGGestures", "05", [(1, 40), (2, 40)])
    with pytest.raises(data.DataError, match=r"EMGGestures: .* test part holds the class 'fist'"):
        data.load("EMGGestures", "train")


def write_machine(folder, machine, values, labels):
    for part, table in (("test", values), ("test_label", labels)):
        (folder / part).mkdir(exist_ok=True, parents=True)
        np.savetxt(folder / part / f"{machine}.txt", table, fmt="%g", delimiter=",")


def test_smd(tmp_path):
    n_rows = 4000
    values = np.tile(np.arange(n_rows)[:, None] / n_rows, (1, smd.N_COLUMNS))
    labels = np.zeros(n_rows)
    labels[2990:3120] = 1  # lies across the border at 3000
    write_machine(tmp_path / "Server", "machine-1-2", values, labels)
    write_machine(tmp_path / "Server", "machine-2-4", values, labels)
    parts = build("SMD", tmp_path)
    train, test = parts["train"], parts["test"]
    assert train.x.shape[1:] == (50, 38)
    rows = np.rint(train.x[:, [0, -1], 0] * n_rows)
    late = np.rint(test.x[:, 0, 0] * n_rows)
    assert rows.max() < 3120 + 50  # the border moved past the anomaly
    assert late.min() >= 3120 + 50  # and a window was left out
    assert train.y.sum() == 2 * 3
    assert test.y.sum() == 0
    assert not set(train.groups) & set(test.groups)
    assert "2 of 28 machines" in train.provenance


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros(59), "59 labels for the 60 rows"),
        (np.full(60, 2), "line 1: a label must be 0 or 1"),
    ],
)
def test_wrong_smd(tmp_path, labels, said):
    write_machine(tmp_path, "machine-1-1", np.zeros((60, smd.N_COLUMNS)), labels)
    with pytest.raises(data.FileFormatError, match=said):
        build("SMD", tmp_path)


MSL_TABLE = """\
chan_id,spacecraft,anomaly_sequences,class,num_values
P-1,SMAP,"[[2, 4]]",[point],120
A-1,MSL,"[[60, 61]]",[point],120
B-1,MSL,"[[0, 0], [119, 119]]","[point, point]",120
C-1,MSL,"[[10, 20]]",[point],120
"""


def write_msl(folder, table=MSL_TABLE, channels="ABC"):
    (folder / "test").mkdir(exist_ok=True)
    (folder / "labeled_anomalies.csv").write_text(table)
    for channel in channels:
        np.save(folder / "test" / f"{channel}-1.npy", np.zeros((120, msl.N_COLUMNS)))


def test_msl(tmp_path):
    write_msl(tmp_path)
    np.save(tmp_path / "test" / "P-1.npy", np.zeros((120, 25)))  # of the other spacecraft
    parts = build("MSL", tmp_path)
    assert parts["train"].x.shape == (4, 50, 55)
    np.testing.assert_array_equal(parts["train"].y, [0, 1, 1, 0])
    np.testing.assert_array_equal(parts["test"].y, [1, 0])
    assert "3 of 27 channels" in parts["test"].provenance


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("spacecraft", "ship"), 1, "header"),
        (('"[[60, 61]]"', '"[[60]]"'), 3, "[[60]]"),
        (('"[[60, 61]]"', '"[[60, 161]]"'), 3, "do not fit into 120 rows"),
        ((",[point],120\nB", ",[point]\nB"), 3, "5 columns"),
        (("point],120\nB", "point],121\nB"), None, "has 120 rows, the table says 121"),
        (('"[[60, 61]]"', "__import__('os')"), 3, "expected [[first, last]"),
    ],
)
def test_wrong_msl(tmp_path, change, line, message):
    write_msl(tmp_path, MSL_TABLE.replace(*change))
    with pytest.raises(data.FileFormatError) as caught:
        build("MSL", tmp_path)
    assert caught.value.line == line
    assert message in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_a_mat_file_is_read_as_scipy_reads_it(tmp_path, dtype, packed):
    path, values = tmp_path / "a.mat", np.arange(12).reshape(4, 3).astype(dtype)
    others = {"word": "text", "x" * 31: np.ones((2, 2)), "wide": np.ones((2, 3), complex)}
    scipy.io.savemat(path, {**others, "v": values}, do_compression=packed)
    np.testing.assert_array_equal(read_mat(path, "v", 3), scipy.io.loadmat(path)["v"])
    np.testing.assert_array_equal(read_mat(path, "x" * 31, 2), np.ones((2, 2)))
    for name, message in [("word", "real numbers"), ("wide", "real numbers"), ("w", "no variable")]:
        with pytest.raises(data.FileFormatError, match=message):
            read_mat(path, name, 3)


def test_a_mat_file_of_a_machine_with_the_other_order_of_bytes(tmp_path):
    def element(kind, content):
        return np.array([kind, len(content)], ">u4").tobytes() + content + bytes(-len(content) % 8)

    parts = [(6, np.array([6, 0], ">u4")), (5, np.array([2, 1], ">i4")), (1, np.array([b"v"]))]
    parts.append((3, np.array([300, -2], ">i2")))  # numbers stand as short as they can
    body = b"".join(element(kind, part.tobytes()) for kind, part in parts)
    path = tmp_path / "a.mat"
    path.write_bytes(b"by hand".ljust(124) + b"\x01\x00MI" + element(14, body))
    np.testing.assert_array_equal(read_mat(path, "v", 1), [[300], [-2]])
    np.testing.assert_array_equal(scipy.io.loadmat(path)["v"], [[300], [-2]])


def test_a_mat_file_that_is_cut_off_or_of_another_version_is_refused(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"v": np.ones((4, 3))})
    whole = path.read_bytes()
    for content, message in [
        (whole[:-8], "promises 144 bytes, holds 136"),
        (whole[:133], "ends within an element"),
        (whole[:124] + b"\x00\x02IM" + whole[128:], "no header of version 5; save it with -v6"),
        (whole.replace(b"\x04\x00\x00\x00\x03", b"\x04\x00\x00\x00\xff"), "reshape"),
    ]:
        path.write_bytes(content)
        with pytest.raises(data.FileFormatError, match=message):
            read_mat(path, "v", 3)


def write_unimib(folder, values, labels):
    scipy.io.savemat(folder / "adl_data.mat", {"adl_data": values})
    scipy.io.savemat(folder / "adl_labels.mat", {"adl_labels": labels})


def test_unimib(tmp_path):
    values = np.arange(3.0 * 453).reshape(3, 453)
    write_unimib(tmp_path, values, [[1, 4, 1], [9, 5, 1], [2, 30, 2]])
    parts = build("UniMiB-SHAR", tmp_path)
    assert parts["train"].x.shape == (1, 151, 3)
    np.testing.assert_array_equal(parts["train"].x[0, 0], [0, 151, 302])
    np.testing.assert_array_equal(parts["test"].y, [8, 1])
    np.testing.assert_array_equal(parts["test"].groups, [5, 30])


@pytest.mark.parametrize(
    ("values", "labels", "said"),
    [
        (np.zeros((2, 453)), [[1, 1, 1]], "1 labels for 2 windows"),
        (np.zeros((1, 453)), [[10, 1, 1]], "1 to 9"),
        (np.full((1, 453), 4e38), [[1, 1, 1]], r"finite in 32 bits: 4e\+38 in row 0"),
        (np.zeros((1, 450)), [[1, 1, 1]], "453"),
    ],
)
def test_wrong_unimib(tmp_path, values, labels, said):
    write_unimib(tmp_path, values, labels)
    with pytest.raises(data.FileFormatError, match=said):
        build("UniMiB-SHAR", tmp_path)


def test_every_layout_says_when_nothing_is_there(tmp_path):
    for layout in (emg, msl, room, smd, unimib):
        assert layout.find(tmp_path, "any") == []
        assert layout.find(tmp_path / "absent", "any") == []
