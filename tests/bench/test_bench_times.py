"""A set that keeps the times of its steps is trained on them and, beside that, on numbers."""

import numpy as np
import pytest
import torch

from posenc_book import data
from posenc_book.bench import build, grid, parts
from posenc_book.bench.train import train
from posenc_book.command_line import main
from posenc_book.data.from_csv import convert
from posenc_book.records import paired
from posenc_book.records.settings import Settings, profile
from posenc_book.records.store import Store


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a set whose times rise by chance, and whose values say which time they belong to."""
    folder, rng = tmp_path_factory.mktemp("timed"), np.random.default_rng(0)
    rows = ["run,kind,when,value"]
    for run in range(24):
        when = np.cumsum(rng.uniform(0.1, 3, size=10 + run % 3)).round(4)
        when -= when[0]
        rows += [f"{run},{'ab'[run % 2]},{t},{100 * run + t}" for t in when]
    (folder / "runs.csv").write_text("\n".join(rows))
    convert(folder / "runs.csv", folder / "data" / "Runs", label="kind", series="run", time="when")
    return folder


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(folder / "data"))
    monkeypatch.setenv("POSENC_CACHE", str(folder / "cache"))


def cell(encoding="rotary", **changes):
    return Settings(encoding, "time_series", "Runs", **{**profile("smoke"), **changes})


@pytest.mark.parametrize("resample", [0, 2])
def test_every_value_keeps_its_time(resample):
    unit = None
    for part in parts._resampled("Runs", {}, resample):
        mask = np.ones(part.x.shape[:2], bool) if part.mask is None else part.mask
        values = part.x[:, :, 0].astype(float)
        seconds = values - values[:, :1]
        apart = np.diff(part.times, axis=1)
        assert (apart > 0).all()
        real = mask[:, 1:]
        unit = unit or seconds[0, 1] / part.times[0, 1]
        np.testing.assert_allclose(seconds[:, 1:][real], unit * part.times[:, 1:][real], atol=2e-3)
        np.testing.assert_allclose(apart[~real], 1)


def test_the_model_gets_the_times_as_such():
    with_times = parts.load_parts(cell(), torch.device("cpu"))
    assert with_times.timed
    assert with_times.n_channels == 1
    x, mask = with_times.test.first(4)
    made = build.model(cell(), 1, 2, with_times.length).eval()
    expected = made(x[..., :1], mask, times=x[..., 1])
    torch.testing.assert_close(build.OnTimes(made)(x, mask), expected)
    assert not torch.allclose(made(x[..., :1], mask), expected)
    counted = parts.load_parts(cell(dataset_options={"clock": "indices"}), torch.device("cpu"))
    assert not counted.timed
    torch.testing.assert_close(counted.test.x, with_times.test.x[..., :1])


def test_a_stack_on_times_trains_as_each_alone():
    cells = [cell(seed=seed, split_seed=seed, resample=seed) for seed in range(2)]
    together = train(cells)
    for one, score in zip(cells, together, strict=True):
        alone = train([one])[0]
        assert alone["validation_loss"] == pytest.approx(score["validation_loss"], rel=1e-4)
        assert alone["accuracy"] == score["accuracy"]


def test_a_set_that_keeps_times_is_trained_on_both_clocks(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["run", "--datasets", "Runs", "--encodings", "none", "rotary", "relative", "--models",
             "time_series", "--profile", "smoke", "--seeds", "2", "--engine", "serial", "--device",
             "cpu", "--out", "runs.jsonl"]  # fmt: skip
    assert main(asked) == 0
    assert "Runs, time_series: relative cannot stand at such times" in capsys.readouterr().err
    stored = list(Store(tmp_path / "runs.jsonl"))
    clocks = {(r["encoding"], r["settings"]["dataset_options"]["clock"]) for r in stored}
    assert clocks == {("none", "times"), ("none", "indices"), ("rotary", "times"),
                      ("rotary", "indices"), ("relative", "indices")}  # fmt: skip
    [gain] = paired.times_gains(stored, "time_series")
    assert (gain.dataset, gain.encoding) == ("Runs", "rotary")
    score = {(r["encoding"], r["settings"]["dataset_options"]["clock"], r["seed"]):
             r["metrics"]["accuracy"] for r in stored}  # fmt: skip
    apart = [score["rotary", "times", s] - score["rotary", "indices", s] for s in range(2)]
    assert gain.differences == pytest.approx(apart)
    assert main(["report", "runs.jsonl"]) == 0
    report = (tmp_path / "runs" / "report.md").read_text()
    assert "| gain in accuracy of times over numbers | rotary |" in report


def test_only_what_keeps_times_is_doubled():
    assert grid.both_clocks(["Runs", "Runs:clock=times", "range_probe:n=8", "nowhere at all"]) == [
        "Runs:clock=times", "Runs:clock=indices", "Runs:clock=times", "range_probe:n=8",
        "nowhere at all",
    ]  # fmt: skip


def test_encodings_that_only_count_are_refused_alone(capsys, tmp_path):
    asked = ["run", "--datasets", "Runs:clock=times", "--encodings", "relative", "--models",
             "time_series", "--profile", "smoke", "--engine", "serial"]  # fmt: skip
    assert main([*asked, "--out", str(tmp_path / "runs.jsonl")]) == 2
    assert "encodings must be such as can stand at the sets' times" in capsys.readouterr().err


def test_times_need_no_lost_steps_and_no_other_option():
    assert data.load("Runs", "test", clock="times").times is not None
    assert data.load("Runs", "test", lost=0.5, clock="indices").times is None
    with pytest.raises(ValueError, match="option clock of Runs must be one of times, indices"):
        data.load("Runs", "test", clock="time")
    assert data.fingerprint("Runs") != data.fingerprint("Runs", clock="indices")
