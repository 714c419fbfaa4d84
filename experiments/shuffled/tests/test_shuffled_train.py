"""Forecasters whose past is shuffled: each order is what it is called, what is stored is whole."""

import json

import numpy as np
import pytest
import torch

from experiments.shuffled import __main__ as command
from experiments.shuffled import train
from posenc_book.read.shuffled import read


def test_each_order_shows_the_same_steps_and_does_what_it_is_called():
    shown = train.orders(np.random.default_rng(0), 50)
    for at in shown.values():
        assert (np.sort(at, axis=1) == np.arange(train.CONTEXT)).all()
    assert (shown["halves"][:, :2] == [48, 49]).all()
    blocks = shown["patches"].reshape(50, -1, train.PATCH)
    assert (np.diff(blocks, axis=2) == 1).all()
    assert (blocks[..., 0] % train.PATCH == 0).all()
    follows = np.mean(np.diff(shown["shuffled"], axis=1) == 1)
    assert follows < 0.05 < np.mean(np.diff(shown["patches"], axis=1) == 1)


def test_windows_meet_where_the_forecast_begins():
    values = np.arange(400, dtype=np.float32)[:, None] + [0, 1000]
    past, future = train.cut(values.astype(np.float32), 200, 400, each=4)
    assert past.shape == (2 * 27, 96, 1)
    assert future.shape == (2 * 27, 96)
    assert (past[:, -1, 0] + 1 == future[:, 0]).all()
    assert future[0, 0] == 200
    assert future.max() <= 1399


def test_a_window_in_its_own_scale_forecasts_in_the_scale_of_the_window():
    class Last(torch.nn.Module):
        def forward(self, x):
            return x[:, -1].expand(-1, train.HORIZON)

    x = 5 + 3 * torch.randn(4, 96, 1)
    forecast = train.Scaled(Last())(x)
    torch.testing.assert_close(forecast, x[:, -1].expand(-1, 96), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", train.MODELS)
def test_a_step_of_each_training_moves_the_model(monkeypatch, name):
    how = (*train.MODELS[name][:3], 2, 1e-2)
    monkeypatch.setitem(train.MODELS, name, how)
    past, future = torch.randn(200, 96, 1), torch.randn(200, 96)
    model = train.train(name, past, future, seed=1)
    torch.manual_seed(1)
    start = train.make_model(name)
    pairs = zip(model.parameters(), start.parameters(), strict=True)
    assert np.mean([not torch.equal(a, b) for a, b in pairs]) > 0.8
    assert train.error(model, past, future) > 0


def test_a_forecaster_without_order_loses_nothing():
    model = train.make_model("patches, mean, none").eval()
    past, future = torch.randn(30, 96, 1), torch.randn(30, 96)
    at = torch.from_numpy(train.orders(np.random.default_rng(0), 30)["patches"]).unsqueeze(-1)
    before, after = train.error(model, past, future), train.error(model, past.gather(1, at), future)
    assert after == pytest.approx(before, rel=1e-5)


def test_what_is_stored_is_whole():
    stored = read.load_shuffled()
    assert list(train.missing(stored)) == []
    for name, models in train.SETS.items():
        for model in models:
            assert len(read.errors(name, model)) == len(train.SEEDS)
            assert (read.errors(name, model) > 0).all()
    same = read.rises("etth1", "patches, mean, none", "patches")
    assert np.abs(same).max() < 1e-4  # neither table nor head knows a place


def test_what_is_missing_is_trained_and_stored(monkeypatch, tmp_path):
    monkeypatch.setattr(train, "SEEDS", range(1))
    names = ("set", "model", "seed")
    monkeypatch.setattr(train, "run", lambda *cell: dict(zip(names, cell, strict=True)))
    out = tmp_path / "runs.json"
    assert command.main(["--out", str(out)]) == 0
    runs = json.loads(out.read_text())["runs"]
    assert len(runs) == sum(map(len, train.SETS.values())) == len(train.MODELS) + 3
    monkeypatch.setattr(train, "run", None)
    assert command.main(["--out", str(out)]) == 0  # all is there


def test_a_name_that_is_not_stored_is_refused():
    with pytest.raises(ValueError, match="model must be one of"):
        read.errors("etth1", "patches")
    with pytest.raises(ValueError, match="order must be one of"):
        read.errors("etth1", "linear", "reversed")
