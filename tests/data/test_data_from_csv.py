"""A table of one's own becomes a data set: what is read, how it is shared out, what is refused."""

import numpy as np
import pytest

from posenc import data
from posenc.data.__main__ import main
from posenc.data.errors import DataError, FileFormatError
from posenc.data.from_csv import convert

WIDE = "id,move,t0,t1,t2\n" + "".join(
    f"{i},{'push' if i % 2 else 'left pull'},{i},{i + 0.5},{-i}\n" for i in range(20)
)
LONG = "take;who;move;seconds;x;y\n" + "".join(
    f"{take};{take % 5};{'push' if take // 5 % 2 else 'pull'};{step / 10};{take};{step}\n"
    for take in range(20)
    for step in range(3 + take % 2)
)


def put(tmp_path, content, name="moves.csv"):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def parts(tmp_path, monkeypatch, name="Moves"):
    monkeypatch.setenv("POSENC_DATA", str(tmp_path / "data"))
    return [data.load(name, split) for split in ("train", "test")]


def test_a_row_can_be_a_series(tmp_path, monkeypatch):
    path = put(tmp_path, WIDE)
    said = convert(path, tmp_path / "data" / "Moves", label="move", leave_out=["id"])
    assert said == (
        "Moves: 20 series of 3 steps, 1 channel; 14 to learn from, 6 to test on; "
        "classes left_pull (10), push (10)"
    )
    train, test = parts(tmp_path, monkeypatch)
    assert train.classes == ("left_pull", "push")
    assert np.bincount(test.y).tolist() == [3, 3]
    both = np.concatenate([train.x, test.x])[:, :, 0]
    labels = np.concatenate([train.y, test.y])
    order = both[:, 0].argsort()
    assert np.array_equal(both[order], [[i, i + 0.5, -i] for i in range(20)])
    assert np.array_equal(labels[order], np.arange(20) % 2)


def test_a_row_can_be_a_step(tmp_path, monkeypatch):
    path = put(tmp_path, LONG)
    options = {"label": "move", "series": "take", "leave_out": ["seconds", "who"]}
    said = convert(path, tmp_path / "data" / "Moves", **options)
    assert "20 series of 3 to 4 steps, 2 channels" in said
    train, test = parts(tmp_path, monkeypatch)
    for part in (train, test):
        for x, y, real in zip(part.x, part.y, part.mask, strict=True):
            take = int(x[0, 0])
            assert real.sum() == 3 + take % 2
            assert np.array_equal(x[real, 1], np.arange(3 + take % 2))
            assert part.classes[y] == ("push" if take // 5 % 2 else "pull")


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_whole(tmp_path, monkeypatch, seed):
    path = put(tmp_path, LONG)
    folder = tmp_path / "data" / "Moves"
    options = {"label": "move", "series": "take", "leave_out": ["seconds"], "group": "who"}
    convert(path, folder, seed=seed, **options)
    train, test = parts(tmp_path, monkeypatch)
    who = [{int(x[0, 0]) % 5 for x in part.x} for part in (train, test)]
    assert not who[0] & who[1]
    assert len(test) >= 6


def test_another_seed_draws_another_test_part(tmp_path):
    path = put(tmp_path, WIDE)
    for i, seed in enumerate((0, 0, 1)):
        convert(path, tmp_path / str(i) / "M", label="move", seed=seed)
    first, again, other = ((tmp_path / str(i) / "M" / "M_TEST.ts").read_text() for i in range(3))
    assert first == again != other


def test_gaps_are_masked(tmp_path, monkeypatch):
    rows = "label\ta\tb\n" + "up\t1\t\nup\tNA\t2\ndown\t?\t4\ndown\t5\t6\n"
    convert(put(tmp_path, rows), tmp_path / "data" / "Moves", test=0.5)
    train, test = parts(tmp_path, monkeypatch)
    assert sum(int((~part.mask).sum()) for part in (train, test)) == 3


GOOD = "label,a,b\nup,1,2\nup,1,2\ndown,1,2\ndown,1,2\n"


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (GOOD, {"label": "class"}, r"line 1: label must be one of the columns .*'class'"),
        (GOOD, {"series": "take"}, r"line 1: series must be one of the columns .*'take'"),
        (GOOD, {"leave_out": ["time"]}, "line 1: has no column 'time'"),
        (GOOD, {"leave_out": ["a", "b"]}, "line 1: no column is left"),
        (GOOD.replace("up,1,2\n", "up,1\n", 1), {}, "line 2: expected 3 columns"),
        (GOOD.replace("up,1,2\n", "up,x,2\n", 1), {}, r"line 2: expected a number or \?, got 'x'"),
        (GOOD.replace("up,1", 'up,"1,5"', 1), {}, "line 2: .*decimal point, got '1,5'"),
        (GOOD.replace("up", "down"), {}, "two classes or more"),
        (GOOD.replace("up,1,2\n", "", 1), {}, "class 'up' has one series"),
        (GOOD.replace("up", ""), {}, "no label"),
        (GOOD.replace("up", "a b").replace("down", "a:b"), {}, "two of its labels become one"),
        (GOOD, {"series": "a"}, "line 4: series '1' had another class or group"),
        (GOOD, {"group": "a"}, "share out 1 groups"),
        ("", {}, "line 1: label must be"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, content, options, said):
    path = put(tmp_path, content)
    with pytest.raises(FileFormatError, match=said):
        convert(path, tmp_path / "Moves", **options)
    assert not (tmp_path / "Moves").exists()


def test_a_share_is_a_share(tmp_path):
    with pytest.raises(ValueError, match=r"test must be a share between 0 and 1, got 30\.0"):
        convert(put(tmp_path, GOOD), tmp_path / "Moves", test=30)


def test_no_file_is_written_over(tmp_path):
    path = put(tmp_path, GOOD)
    convert(path, tmp_path / "Moves")
    with pytest.raises(DataError, match=r"Moves_TRAIN\.ts is there already"):
        convert(path, tmp_path / "Moves")


def test_the_command_says_what_it_has_written(tmp_path, capsys):
    path, folder = put(tmp_path, WIDE), tmp_path / "data" / "Moves"
    words = ["from-csv", str(path), "--out", str(folder), "--label", "move", "--leave-out", "id"]
    assert main([*words, "--test", "0.5"]) == 0
    assert "10 to learn from, 10 to test on" in capsys.readouterr().out
    assert main(words) == 1
    assert "is there already" in capsys.readouterr().err
