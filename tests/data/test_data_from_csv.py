"""A table of one's own becomes a data set: what is read, how it is shared out, what is refused."""

from pathlib import Path

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data import dataset
from posenc_book.data.__main__ import main
from posenc_book.data.errors import DataError, FileFormatError
from posenc_book.data.from_csv import convert

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
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
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
        (GOOD, {"leave_out": ["a", "b"]}, "line 1: no column is left"),
        (GOOD.replace("up,1,2\n", "up,1\n", 1), {}, "line 2: expected 3 columns"),
        (GOOD.replace("up,1,2\n", "up,x,2\n", 1), {}, r"line 2: expected a number or \?, got 'x'"),
        (GOOD.replace("up", "down"), {}, "two classes or more"),
        (GOOD.replace("up,1,2\n", "", 1), {}, "class 'up' has one series"),
        (GOOD.replace("up", ""), {}, "no label"),
        (GOOD.replace("up", "a b").replace("down", "a:b"), {}, "two of its labels become one"),
        (GOOD, {"series": "a"}, "line 4: series '1' had another class or group"),
        (GOOD, {"group": "a"}, "share out 1 groups"),
        ("", {}, "line 1: label must be"),
        (GOOD.replace("1,2", ",?", 1), {}, "line 2: every step of the series has a missing value"),
        (GOOD.replace("up,1,2", 'up,"1,2', 1), {}, r"line 2: expected 3 .* goes on to line 5"),
        (GOOD.replace("up,1,2", f'up,"1,{200_000 * "x"}', 1), {}, "line 2: .* have no end"),
        (GOOD.encode("utf-16"), {}, "line 1: not UTF-8 text; save the table as CSV in UTF-8"),
        (GOOD, {"time": "a"}, "line 1: time 'a' needs a column .* add --series"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, content, options, said):
    path = put(tmp_path, content)
    with pytest.raises(FileFormatError, match=said):
        convert(path, tmp_path / "Moves", **options)
    assert not (tmp_path / "Moves").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decimal": "'"}, 'decimal must be . or a comma, got "\'"'),
        ({"time_format": "%Y-%m-%d %H:%m"}, "time_format must be such as .*: a sign stands .* twi"),
        ({"time_format": "%Q"}, "time_format must be such as .* got '%Q': 'Q' is a bad directive"),
        ({"test": 30}, r"test must be a share between 0 and 1, got 30\.0"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        convert(put(tmp_path, GOOD), tmp_path / "Moves", **options)


@pytest.mark.parametrize("name", ["My Moves", "a\nb", "", "..", "elevator", "Libras", "x" * 101])
def test_what_load_would_not_take_is_not_written(tmp_path, name):
    folder = tmp_path / "sets" / name if name else Path()
    with pytest.raises(DataError, match="the folder's name must"):
        convert(put(tmp_path, GOOD), folder)
    assert [one.name for one in tmp_path.iterdir()] == ["moves.csv"]


def test_what_cannot_be_read_again_is_not_written(tmp_path, monkeypatch):
    """One long series among many would be padded beyond all measure."""
    monkeypatch.setattr(dataset, "MOST_PADDED", 1000)
    short = "".join(f"{i},{'ab'[i % 2]},1\n" for i in range(300))
    path = put(tmp_path, "take,label,x\n" + short + "long,a,1\n" * 2000)
    with pytest.raises(DataError, match=r"moves\.csv: what was made of it cannot be read .*padd"):
        convert(path, tmp_path / "Moves", series="take")
    assert not (tmp_path / "Moves").exists()


def test_line_breaks_in_quotes_and_a_named_delimiter_are_read(tmp_path, monkeypatch):
    rows = 'sep=;\nlabel;"x, of\n the hand"\n' + 2 * '"up\nand down";1\n' + 2 * "side;2\n"
    convert(put(tmp_path, rows), tmp_path / "data" / "Moves")
    train, _ = parts(tmp_path, monkeypatch)
    assert train.classes == ("side", "up_and_down")


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_point_that_may_be_one_of_thousands_is_asked_about(tmp_path, monkeypatch, sign):
    table = f"label{sign}a\n" + "".join(f"{'ud'[i % 2]}{sign}{i + 1}.000\n" for i in range(4))
    with pytest.raises(FileFormatError, match=r"line 2: 1\.000 may be 1000 .* --decimal \. if"):
        convert(put(tmp_path, table), tmp_path / "Moves")
    convert(put(tmp_path, table), tmp_path / "data" / "Moves", decimal=".")
    train, test = parts(tmp_path, monkeypatch)
    assert sorted([*train.x.flat, *test.x.flat]) == [1, 2, 3, 4]
    with pytest.raises(FileFormatError, match=r"line 2: '1\.000' has a point .* leave out"):
        convert(put(tmp_path, table), tmp_path / "Other", decimal=",")
    settled = f"{table}u{sign}0.5\n"
    assert "5 series" in convert(put(tmp_path, settled), tmp_path / "Settled")
    commas = table.replace(".000", ",5")
    convert(put(tmp_path, commas), tmp_path / "data" / "Commas", decimal=",")
    train, test = parts(tmp_path, monkeypatch, "Commas")
    assert sorted([*train.x.flat, *test.x.flat]) == [1.5, 2.5, 3.5, 4.5]


def timed(times):
    """Return a table of six runs with these times, whose values say which time they belong to."""
    return "run,label,when,x\n" + "".join(
        f"{run},{'ab'[run % 2]},{time},{step}\n"
        for run in range(6)
        for step, time in enumerate(times)
    )


@pytest.mark.parametrize(
    ("times", "options", "expected"),
    [
        (["10", "10.5", "11", "13"], {}, [0, 1, 2, 6]),
        (["2020-03-01 10:00:00", "2020-03-01 10:00:30", "2020-03-01 10:02"], {}, [0, 0.5, 2]),
        (["1.3.2020 10:00", "2.3.2020 10:00"], {"time_format": "%d.%m.%Y %H:%M"}, [0, 1]),
        (["1700000000", "1700000002", "1700000003"], {}, [0, 4 / 3, 2]),
        (["5"], {}, [0]),
    ],
)
def test_times_are_kept_in_a_unit_of_the_median_step(
    tmp_path, monkeypatch, times, options, expected
):
    path = put(tmp_path, timed(times))
    asked = {"series": "run", "time": "when", **options}
    said = convert(path, tmp_path / "data" / "Moves", **asked)
    assert "times in units of" in said
    for part in parts(tmp_path, monkeypatch):
        np.testing.assert_allclose(part.times, np.tile(expected, (len(part), 1)), rtol=1e-9)
        assert part.x[0, :, 0].tolist() == list(range(len(times)))


def test_times_are_packed_and_carried(tmp_path, monkeypatch):
    asked = {"series": "run", "time": "when"}
    convert(put(tmp_path, timed(["0", "1", "3"])), tmp_path / "data" / "Moves", **asked)
    read = parts(tmp_path, monkeypatch)
    again = parts(tmp_path, monkeypatch)  # from the cache
    assert main(["pack", "Moves", "--out", str(tmp_path / "packed")]) == 0
    monkeypatch.setenv("POSENC_DATA", str(tmp_path / "packed"))
    carried = [data.load("Moves", split) for split in ("train", "test")]
    for one, kept, sent in zip(read, again, carried, strict=True):
        assert np.array_equal(one.times, kept.times)
        assert np.array_equal(one.times, sent.times)


def test_how_uneven_times_are_is_said(tmp_path):
    asked = {"series": "run", "time": "when"}
    even = convert(put(tmp_path, timed(["0", "0.05", "0.10"])), tmp_path / "Even", **asked)
    assert even.endswith("times in units of 0.05: all steps are equally long, as if counted")
    uneven = convert(put(tmp_path, timed(["0", "1", "3", "4", "12"])), tmp_path / "Odd", **asked)
    assert uneven.endswith(
        "times in units of 1.5, the median step: nine in ten steps last 0.67 to 5.3 of it, the "
        "longest 5.33"
    )


@pytest.mark.parametrize(
    ("times", "options", "said"),
    [
        (["1", "1"], {}, "line 3: the time 1 of series '0' is the same as the one before it"),
        (["2", "1"], {}, "line 3: the time 1 of series '0' is earlier than the one before it"),
        (["1", "2020-01-01"], {}, "line 3: the time '2020-01-01' is no number as the first time"),
        (["", "1"], {}, "line 2: no time in the column 'when'"),
        (["1", "2"], {"time_format": "%Y"}, "line 2: '1' is no time of the form %Y"),
    ],
)
def test_times_that_are_none_are_named(tmp_path, times, options, said):
    path, asked = put(tmp_path, timed(times)), {"series": "run", "time": "when", **options}
    with pytest.raises(FileFormatError, match=said):
        convert(path, tmp_path / "Moves", **asked)
    assert not (tmp_path / "Moves").exists()


def test_a_set_of_unequal_lengths_goes_on_counting_behind_its_times(tmp_path, monkeypatch):
    rows = "run,label,when,x\n" + "".join(
        f"{run},{'ab'[run % 2]},{2 * step},{step}\n" for run in range(4) for step in range(2 + run)
    )
    convert(put(tmp_path, rows), tmp_path / "data" / "Moves", series="run", time="when")
    for part in parts(tmp_path, monkeypatch):
        assert part.times.tolist() == [[0, 1, 2, 3, 4]] * len(part)
        assert (part.mask.sum(1) < 5).any()


def test_the_command_says_what_it_has_written(tmp_path, capsys):
    path, folder = put(tmp_path, WIDE), tmp_path / "data" / "Moves"
    words = ["from-csv", str(path), "--out", str(folder), "--label", "move", "--leave-out", "id"]
    assert main([*words, "--test", "0.5"]) == 0
    assert "10 to learn from, 10 to test on" in capsys.readouterr().out
    (folder / "Moves_TRAIN.ts").write_text("mine")
    assert main(words) == 1
    assert "Moves_TRAIN.ts is there already" in capsys.readouterr().err
    assert (folder / "Moves_TRAIN.ts").read_text() == "mine"
    timed_words = [str(put(tmp_path, timed(["0", "2", "3"]))), "--series", "run", "--time", "when"]
    assert main(["from-csv", *timed_words, "--out", str(tmp_path / "data" / "Timed")]) == 0
    assert "times in units of 1.5, the median step" in capsys.readouterr().out
