"""The benchmarks of speed run, here on sizes that measure nothing."""

import argparse
import sys
from pathlib import Path

import pytest

from posenc_book.bench.local import SerialEngine


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    yield
    for name in ("engine", "steps", "aims", "timing"):
        sys.modules.pop(name, None)


def test_the_plain_loop_and_the_engine_are_timed_by_length(monkeypatch):
    import engine

    monkeypatch.setattr(engine, "available_cores", lambda: 1)
    # workers have tests of their own, and to start them takes longer than all else
    monkeypatch.setattr(engine, "LocalEngine", lambda workers=None: SerialEngine())
    options = argparse.Namespace(
        quick=True, profile="smoke", lengths=[16], device="cpu", series=64, epochs=1, rounds=1
    )
    row = engine.against_plain(options).splitlines()[-1]
    length, plain, ours, ratio, *_ = [part.strip() for part in row.strip("|").split("|")]
    assert length == "16"
    assert float(plain) >= 0
    assert float(ours) >= 0
    assert ratio.endswith("×")


def test_all_else_in_a_step_is_divided_and_python_stands_beside_it():
    import steps

    found = steps.measure(steps.training("none", 8, 4).take_step, 2)
    parts = {name: seconds for name, seconds in found.rest.items() if name != steps.PYTHON}
    assert sum(parts.values()) == pytest.approx(found.seconds["all else"])
    for name in ("norms", "GELU", "residual sums", "pooling and loss", "autograd"):
        assert found.rest[name] > 0, name
    assert found.rest[steps.PYTHON] > 0
    rates = dict.fromkeys(("linear maps reach", "all else"), 0.5)
    row = {"tokens": 8, "ms a step": 1.0, "limit, GFLOP/s": 50.0, **rates, **found.rest}
    row |= {name: 0.0 for name in (*steps.REST, steps.OTHERS) if name not in row}
    assert "GELU" not in steps.table([row])
    assert "| 8 | 50.0% |" in steps.table_of_rest([row])
