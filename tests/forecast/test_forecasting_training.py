"""Readers and trainings of the forecasting experiment."""

import gc
import math
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from posenc.encodings import T5Bias
from posenc_book.forecast import fit, train
from posenc_book.forecast.readers import READERS, make_model
from posenc_book.forecast.units import Series, Shape, Unit
from posenc_book.read.forecasting import plan

SHAPE = Shape(season=4, context=16, horizon=4, patch=4)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let every unit be one small random walk with a season."""
    noise = np.random.default_rng(0).normal(size=400).cumsum()
    values = noise + 10 * np.sin(np.arange(400) * np.pi / 2)
    calendar = np.random.default_rng(1).uniform(-0.5, 0.5, (400, 4))
    unit = Unit("m3_quarterly", SHAPE, [Series(values, 250, 320, 400)], calendar, 0)
    monkeypatch.setattr(train, "load_unit", lambda _: unit)
    train._parts.cache_clear()
    yield
    train._parts.cache_clear()


def cell(encoding="none", reader="steps_mean", **changes):
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 8, "patch": 4, "batch_size": 8}
    settings = {"steps": 6, "check_every": 3, "dropout": 0.0, "warmup": 0.1, **sizes, **changes}
    return train.ForecastSettings(encoding, reader, "m3_quarterly", **settings)


def model(encoding, reader, **sizes):
    made = make_model(cell(encoding, reader, **sizes), 16, 4, calendar=False)
    torch.nn.init.normal_(made.head.weight)
    return made.eval()


@pytest.mark.parametrize("reader", READERS)
def test_an_untrained_model_repeats_the_last_value(reader):
    made = make_model(cell("sinusoidal", reader), 16, 4, calendar=False)
    assert (made(torch.randn(3, 16, 1)) == 0).all()


def test_only_a_mean_is_blind_to_order_without_an_encoding():
    x = torch.randn(3, 16, 1)
    mixed = x[:, torch.randperm(16, generator=torch.Generator().manual_seed(0))]
    made = {reader: model("none", reader) for reader in ("steps_mean", "steps_flat", "decoder")}
    same = {name: torch.allclose(m(x), m(mixed), atol=1e-5) for name, m in made.items()}
    assert same == {"steps_mean": True, "steps_flat": False, "decoder": False}
    told = model("sinusoidal", "steps_mean")
    assert not torch.allclose(told(x), told(mixed), atol=1e-3)


def test_a_token_of_the_decoder_sees_no_later_one():
    made = model("rotary", "decoder", n_layers=2)
    x, other = torch.randn(1, 16, 1), torch.randn(1, 16, 1)
    other[:, :10] = x[:, :10]
    one, two = (made.encode(a)[0] for a in (x, other))
    assert torch.allclose(one[:, :10], two[:, :10], atol=1e-6)
    assert not torch.allclose(one[:, 10:], two[:, 10:], atol=1e-3)


def test_rope_over_real_times_is_rope_with_missing_steps_masked():
    made, x = model("rotary", "steps_mean", n_layers=2), torch.randn(2, 16, 1)
    real = torch.ones(2, 16, dtype=torch.bool)
    real[:, [3, 4, 9]] = False
    left = real[0].nonzero().squeeze(1)
    masked, dropped = made(x, real), made(x[:, left], times=left)
    assert torch.allclose(masked, dropped, atol=1e-5)
    assert not torch.allclose(masked, made(x[:, left]), atol=1e-3)


def t5_bucket(distance, n_buckets=32, most=128):
    """One direction, written anew from Raffel et al.'s description."""
    exact = n_buckets // 2
    if distance < exact:
        return distance
    share = math.log(distance / exact) / math.log(most / exact)
    return min(n_buckets - 1, exact + int(share * (n_buckets - exact)))


def test_the_decoder_has_the_buckets_of_t5s_decoder():
    made = make_model(cell("t5", "decoder", n_layers=2), 200, 4, calendar=False)
    x = torch.zeros(1, 200, 8)
    q = torch.zeros(1, 2, 200, 4)
    bias = made._common_bias(x, None).dense(q, q)
    position = made.position
    assert isinstance(position, T5Bias)
    for i, j in ((5, 0), (16, 0), (40, 0), (60, 20), (199, 0), (199, 120), (7, 7)):
        expected = position.values[:, t5_bucket(i - j)]
        assert torch.equal(bias[:, i, j], expected), (i, j)


