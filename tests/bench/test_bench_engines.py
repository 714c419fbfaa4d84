"""Engines and driver, in real processes that are really killed.

Where it does not matter what is trained, `mine.train` stands in for a training: a worker that
trains imports three times as much before its first step.
"""

import importlib
import itertools
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from trainings import Silent

from posenc_book.bench import grid as grids
from posenc_book.bench import tuning
from posenc_book.bench.cluster import DaskEngine
from posenc_book.bench.driver import Driver
from posenc_book.bench.jobs import Job, run
from posenc_book.bench.local import LocalEngine, SerialEngine
from posenc_book.records import records
from posenc_book.records.store import Store

ENCODINGS = """
import os, signal, sys, time
from pathlib import Path
import torch
from posenc.attention import Position


class Mine(Position):
    def __init__(self, d_model, n_heads, max_length, gain=1.0):
        super().__init__(d_model, n_heads, max_length)
        self.gain = torch.nn.Parameter(torch.tensor(gain))

    def embed(self, x):
        return x + self.gain * torch.arange(x.shape[1])[:, None] / x.shape[1]


class Slow(Mine):
    def embed(self, x):
        time.sleep(0.05)
        return super().embed(x)


class Met(Mine):  # waits until workers of two drivers have work
    def embed(self, x):
        here = Path(sys.modules[type(self).__module__].__file__).parent
        (here / f"{os.getppid()}.driver").touch()
        while len(list(here.glob("*.driver"))) < 2:
            time.sleep(0.05)
        return super().embed(x)


class Broken(Mine):
    def embed(self, x):
        raise ArithmeticError("this encoding\\nnever works")


class Nan(Mine):
    def embed(self, x):
        return super().embed(x) * float("nan")


class Hungry(Mine):
    def embed(self, x):
        return x + torch.empty(2**46)[:1]


class Deadly(Mine):
    pass


def train(cells, device, *, compile, probe):
    for cell in cells:
        one = globals().get(cell.encoding.removeprefix("mine:"))
        if one is Slow:
            time.sleep(0.5)
        elif one is Deadly:
            os.kill(os.getpid(), signal.SIGKILL)
    return [{"accuracy": 0.5, "train_loss": [1.0, 0.5], "parameters": 1} for _ in cells]
"""
QUIET = {"dashboard_address": None, "silence_logs": 50}  # of a cluster
TINY = ["--datasets", "range_probe:length=12,n=48,distance=3", "--models", "time_series"]
TINY += ["--profile", "smoke", "--device", "cpu"]


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(ENCODINGS)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
    yield importlib.import_module("mine")
    sys.modules.pop("mine", None)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results" / "run.jsonl"


@pytest.fixture
def drive(out):
    def go(encodings, engine, seeds=2, **options):
        data = ["range_probe:length=12,n=48,distance=3"]
        grid = grids.make(data, encodings, ["time_series"], range(seeds), "smoke")
        listener = Silent()
        summary = Driver(grid, Store(out), engine, device="cpu", **options).run(listener)
        assert listener.skipped + listener.added == len(grid)
        return summary

    return go


