"""One test per fault that was found in published code for these encodings."""

import math

import pytest
import torch
from layers import close

from posenc import encodings
from posenc.models import PatchTransformer, TimeSeriesTransformer

SMALL = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24}


def model(cls, name, length=24, **options):
    torch.manual_seed(5)
    return cls(3, 4, length, name, **{**SMALL, **options})


def series(batch=4, length=24):
    return torch.randn(batch, length, 3, generator=torch.Generator().manual_seed(8))


@pytest.mark.parametrize("name", encodings.names())
def test_repeated_forward_passes_change_neither_buffers_nor_inputs(name):
    net = model(TimeSeriesTransformer, name, norm="layer")
    x = series()
    before = x.clone()
    state = {k: v.clone() for k, v in (*net.named_buffers(), *net.named_parameters())}
    for training in (True, False):
        net.train(training)
        for _ in range(3):
            net(x)
            net(x[:, :17])
    assert torch.equal(x, before)
    for key, value in (*net.named_buffers(), *net.named_parameters()):
        assert torch.equal(value, state[key]), key


@pytest.mark.parametrize("name", ["sine_spe", "conv_spe"])
def test_noise_is_drawn_once_for_the_whole_batch(name):
    net = model(TimeSeriesTransformer, name, norm="layer", dropout=0.0).double().train()
    x = series().double()

    def run(values):
        torch.manual_seed(2)
        return net(values)

    order = torch.tensor([2, 0, 3, 1])
    close(run(x[order]), run(x)[order], 1e-12)


def test_kernels_of_stochastic_encodings_start_as_sums_of_cosines_and_a_triangle():
    torch.manual_seed(0)
    lag = torch.arange(10.0)[:, None] - torch.arange(10.0)
    sine = encodings.make("sine_spe", 8, 2, 10, n_sines=1).double()
    cosine = (sine.omega[..., None] * lag).cos().reshape(2, 4, 10, 10)
    torch.testing.assert_close(sine.kernel(10), cosine)
    triangle = (1 - lag.abs() / 4).clamp(min=0).expand(2, 4, 10, 10)
    conv = encodings.make("conv_spe", 8, 2, 10, kernel_size=4)
    torch.testing.assert_close(conv.kernel(10), triangle)


@pytest.mark.parametrize(
    ("cls", "options", "n_tokens"),
    [
        (TimeSeriesTransformer, {}, 30),
        (TimeSeriesTransformer, {"pooling": "cls"}, 31),
        (PatchTransformer, {"patch": 8}, 4),
        (PatchTransformer, {"patch": 8, "stride": 4}, 7),
        (PatchTransformer, {"patch": 8, "pooling": "cls"}, 5),
        (PatchTransformer, {"patch": 30}, 1),
        (PatchTransformer, {"patch": 64}, 1),
    ],
)
@pytest.mark.parametrize("name", ["learnable", "tape", "relative"])
def test_the_table_is_as_long_as_the_tokens_that_the_layer_sees(cls, options, n_tokens, name):
    net = model(cls, name, length=30, **options).eval()
    assert {layer.attention.position.max_length for layer in net.layers} == {n_tokens}
    tokens, _ = net.encode(series(length=30))
    assert tokens.shape[1] == n_tokens
    if name == "tape" and n_tokens > 1:
        omega = 16 / n_tokens  # the fastest frequency of tAPE is d_model / n_tokens
        assert net.position.rows(2)[1, 0].item() == pytest.approx(math.sin(omega), abs=1e-6)


PER_LAYER = ["relative", "sine_spe", "conv_spe", "tpe", "erpe"]


@pytest.mark.parametrize("name", encodings.names())
def test_relative_encodings_sit_in_every_layer(name):
    net = model(TimeSeriesTransformer, name, n_layers=3)
    positions = [layer.attention.position for layer in net.layers]
    assert len({id(p) for p in positions}) == (3 if name in PER_LAYER else 1)
    once = sum(p.numel() for p in encodings.make(name, 16, 4, 24).parameters())
    bare = sum(p.numel() for p in model(TimeSeriesTransformer, "none", n_layers=3).parameters())
    times = 3 if name in PER_LAYER else 1
    assert sum(p.numel() for p in net.parameters()) == bare + times * once
    # every layer's position takes part in learning
    net(series()).square().sum().backward()
    for key, parameter in net.named_parameters():
        assert parameter.grad is not None, key
    own = list(positions[0].parameters())
    for i, layer in enumerate(positions[1:], 1):
        for a, b in zip(own, layer.parameters(), strict=True):
            assert times == 1 or a is not b, i
