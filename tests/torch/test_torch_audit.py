"""One test per fault that was found in published code for these encodings."""

import math

import pytest
import torch

from posenc import encodings
from posenc.attention import SelfAttention
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


def test_batch_norm_buffers_rest_in_evaluation():
    net = model(TimeSeriesTransformer, "sinusoidal").eval()
    state = {k: v.clone() for k, v in net.named_buffers()}
    net(series())
    assert all(torch.equal(v, state[k]) for k, v in net.named_buffers())


@pytest.mark.parametrize("name", ["sine_spe", "conv_spe"])
def test_noise_is_drawn_once_for_the_whole_batch(name):
    net = model(TimeSeriesTransformer, name, norm="layer", dropout=0.0).double().train()
    x = series().double()

    def run(values):
        torch.manual_seed(2)
        return net(values)

    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(run(x[order]), run(x)[order], rtol=0, atol=1e-12)


def test_batch_norm_in_evaluation_keeps_rows_apart():
    net = model(TimeSeriesTransformer, "sinusoidal").double().eval()
    x = series().double()
    torch.testing.assert_close(net(x[:1])[0], net(x)[0], rtol=0, atol=1e-12)


def test_stochastic_encodings_are_neither_sinusoids_nor_each_other():
    torch.manual_seed(0)
    outputs = {}
    q = torch.randn(1, 2, 10, 4)
    for name in ("sinusoidal", "sine_spe", "conv_spe"):
        position = encodings.make(name, 8, 2, 10).eval()
        rotated, _ = position.rotate(q, q)
        outputs[name] = (type(position).doors(), rotated)
    assert outputs["sinusoidal"][0] == ("embed",)
    assert torch.equal(outputs["sinusoidal"][1], q)
    for name in ("sine_spe", "conv_spe"):
        assert outputs[name][0] == ("rotate",)
        assert outputs[name][1].shape == (1, 2, 10, 64)
    assert (outputs["sine_spe"][1] - outputs["conv_spe"][1]).abs().max() > 0.1
    # and their kernels at the start are those of theory: sums of cosines, and a triangle
    sine = encodings.make("sine_spe", 8, 2, 10, n_sines=1).double()
    cosine = (
        sine.omega[..., None] * (torch.arange(10.0)[:, None] - torch.arange(10.0))[None]
    ).cos()
    torch.testing.assert_close(sine.kernel(10), cosine.squeeze(2).reshape(2, 4, 10, 10))
    lag = (torch.arange(10)[:, None] - torch.arange(10)).abs()
    triangle = (1 - lag / 4).clamp(min=0).expand(2, 4, 10, 10)
    conv = encodings.make("conv_spe", 8, 2, 10, kernel_size=4)
    torch.testing.assert_close(conv.kernel(10), triangle)


@pytest.mark.parametrize("max_distance", [1, 3, 11])
def test_shaw_scores_are_right_in_both_triangles(max_distance):
    torch.manual_seed(0)
    position = encodings.make("relative", 12, 3, 12, max_distance=max_distance).double()
    q = torch.randn(2, 3, 12, 4).double()
    bias = position.bias(torch.zeros(2, 12, 12), q, q)
    for b in range(2):
        for h in range(3):
            for i in range(12):
                for j in range(12):
                    row = min(max(j - i, -max_distance), max_distance) + max_distance
                    expected = sum(
                        q[b, h, i, d].item() * position.keys[0, row, d].item() for d in range(4)
                    )
                    assert bias[b, h, i, j].item() == pytest.approx(expected / 2, abs=1e-12)


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


@pytest.mark.parametrize("name", encodings.names())
@pytest.mark.parametrize("n_heads", [1, 8])
def test_every_head_count_works_and_nothing_starts_as_nan(name, n_heads):
    net = model(TimeSeriesTransformer, name, n_heads=n_heads)
    for values in (*net.parameters(), *net.buffers()):
        assert values.isfinite().all()
    assert net(series()).isfinite().all()


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


def test_position_enters_scores_of_every_layer():
    for name in ("rotary", "relative", "t5", "alibi", "tupe", "tpe", "erpe"):
        net = model(TimeSeriesTransformer, name, n_layers=3).eval()
        x = torch.ones(1, 24, 16)
        for layer in net.layers:
            # equal tokens: without position all weights would be 1 / 24
            tokens = x + torch.linspace(0, 1, 24)[:, None] if name == "rotary" else x
            spread = layer.attention.weights(tokens)
            plain = SelfAttention(16, 4, encodings.make("none", 16, 4, 24))
            plain.load_state_dict(
                {k: v for k, v in layer.attention.state_dict().items() if "position" not in k}
            )
            assert (spread - plain.weights(tokens)).abs().max() > 1e-5, name
