"""Small cells, a cache of the tests' own, and command lines in real processes."""

import subprocess
import sys

import pytest
import torch

from posenc_book.bench import commands
from posenc_book.bench.local import SerialEngine
from posenc_book.command_line import main
from posenc_book.records.settings import Settings, profile


class Silent:
    """Counts what a driver tells of its progress."""

    def __init__(self):
        self.skipped = self.added = 0

    def skip(self, n):
        self.skipped += n

    def add(self, n, failed, running):
        assert 0 <= failed <= n
        assert running >= 0
        self.added += n


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POSENC_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("POSENC_OFFLINE", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Two threads that spin while they wait make tests on a shared machine ten times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def cell():
    """Return a function that makes a tiny cell on a synthetic set."""

    def make(encoding="none", model="time_series", **changes):
        data = {"dataset_options": {"length": 12, "n": 48, "distance": 3}}
        return Settings(encoding, model, "range_probe", **{**profile("smoke"), **data, **changes})

    return make


@pytest.fixture
def command(tmp_path):
    """Return a function that starts `posenc bench` in an empty folder."""
    started = []

    def start(*arguments, **options):
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "posenc", "bench", *map(str, arguments)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def run(command):
    """Return a function that runs a command to its end: (exit code, output, errors)."""

    def finish(*arguments, **options):
        process = command(*arguments, **options)
        out, err = process.communicate(timeout=900)
        return process.returncode, out, err

    return finish


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Return a function like `run` that needs no new process, for what is not about processes."""
    monkeypatch.chdir(tmp_path)

    def finish(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return finish


@pytest.fixture
def stand_in(monkeypatch):
    """Return a function that lets another one take the place of every training."""
    monkeypatch.setattr(commands, "engine", lambda *_: SerialEngine())

    def put(outcome):
        def train(cells, *_, **__):
            return [outcome(one) for one in cells]

        monkeypatch.setattr("posenc_book.bench.train.train", train)

    return put
