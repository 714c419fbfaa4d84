"""What the chapter on models measures in small ones."""

import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.attention import Position
from posenc.models import BatchNorm, LayerNorm, PatchTransformer, TimeSeriesTransformer
from posenc.teaching import order_task, small_models


@pytest.fixture(scope="module")
def order():
    return order_task.which_came_first()


def test_a_pair_holds_the_same_steps_in_another_order(order):
    for x, y in order.values():
        assert x.shape == (20, 50, 6)
        assert y.tolist() == [0] * 10 + [1] * 10
        assert torch.equal(x[:10, :25], x[10:, 25:])
        assert torch.equal(x[:10, 25:], x[10:, :25])
        assert not torch.equal(x[:10], x[10:])


def test_recordings_are_standardised_by_the_training_part():
    x, y = order_task.activities(n_steps=100)["train"]
    assert x.shape == (40, 100, 6)
    assert y.bincount().tolist() == [10] * 4
    assert x.mean((0, 1)).abs().max() < 1e-5
    assert order_task.activities()["test"][0].shape == (40, 50, 6)


@pytest.mark.parametrize("patch", [None, 5])
def test_a_model_that_is_blind_is_right_in_half_of_the_pairs(order, patch):
    fitted, tested = small_models.compare_encodings(
        {"none": "none", "clock": Clock}, order, seeds=range(2), n_steps=3, patch=patch
    )
    assert tested["none"] == fitted["none"] == [0.5, 0.5]
    assert len(tested["clock"]) == 2


class Clock(Position):
    def embed(self, x):
        return x + torch.linspace(-1, 1, x.shape[1])[:, None]


def test_training_repeats_and_lowers_the_loss(order):
    def make():
        return TimeSeriesTransformer(6, 2, 50, **small_models.SIZE)

    one, two = (small_models.train(make, order["train"], seed=1, n_steps=5) for _ in range(2))
    x, y = order["train"]
    assert torch.equal(one(x), two(x))
    untrained = small_models.train(make, order["train"], seed=1, n_steps=0)
    loss = nn.functional.cross_entropy
    assert loss(one(x), y) < loss(untrained(x), y)


def test_reversal_is_seen_by_signed_offsets_only(order):
    x, _ = order["test"]
    seen = {name: small_models.sees_reversal(name, x) for name in ("none", "alibi", "rotary")}
    assert seen == {"none": False, "alibi": False, "rotary": True}


def test_residual_paths_keep_tokens_apart():
    assert small_models.told_apart(residual=False) < 0.05
    assert small_models.told_apart(residual=True) > 0.5


def test_operations_of_a_linear_map():
    assert small_models.operations(nn.Linear(8, 16), torch.zeros(1, 10, 8)) == 2 * 10 * 8 * 16


def test_what_a_norm_leaves():
    feature, token = small_models.largest_means(BatchNorm)
    assert feature < 1e-5 < token
    feature, token = small_models.largest_means(LayerNorm)
    assert token < 1e-5 < feature


def test_added_parameters_are_those_of_the_encoding():
    nothing, added = small_models.added_parameters(6, 4, 100)
    assert list(added) == list(encodings.names())
    assert added["learnable"] == 100 * 128
    assert added["none"] == added["rotary"] == 0
    model = TimeSeriesTransformer(6, 4, 100, "none")
    assert nothing == sum(weights.numel() for weights in model.parameters())


class Stepwise(nn.Module):
    """The chapter's model with one part left out, if asked."""

    def __init__(self, scale):
        super().__init__()
        inner = TimeSeriesTransformer(2, 3, 10, "none", 16, 2, 1, 16)
        self.tokens = nn.Sequential(inner.project, inner.input_norm)
        self.layers, self.head, self.scale = inner.layers, inner.head, scale

    def forward(self, x):
        x = self.tokens(x)
        for layer in self.layers:
            x = layer(x, None, None)
        return self.scale * self.head(x.mean(1))


@pytest.mark.parametrize(("scale", "same"), [(1.0, True), (2.0, False)])
def test_same_logits_only_for_the_same_computation(scale, same):
    theirs = TimeSeriesTransformer(2, 3, 10, "none", 16, 2, 1, 16)
    x = torch.randn(4, 10, 2, generator=torch.Generator().manual_seed(0))
    assert small_models.same_logits(Stepwise(scale), theirs, x) is same


def test_another_kind_of_model_does_not_fit():
    theirs = PatchTransformer(2, 3, 10, "none", 16, 2, 1, 16)
    with pytest.raises(RuntimeError, match="project"):
        small_models.same_logits(Stepwise(1.0), theirs, torch.zeros(1, 10, 2))