def lines(path):
    """Return all lines as records; a half line fails here."""
    text = path.read_text()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def wait_for(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def results(records):
    return {r["key"]: (r["metrics"]["accuracy"], r["metrics"]["train_loss"]) for r in records}


def test_engines_give_the_same_results(drive, out):
    first = drive(["none", "mine:Mine"], SerialEngine())
    assert (first.trained, first.failed, first.skipped) == (4, 0, 0)
    serial = results(lines(out))
    out.unlink()
    drive(["none", "mine:Mine"], LocalEngine(1))  # another process, which imports all anew
    assert results(lines(out)) == serial


def test_finished_cells_are_skipped_and_failed_ones_on_request_retried(drive):
    assert drive(["none", "mine:Broken"], SerialEngine()).failed == 2
    again = drive(["none", "mine:Broken"], SerialEngine())
    assert (again.trained, again.skipped, again.failed_before) == (0, 4, 2)
    assert drive(["none", "mine:Broken"], SerialEngine(), retry_failed=True).trained == 2


class Watch:
    """A clock for a driver, and an engine whose trainings take ten seconds each by it."""

    n_workers, running = 1, 0

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("posenc_book.bench.driver.time.monotonic", lambda: self.now)

    def map(self, jobs):
        for job in jobs:
            self.now += 10
            yield job, [records.finished(c, {}, device="cpu", seconds=1.0) for c in job.cells]


@pytest.mark.parametrize(
    ("until", "longest", "trained"),
    [
        (35, 0, 3),  # the fourth would end at 40
        (40, 0, 4),
        (5, 0, 1),  # before the first has ended nobody knows
        (25, 20, 1),  # as an earlier stage of the command has seen
        (15, 20, 0),
        (99, 0, 6),
    ],
)
def test_no_training_is_begun_that_would_end_too_late(
    cell, out, monkeypatch, until, longest, trained
):
    group = [cell(seed=seed) for seed in range(6)]

    def drive(**options):
        driver = Driver(tuning.Cells([group]), Store(out), Watch(monkeypatch), **options)
        driver.run(Silent())
        return driver

    driver = drive(until=until, longest=longest)
    assert driver.summary.trained == trained
    assert driver.stopped == (trained < 6)
    assert driver.longest == max(longest, 10 * (trained > 0))
    again = drive(until=1, longest=longest).summary
    assert again.skipped == trained  # what is there is counted all the same
    rest = drive()
    assert (rest.summary.trained, rest.stopped) == (6 - trained - again.trained, False)


def test_an_edited_encoding_is_trained_anew(drive, tmp_path):
    drive(["none", "mine:Mine"], SerialEngine(), seeds=1)
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# edited\n")
    again = drive(["none", "mine:Mine"], SerialEngine(), seeds=1)
    assert (again.trained, again.skipped) == (1, 1)


def test_failing_cells_are_recorded_and_the_rest_goes_on(drive, out):
    names = ["mine:Broken", "mine:Nan", "mine:Hungry", "none"]
    summary = drive(names, SerialEngine(), seeds=1)
    assert (summary.trained, summary.failed) == (4, 3)
    found = {r["encoding"]: r for r in lines(out)}
    assert found["mine:Broken"]["error"] == "ArithmeticError: this encoding"
    assert "loss became nan in epoch 1" in found["mine:Nan"]["error"]
    assert "memory" in found["mine:Hungry"]["error"]
    assert "error" not in found["none"]


@pytest.mark.parametrize(
    ("metrics", "said"),
    [({"loss": float("nan")}, "finite"), ({"loss": {1, 2}}, "JSON"), ({"accuracy": 7}, "accuracy")],
)
def test_metrics_that_cannot_be_stored_fail_their_cell_alone(drive, out, metrics, said):
    def fail_one(cells, *_, **__):
        return [metrics if cell.seed else {"accuracy": 0.5} for cell in cells]

    summary = drive(["none"], SerialEngine(), train=fail_one)
    assert (summary.trained, summary.failed) == (2, 1)
    good, bad = lines(out)
    assert good["metrics"] == {"accuracy": 0.5}
    assert bad["error"].startswith("metrics must be finite numbers and other JSON values")
    assert said in bad["error"]
    assert drive(["none"], SerialEngine(), train=fail_one).skipped == 2


@pytest.mark.slow
def test_idle_workers_wait_for_the_next_stage(drive, mine):
    with LocalEngine(1) as engine:
        drive(["none"], engine, seeds=1, train=mine.train)
        first = [worker.process for worker in engine._workers]
        drive(["mine:Slow"], engine, seeds=1, train=mine.train)
        assert [worker.process for worker in engine._workers] == first
        assert first[0].is_alive()
    assert not first[0].is_alive()
    alone = LocalEngine(1)  # without a block its workers end with the last job
    drive(["dft"], alone, seeds=1, train=mine.train)
    assert not alone._workers


def test_seeds_that_cannot_share_a_stack_are_trained_alone(cell):
    records = run(Job((cell("sine_spe"), cell("sine_spe", seed=1)), "cpu"))
    assert [r["metrics"]["seeds_together"] for r in records] == [1, 1]
    records = run(Job((cell("rotary"), cell("rotary", seed=1)), "cpu"))
    assert [r["metrics"]["seeds_together"] for r in records] == [2, 2]


@pytest.mark.slow
def test_a_job_that_kills_its_workers_is_given_up_and_the_rest_goes_on(drive, out, mine):
    summary = drive(["mine:Deadly", "none"], LocalEngine(1), seeds=1, train=mine.train)
    assert (summary.trained, summary.failed) == (2, 1)
    found = {r["encoding"]: r for r in lines(out)}
    assert found["mine:Deadly"]["error"] == "the worker died 2 times, at last with code -9"


@pytest.mark.slow
def test_a_worker_killed_from_outside_loses_no_cell(drive, out, mine):
    engine = LocalEngine(2)

    def kill_one():
        wait_for(lambda: out.exists() and lines(out))
        os.kill(engine._workers[0].process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    summary = drive(["mine:Slow"], engine, seeds=8, train=mine.train)
    killer.join()
    assert (summary.trained, summary.failed) == (8, 0)
    assert sorted(r["seed"] for r in lines(out)) == list(range(8))


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_killed_driver_loses_no_finished_cell_and_the_next_goes_on(command, call, out):
    arguments = ["run", *TINY, "--encodings", "mine:Slow", "--seeds", 5, "--out", out]
    driver = command(*arguments, "--workers", 2)
    wait_for(lambda: out.exists() and len(lines(out)) >= 2)
    workers = children(driver.pid)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    before = lines(out)
    assert 2 <= len(before) < 5
    wait_for(lambda: not any(alive(pid) for pid in workers))
    code, text, err = call(*arguments, "--engine", "serial")
    assert code == 0, err
    assert f"{5 - len(before)} cells trained, 0 of them failed; {len(before)} were there" in text
    assert lines(out)[: len(before)] == before
    assert Counter(r["seed"] for r in lines(out)) == dict.fromkeys(range(5), 1)


def test_a_resumed_run_gives_what_an_unbroken_one_gives(call, out, tmp_path):
    common = ["run", *TINY, "--encodings", "learnable", "--engine", "serial"]
    call(*common, "--seeds", 1, "--out", out)
    call(*common, "--seeds", 3, "--out", out)
    whole = tmp_path / "whole.jsonl"
    call(*common, "--seeds", 3, "--out", whole)
    assert results(lines(out)) == results(lines(whole))


@pytest.mark.slow
def test_two_drivers_share_the_work_and_do_nothing_twice(command, out):
    arguments = ["run", *TINY, "--encodings", "mine:Met", "--seeds", 6, "--out", out]
    drivers = [command(*arguments, "--workers", 1) for _ in range(2)]
    texts = [driver.communicate(timeout=600) for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], texts
    assert Counter(r["seed"] for r in lines(out)) == dict.fromkeys(range(6), 1)
    trained = [int(text.split()[0]) for text, _ in texts]
    assert sum(trained) == 6
    assert min(trained) > 0


@pytest.mark.slow
def test_a_full_disk_stops_the_run_and_loses_nothing(command, call, out):
    arguments = ["run", *TINY, "--encodings", "none", "--seeds", 8, "--engine", "serial"]

    def full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    full = command(*arguments, "--out", out, preexec_fn=full_disk)
    _, err = full.communicate(timeout=600)
    assert full.returncode == 2
    assert "Finished cells are safe" in err
    assert "Traceback" not in err
    before = lines(out)
    assert 1 <= len(before) < 8
    rescued = Path(err.split("are in ")[1].split(": merge")[0])
    assert [r["seed"] for r in lines(rescued)] == [len(before)]
    assert call("merge", out, rescued)[0] == 0
    rescued.unlink()
    rescued.parent.rmdir()
    code, text, err = call(*arguments, "--out", out)
    assert code == 0, err
    assert f"{7 - len(before)} cells trained" in text
    assert lines(out)[: len(before)] == before


@pytest.mark.slow
def test_interrupting_a_run_stops_its_workers(command, out):
    arguments = ["run", *TINY, "--encodings", "mine:Slow", "--seeds", 8, "--out", out]

    def listen():  # a shell's background jobs start with this signal ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    driver = command(*arguments, "--workers", 2, preexec_fn=listen)
    wait_for(lambda: out.exists() and lines(out))
    workers = children(driver.pid)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=600)
    assert driver.returncode == 130
    assert "the same command goes on from here" in err
    wait_for(lambda: not any(alive(pid) for pid in workers))


@pytest.mark.slow
def test_workers_have_one_thread_that_does_not_spin(tmp_path):
    seen = tmp_path / "seen.json"
    (tmp_path / "spy.py").write_text(
        "import json, os, torch\nfrom posenc.attention import Position\n"
        "class Spy(Position):\n    def embed(self, x):\n"
        f"        names = 'OMP_NUM_THREADS', 'OMP_WAIT_POLICY'\n"
        f"        found = [torch.get_num_threads(), *(os.environ[n] for n in names)]\n"
        f"        open({str(seen)!r}, 'w').write(json.dumps(found))\n        return x\n"
    )
    before = dict(os.environ)
    grid = grids.make(["range_probe"], ["spy:Spy"], ["patch"], [0], "smoke")
    Driver(grid, Store(tmp_path / "r.jsonl"), LocalEngine(1), device="cpu").run(Silent())
    assert json.loads(seen.read_text()) == [1, "1", "PASSIVE"]
    assert dict(os.environ) == before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of the cluster's own shutdown
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_dask_gives_the_same_results_in_the_same_store(drive, out, mine, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("posenc_book.bench.cluster.TIMEOUT", 300)
    drive(["none", "mine:Mine", "mine:Broken"], SerialEngine())
    good = results(r for r in lines(out) if "error" not in r)
    out.unlink()
    with LocalCluster(n_workers=2, threads_per_worker=1, **QUIET) as cluster:
        engine = DaskEngine(cluster.scheduler_address, [Path(mine.__file__)])
        assert engine.n_workers == 2
        summary = drive(["none", "mine:Mine", "mine:Broken"], engine)
        assert (summary.trained, summary.failed) == (6, 2)
        assert results(r for r in lines(out) if "error" not in r) == good
        assert drive(["none"], DaskEngine(cluster.scheduler_address)).trained == 0


@pytest.fixture
def dask(tmp_path):
    """Return a function that runs `dask scheduler` or `dask worker`, as on a cluster."""
    pytest.importorskip("distributed")
    started = []

    def start(*words):
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(command, cwd=tmp_path, **quiet))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_run_outlives_a_worker_and_the_next_one_a_scheduler(dask, drive, out, mine, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr("posenc_book.bench.cluster.TIMEOUT", 300)
    monkeypatch.setattr(sys, "path", sys.path[:])  # a worker in this process adds its folder
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    source = Path(mine.__file__)
    scheduler_of = ("scheduler", "--host", address)
    worker_of = ("worker", address, "--nthreads", "1", "--no-nanny")
    scheduler, *workers = dask(*scheduler_of), dask(*worker_of), dask(*worker_of)

    def kill():
        for victim, done in ((workers[0], 1), (scheduler, 4)):
            wait_for(lambda done=done: out.exists() and len(lines(out)) >= done)
            victim.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    with DaskEngine(address, [source]) as engine:
        wait_for(lambda: engine.n_workers == 2)
        with pytest.raises(ConnectionError, match="the same command goes on"):
            drive(["mine:Slow"], engine, seeds=12, train=mine.train)
    killer.join()
    before = lines(out)
    assert 4 <= len(before) < 12
    assert not any("error" in record for record in before)
    scheduler.wait()
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **QUIET) as other:
        engine = DaskEngine(other.scheduler_address, [source])
        summary = drive(["mine:Slow"], engine, seeds=12, train=mine.train)
    assert (summary.trained, summary.failed) == (12 - len(before), 0)
    assert lines(out)[: len(before)] == before
    assert Counter(record["seed"] for record in lines(out)) == dict.fromkeys(range(12), 1)


def test_an_absent_scheduler_is_named(call, out, monkeypatch):
    monkeypatch.setattr("posenc_book.bench.cluster.TIMEOUT", 0.5)
    arguments = ["run", *TINY, "--encodings", "none", "--out", out]
    code, _, err = call(*arguments, "--engine", "tcp://127.0.0.1:9")
    assert code == 2
    assert "no Dask scheduler answers" in err


def test_a_clock_that_is_set_back_ends_no_run(cell, tmp_path, monkeypatch):
    ticks = itertools.count(10**6, -7)
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    store = Store(tmp_path / "run.jsonl")
    grid = tuning.Cells([[cell()], [cell(seed=1)]])
    assert Driver(grid, store, SerialEngine(), device="cpu").run(Silent()).failed == 0
    found = [(record["seconds"], record["metrics"]["seconds_per_step"]) for record in store]
    assert found == [(0, 0), (0, 0)]