@pytest.mark.parametrize("encoding", [*plan.ENCODINGS, plan.PLACEBO])
@pytest.mark.parametrize("reader", ["patches_flat", "decoder"])
def test_a_stack_gives_what_each_cell_gives_alone(encoding, reader):
    cells = [cell(encoding, reader, seed=1, learning_rate=1e-2), cell(encoding, reader, seed=2)]
    together = train.train(cells)
    for one, stacked in zip(cells, together, strict=True):
        (alone,) = train.train([one])
        assert alone["seeds_together"] == 1
        assert stacked["mase"] == pytest.approx(alone["mase"], rel=1e-4)
        assert stacked["validation_errors"] == pytest.approx(alone["validation_errors"], rel=1e-4)


def test_training_learns_the_season():
    (scores,) = train.train([cell("sinusoidal", "patches_flat", steps=300, check_every=100)])
    first, *_, last = scores["validation_errors"]
    assert last < first < 3
    assert scores["validation_mase"] == pytest.approx(min(scores["validation_errors"]), abs=1e-5)
    assert scores["best_step"] % 100 == 0


def test_the_checkpoint_with_the_best_validation_is_kept():
    made = fit.Fit.__new__(fit.Fit)
    weight = torch.zeros(2, 2)
    made.group = SimpleNamespace(state=lambda: {"w": weight})
    made.best, made.at = torch.full((2,), math.inf), torch.zeros(2, dtype=torch.long)
    made.curve, made.kept = [], {"w": torch.zeros(2, 2)}
    for step, errors in ((10, [2.0, 5.0]), (20, [1.0, math.nan]), (30, [1.5, 4.0])):
        weight.fill_(step)
        made._validation = lambda errors=errors: torch.tensor(errors)
        made._judge(step)
    assert (made.best.tolist(), made.at.tolist()) == ([1.0, 4.0], [20, 30])
    assert made.kept["w"].tolist() == [[20.0, 20.0], [30.0, 30.0]]


def test_a_training_that_has_ended_leaves_nothing_behind(monkeypatch):
    left = []
    made = fit.Fit.__init__
    monkeypatch.setattr(
        fit.Fit, "__init__", lambda self, *a: (made(self, *a), left.append(weakref.ref(self)))[0]
    )
    gc.disable()
    try:
        train.train([cell(seed=1), cell(seed=2)])
        assert [one() for one in left] == [None]
    finally:
        gc.enable()


def test_adamw_is_pytorchs():
    ours = [torch.randn(3, 4, requires_grad=True) for _ in range(2)]
    theirs = [p.detach().clone().requires_grad_() for p in ours]
    mine = fit.AdamW(ours, 0.01)
    other = torch.optim.AdamW(theirs, lr=0.1, weight_decay=0.01)
    for _ in range(5):
        gradients = [torch.randn(3, 4) for _ in ours]
        mine.step(gradients, torch.tensor([0.1]))
        for p, g in zip(theirs, gradients, strict=True):
            p.grad = g
        other.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_errors_are_means_of_series_not_of_windows():
    errors = torch.tensor([[1.0, 1.0], [3.0, math.nan], [10.0, 10.0]])
    assert train.by_series(errors, torch.tensor([0, 0, 1])) == pytest.approx((5 / 3 + 10) / 2)


def test_a_longer_context_is_tested_where_the_read_out_allows_it(monkeypatch):
    monkeypatch.setattr(train, "LEAST_LONG", 16)
    (pooled,) = train.train([cell("rotary", "steps_mean")])
    assert pooled["longer_mase"] > 0
    (flat,) = train.train([cell("rotary", "steps_flat")])
    assert "head.weight has shape" in flat["refusal"]
    (table,) = train.train([cell("learnable", "steps_mean")])
    assert "refusal" in table


def test_a_calendar_joins_the_values():
    (scores,) = train.train([cell("none", "patches_flat", calendar=True)])
    (plain,) = train.train([cell("none", "patches_flat")])
    assert scores["parameters"] - plain["parameters"] == 4 * 4 * 8


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match="shuffled"):
        cell(shuffled="words")
    with pytest.raises(ValueError, match="steps must be"):
        cell(steps=0)
    with pytest.raises(ValueError, match="model"):
        make_model(cell(reader="steps_max"), 16, 4, calendar=False)


def test_a_loss_that_is_never_finite_is_a_failure():
    (found,) = train.train([cell("none", "patches_flat", learning_rate=1e38, warmup=1e-9)])
    assert isinstance(found, Exception)
