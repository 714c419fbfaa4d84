"""Calls that are recorded on a GPU; here a stand-in takes its place."""

import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch

from posenc_book.bench import replay
from posenc_book.bench.replay import WARM_UP, Replayed


class Graph:
    """Stands in for a CUDA graph: holds what was called while it recorded."""

    def __init__(self):
        self.held = []

    def replay(self):
        for call in self.held:
            call()


@pytest.fixture
def gpu(monkeypatch):
    """A GPU whose recording may fail; returns what was recorded."""
    state = SimpleNamespace(recording=None, fails=False)

    @contextmanager
    def graph(one):
        state.recording = one
        yield
        state.recording = None
        if state.fails:
            raise RuntimeError("operation not permitted when stream is capturing")

    stream = SimpleNamespace(wait_stream=lambda _: None)
    cuda = SimpleNamespace(
        CUDAGraph=Graph,
        graph=graph,
        Stream=lambda: stream,
        current_stream=lambda: stream,
        stream=lambda _: warnings.catch_warnings(),
    )
    monkeypatch.setattr(replay, "torch", SimpleNamespace(cuda=cuda, device=torch.device))
    return state


def counted(state):
    """Return a call that is held back while a graph records it, and how often it was made."""
    made = []

    def call():
        if state.recording is None:
            made.append(1)
        else:
            state.recording.held.append(lambda: made.append(1))

    return call, made


def test_on_a_gpu_every_call_counts_once_before_and_after_recording(gpu):
    call, made = counted(gpu)
    one = Replayed(call, torch.device("cuda"))
    for n in range(1, WARM_UP + 4):
        one()
        assert len(made) == n
        assert (one.graph is not None) == (n > WARM_UP)


def test_what_cannot_be_recorded_is_called_step_by_step(gpu):
    call, made = counted(gpu)
    gpu.fails = True
    one = Replayed(call, torch.device("cuda"))
    for _ in range(WARM_UP):
        one()
    with pytest.warns(UserWarning, match="recording failed: operation not permitted"):
        one()
    one()
    assert len(made) == WARM_UP + 2
