"""How cost grows: the fit, the limits, and a small measurement."""

import sys

import pytest
from sitefiles import ROOT

from posenc_book.audit.survey import summaries

sys.path.insert(0, str(ROOT / "benchmarks"))
import growth as cost


def series(power, sizes=(1, 2, 4, 8)):
    return {
        "sizes": list(sizes),
        "seconds": [3 * n**power for n in sizes],
        "megabytes": [0.0] * len(sizes),
    }


@pytest.mark.parametrize("power", [0, 1, 1.5, 2])
def test_the_exponent_of_a_power_is_that_power(power):
    assert cost.exponent(series(power), "seconds") == pytest.approx(power)


def test_only_the_last_three_count():
    bent = series(2)
    bent["seconds"][0] = 1e6
    assert cost.exponent(bent, "seconds") == pytest.approx(2)


def test_there_is_no_exponent_of_nothing():
    assert cost.exponent(series(1), "megabytes") is None
    assert cost.exponent(series(1, sizes=(4,)), "seconds") is None


def test_a_series_ends_before_a_call_is_too_large():
    calls = []

    def make(n):
        calls.append(n)
        return lambda: None

    def weighed(call):
        del call
        return 0.0, float(calls[-1] ** 2)

    original, cost.weighed = cost.weighed, weighed
    try:
        found = cost.along([32, 64, 4096], make)
    finally:
        cost.weighed = original
    assert found["sizes"] == [32]  # 64**2 megabytes would be too many


def test_powers_are_read_off_the_documentation():
    powers = {name: cost.documented_power(name) for name in cost.names()}
    assert powers["none"] == 0
    assert all(powers[name] == 1 for name in ("sinusoidal", "learnable", "rotary", "conv_spe"))
    assert all(powers[name] == 2 for name in ("relative", "t5", "tpe", "deberta", "fire", "tupe"))
    assert all(cost.documented(name) for name in powers if name != "none")


def test_one_encoding_is_measured_along_every_axis(monkeypatch):
    small = {"length": [16, 32, 64], "batch": [1, 2], "heads": [2, 4], "depth": [1, 2]}
    monkeypatch.setattr(cost, "AXES", small)
    monkeypatch.setattr(cost, "BASE", {"length": 16, "batch": 1, "heads": 4, "depth": 1})
    monkeypatch.setattr(cost, "ROUND_SECONDS", 0.0)
    found = cost.measure("tpe", most=32)
    assert {axis: of["sizes"] for axis, of in found["step"].items()} == small | {"length": [16, 32]}
    assert all(t > 0 for of in found["step"].values() for t in of["seconds"])
    shown = cost.table({"tpe": found})
    assert f"| tpe | {cost.documented('tpe')} | 2 | " in shown
    assert summaries.TABLE_2["tpe"][1] in shown


def test_without_a_file_the_table_says_how_to_make_one():
    assert "--out results/growth.json" in cost.table({})
