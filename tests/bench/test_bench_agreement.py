"""A device beside the processor; where the tests run, that is the processor itself."""

import json
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from posenc_book.bench import agreement, dropout, ownfile
from posenc_book.bench.agreement import Course
from posenc_book.command_line import main
from posenc_book.records import records


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("agreement") / "new" / "agreement.json"
    assert main(["agree", "--device", "cpu", "--out", str(path)]) == 0
    return path


def test_the_processor_agrees_with_itself(stored):
    found = json.loads(stored.read_text())
    assert found["made_by"] == "posenc bench agree"
    (device,) = found["devices"]
    one = found["devices"][device]
    assert device == "cpu"
    assert one["versions"] == records.versions()
    assert one["steps"] == agreement.STEPS
    assert "drawn on the processor" in one["masks"]
    assert one["settings"]["precision"] == "float32"
    assert list(one["encodings"]) == list(agreement.ENCODINGS.values())
    for row in one["encodings"].values():
        assert row["losses"] == row["logits"] == 0
        assert row["largest_logit"] > 0


def test_the_file_is_written_whole_and_leaves_nothing_beside_it(stored):
    assert [path.name for path in stored.parent.iterdir()] == ["agreement.json"]
    assert stat.S_IMODE(stored.stat().st_mode) == 0o644


def test_other_weights_batches_or_masks_are_seen(monkeypatch):
    cell = agreement.cell("rotary")
    before = agreement.course(cell, "cpu")
    other = agreement.difference(before, agreement.course(cell.with_seed(1), "cpu"))
    assert other["losses"] > 0.001
    assert other["logits"] > 0.001
    noise = dropout.noise
    monkeypatch.setattr(dropout, "noise", lambda seed, device: noise(seed + 1, device))
    assert agreement.difference(before, agreement.course(cell, "cpu"))["losses"] > 0.0001


def test_masks_are_drawn_on_the_processor_whatever_the_device(monkeypatch):
    streams = []
    noise = dropout.noise

    def noted(seed, device):
        stream, number = noise(seed, device), len(streams)
        streams.append([device.type, 0])

        def draw(n):
            streams[number][1] += 1
            return stream(n)

        return draw

    monkeypatch.setattr(dropout, "noise", noted)
    agreement.course(agreement.cell("none"), "cpu")
    # the training's own stream, of its device, and the one that takes its place
    assert streams == [["cpu", 0], ["cpu", agreement.STEPS]]


def test_the_largest_difference_is_stored_and_no_nan():
    one = Course(torch.tensor([0.5, 0.7]), torch.tensor([[1.0, -3.0]]))
    other = Course(torch.tensor([0.5, 0.4]), torch.tensor([[1.25, -3.0]]))
    apart = agreement.difference(one, other)
    assert apart == pytest.approx({"losses": 0.3, "logits": 0.25, "largest_logit": 3.0})
    with pytest.raises(ValueError, match="not finite"):
        agreement.difference(one, Course(other.losses, other.logits * torch.nan))


@pytest.mark.parametrize(("device", "n"), [("cuda:1", 1), ("mps", 0)])
def test_a_device_that_is_not_here_is_named_with_what_to_do(call, monkeypatch, tmp_path, device, n):
    monkeypatch.setattr("torch.cuda.is_available", lambda: n > 0)
    monkeypatch.setattr("torch.cuda.device_count", lambda: n)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    code, _, err = call("agree", "--device", device, "--out", tmp_path / "a.json")
    assert code == 2
    assert f"device '{device}' is not here, torch finds {n} of that kind" in err
    assert "or a machine that has it with a torch built for it" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "a.json").exists()


def test_a_name_that_is_no_device_is_named(call, tmp_path):
    code, _, err = call("agree", "--device", "gpu", "--out", tmp_path / "a.json")
    assert code == 2
    assert "device must be auto, cpu, cuda, cuda:1 or mps, got 'gpu'" in err


@pytest.mark.parametrize("text", ["", "[1]", "my notes", '{"made_by": "me"}', "[" * 99999])
def test_a_file_of_another_origin_is_left_alone(call, monkeypatch, tmp_path, text):
    monkeypatch.setattr(agreement, "course", None)  # it is an error before anything is trained
    (tmp_path / "a.json").write_text(text)
    code, _, err = call("agree", "--device", "cpu", "--out", tmp_path / "a.json")
    assert code == 2
    assert "was not written by posenc bench agree: name another --out" in err
    assert (tmp_path / "a.json").read_text() == text
    with pytest.raises(ValueError, match="left as it is"):
        ownfile.write_own(tmp_path / "a.json", agreement.MAKER, {})
    assert (tmp_path / "a.json").read_text() == text


def test_other_devices_stay_in_the_file(stored, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(stored.read_text())
    agreement._keep(path, "cuda (a GPU)", {"none": {"losses": 1e-7}})
    found = json.loads(path.read_text())["devices"]
    assert list(found) == ["cpu", "cuda (a GPU)"]
    assert found["cpu"] == json.loads(stored.read_text())["devices"]["cpu"]


def test_of_two_that_end_at_once_both_are_kept(tmp_path, monkeypatch):
    read = ownfile.read_own

    def slowly(*arguments):
        found = read(*arguments)
        time.sleep(0.05)
        return found

    monkeypatch.setattr(ownfile, "read_own", slowly)
    devices = [f"cuda:{n}" for n in range(3)]
    with ThreadPoolExecutor(len(devices)) as at_once:
        at_once.map(lambda device: agreement._keep(tmp_path / "a.json", device, {}), devices)
    assert set(json.loads((tmp_path / "a.json").read_text())["devices"]) == {*devices}


@pytest.mark.parametrize("call_name", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch, call_name):
    path = tmp_path / "a.json"
    ownfile.write_own(path, "me", {"n": 1})

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call_name, broken)
    with pytest.raises(OSError, match="No space left"):
        ownfile.write_own(path, "me", {"n": 2})
    assert ownfile.read_own(path, "me")["n"] == 1
    assert list(tmp_path.iterdir()) == [path]
