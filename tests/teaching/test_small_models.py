"""What the chapter on models measures in small ones."""

import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.models import BatchNorm, PatchTransformer, TimeSeriesTransformer
from posenc_book.teaching import order_task, small_models
from posenc_book.teaching.program import Layer, Shut, Transformer


def test_recordings_are_standardised_by_the_training_part():
    x, y = order_task.activities("train", n_steps=100)
    assert x.shape == (40, 100, 6)
    assert y.bincount().tolist() == [10] * 4
    assert x.mean((0, 1)).abs().max() < 1e-5
    assert order_task.activities("test")[0].shape == (40, 50, 6)


def test_recordings_of_an_activity_are_those_of_its_class():
    x, y = order_task.activities("test", n_steps=100)
    running = order_task.recordings("Running", "test")
    assert running.shape == (10, 100, 6)
    assert any(torch.equal(x[y == label], running) for label in range(4))
    swings = {name: order_task.recordings(name, "test").std() for name in ("Running", "Walking")}
    assert swings["Running"] > 2 * swings["Walking"]


def test_made_up_recordings_stand_in_where_there_are_none_and_a_line_says_so(monkeypatch, capsys):
    made = order_task._standardised, order_task._recorded, order_task._can_load
    for kept in made:
        kept.cache_clear()
    monkeypatch.setattr(order_task.data, "can_load", lambda _: False)
    x, y = order_task.activities("test", n_steps=100)
    assert x.shape == (40, 100, 6)
    assert y.bincount().tolist() == [10] * 4
    running, walking = (order_task.recordings(name, "test") for name in ("Running", "Walking"))
    assert running.std() > 2 * walking.std()
    assert capsys.readouterr().out.count("Made-up recordings stand in") == 1
    for kept in made:
        kept.cache_clear()


def test_reversal_is_seen_by_signed_offsets_only():
    x, _ = order_task.activities("test")
    seen = {name: small_models.sees_reversal(name, x) for name in ("none", "alibi", "rotary")}
    assert seen == {"none": False, "alibi": False, "rotary": True}


def test_operations_of_a_linear_map():
    assert small_models.operations(nn.Linear(8, 16), torch.zeros(1, 10, 8)) == 2 * 10 * 8 * 16


def test_added_parameters_are_those_of_the_encoding():
    nothing, added = small_models.added_parameters(6, 4, 100)
    assert list(added) == list(encodings.names())
    assert added["learnable"] == 100 * 128
    assert added["none"] == added["rotary"] == 0
    model = TimeSeriesTransformer(6, 4, 100, "none")
    assert nothing == sum(weights.numel() for weights in model.parameters())


class Stepwise(Transformer):
    """The chapter's model with steps as tokens and one part changed, if asked."""

    def __init__(self, scale, n_channels=2):
        super().__init__(Shut(), d_model=16, n_heads=2, n_layers=1, n_classes=3)
        self.words, self.scale = nn.Sequential(nn.Linear(n_channels, 16), BatchNorm(16)), scale
        self.layers = nn.Sequential(NormBehind(16, 2, self.position))

    def forward(self, x):
        return self.scale * super().forward(x)


class NormBehind(Layer):
    def __init__(self, d_model, n_heads, position):
        super().__init__(d_model, n_heads, position)
        self.norms = nn.ModuleList(BatchNorm(d_model) for _ in range(2))

    def forward(self, x):
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.feed(x))


@pytest.mark.parametrize(("scale", "same"), [(1.0, True), (2.0, False)])
def test_same_logits_only_for_the_same_computation(scale, same):
    theirs = TimeSeriesTransformer(2, 3, 10, "none", 16, 2, 1, 32)
    x = torch.randn(4, 10, 2, generator=torch.Generator().manual_seed(0))
    assert small_models.same_logits(Stepwise(scale), theirs, x) is same


def test_another_kind_of_model_does_not_fit():
    theirs = PatchTransformer(2, 3, 10, "none", 16, 2, 1, 32)
    with pytest.raises(RuntimeError, match="project"):
        small_models.same_logits(Stepwise(1.0), theirs, torch.zeros(1, 10, 2))
