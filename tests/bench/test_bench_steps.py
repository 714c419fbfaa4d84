"""What `benchmarks/steps.py` calls all else is divided without a remainder."""

import sys
from argparse import Namespace
from pathlib import Path

import pytest


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    yield
    for name in ("engine", "steps", "aims", "timing"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("benchmarks")
def test_all_else_is_divided_and_python_stands_beside_it():
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


@pytest.mark.slow
@pytest.mark.usefixtures("benchmarks")
def test_the_engines_benchmark_prints_the_share_of_the_machines_rate(monkeypatch):
    import engine
    import steps

    monkeypatch.setattr(steps, "peak_rate", lambda _: 1e15)
    monkeypatch.setattr(steps, "fastest", lambda step, _: step() is None)
    text = engine.share(Namespace(device="cpu", quick=True, lengths=[8]))
    assert text.splitlines()[-1] == "| 8 | 1000000 | 0% | 85% |"
    assert engine.share(Namespace(device="cuda")).startswith("(e) skipped")
