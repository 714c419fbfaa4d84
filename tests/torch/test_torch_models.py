"""The two transformers: shapes, options, masks, errors, one reader's encoding, learning."""

import pytest
import torch
from layers import Nearby, close
from torch import nn

from posenc import encodings
from posenc.attention import Position
from posenc.models import BatchNorm, PatchTransformer, TimeSeriesTransformer
from posenc.models.pooling import pool

MODELS = [TimeSeriesTransformer, PatchTransformer]
SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24}
POOLINGS = ["mean", "max", "last", "cls", "flatten"]


def build(cls, position="sinusoidal", length=20, **options):
    torch.manual_seed(0)
    return cls(3, 5, length, position, **{**SMALL, **options})


def series(batch=4, length=20, dtype=torch.float32):
    return torch.randn(batch, length, 3, generator=torch.Generator().manual_seed(1)).to(dtype)


def padded(length=20):
    mask = torch.ones(4, length, dtype=torch.bool)
    mask[0, 12:] = False
    mask[2, 5:] = False
    return mask


def test_defaults_are_those_of_the_survey():
    net = TimeSeriesTransformer(3, 5, 20)
    layer = net.layers[0]
    assert len(net.layers) == 4
    assert layer.attention.d_model == 128
    assert layer.attention.n_heads == 8
    assert layer.expand.out_features == 256
    assert isinstance(net.input_norm, BatchNorm)
    assert isinstance(layer.attention_norm, BatchNorm)
    assert isinstance(layer.feed_forward_norm, BatchNorm)
    assert isinstance(net.head, nn.Linear)
    assert isinstance(net.position, encodings.Sinusoidal)
    patches = PatchTransformer(3, 5, 20)
    assert isinstance(patches.patches, nn.Conv1d)
    assert not any(isinstance(m, nn.BatchNorm1d) for m in patches.modules())
    assert [type(m) for m in patches.head] == [nn.Linear, nn.GELU, nn.Linear]


def test_time_series_transformer_follows_the_algorithm_step_by_step():
    net = build(TimeSeriesTransformer, dropout=0.0).double()
    x = series(dtype=torch.float64)

    def norm(values, module):
        flat = values.flatten(0, 1)
        scaled = (flat - flat.mean(0)) / (flat.var(0, unbiased=False) + 1e-5).sqrt()
        return (scaled * module.weight + module.bias).view_as(values)

    tokens = norm(x @ net.project.weight.T + net.project.bias, net.input_norm)
    tokens = tokens + net.position.rows(20)
    for layer in net.layers:
        tokens = norm(tokens + layer.attention.attend(tokens), layer.attention_norm)
        hidden = nn.functional.gelu(layer.expand(tokens))
        tokens = norm(tokens + layer.contract(hidden), layer.feed_forward_norm)
    close(net(x), net.head(tokens.mean(1)))


def test_patches_are_what_the_convolution_sees():
    net = build(PatchTransformer, patch=8, stride=4).double().eval()
    x = series(dtype=torch.float64)
    weight, offset = net.patches.weight, net.patches.bias
    tokens, _ = net._tokens(x, None)
    assert tokens.shape == (4, 4, 16)
    for p in range(4):
        patch = x[:, 4 * p : 4 * p + 8]
        close(tokens[:, p], torch.einsum("bsc,dcs->bd", patch, weight) + offset)


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize(
    "options",
    [
        *({"norm": n, "norm_first": f} for n in ("batch", "layer", "none") for f in (False, True)),
        *({"pooling": p, "head": h} for p in POOLINGS for h in ("linear", "mlp")),
    ],
    ids=str,
)
def test_every_option_runs_and_learns(cls, options):
    net = build(cls, "tupe", **options)
    for mask in (None, padded()):
        logits = net(series(), mask)
        assert logits.shape == (4, 5)
        logits.square().sum().backward()
    assert all(p.grad.isfinite().all() for p in net.parameters())


def test_real_tokens_are_pooled_wherever_padding_stands():
    x, real = torch.randn(3, 5, 4), torch.tensor([[0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0] * 5]).bool()
    last = torch.stack((x[0, 3], x[1, 2], x[2, 0]))
    assert torch.equal(pool("last", x, real, 5), last)
    for how in ("mean", "max"):
        alone = [pool(how, x[row : row + 1, real[row]], None, 5) for row in (0, 1)]
        expected = torch.cat((*alone, torch.zeros(1, 4)))
        torch.testing.assert_close(pool(how, x, real, 5), expected)


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("name", ["sinusoidal", "relative", "erpe"])
def test_padding_is_the_same_as_a_shorter_series(cls, pooling, name):
    """In evaluation; with patches of 4 a series of 12 steps fills whole patches."""
    options = {"patch": 4} if cls is PatchTransformer else {}
    net = build(cls, name, pooling=pooling, **options).double().eval()
    x, mask = series(dtype=torch.float64), padded()
    x[0, 12:] = float("nan")  # what is masked is not looked at
    mask[2] = True
    result = net(x, mask)
    assert result.isfinite().all()
    close(result[:1], net(x[:1, :12]))
    close(result[1:], net(x[1:]))


def test_missing_steps_may_lie_anywhere():
    net = build(TimeSeriesTransformer, "t5").double().eval()
    x, mask = series(dtype=torch.float64), torch.ones(4, 20, dtype=torch.bool)
    mask[:, [3, 4, 11]] = False
    other = x.clone()
    other[~mask] = float("inf")
    close(net(x, mask), net(other, mask), 1e-12)
    for pooling in POOLINGS:
        net = build(TimeSeriesTransformer, pooling=pooling)
        assert net(x.float(), torch.zeros_like(mask)).isfinite().all()


def test_batch_norm_counts_real_tokens_only():
    torch.manual_seed(0)
    norm = BatchNorm(3).double()
    x, mask = torch.randn(4, 20, 3).double(), padded()
    reference = nn.BatchNorm1d(3).double()
    close(norm(x, mask)[mask], reference(x[mask]), 1e-12)
    for key, value in reference.state_dict().items():
        close(norm.state_dict()[key], value, 1e-12)
    # without padding it is the ordinary one
    norm, reference = BatchNorm(3).double(), nn.BatchNorm1d(3).double()
    torch.testing.assert_close(norm(x).flatten(0, 1), reference(x.flatten(0, 1)))
    whole = BatchNorm(3).double()
    torch.testing.assert_close(whole(x, torch.ones(4, 20, dtype=torch.bool)), norm(x))
    for key, value in reference.state_dict().items():
        close(whole.state_dict()[key], value, 1e-12)


@pytest.mark.parametrize("cls", MODELS)
def test_a_position_may_be_a_class_an_instance_or_a_factory(cls):
    tokens = build(cls, Nearby).n_tokens
    for position in (Nearby, Nearby(16, 2, tokens), lambda d, h, n: Nearby(d, h, n)):
        net = build(cls, position)
        slopes = {id(layer.attention.position.strength) for layer in net.layers}
        assert len(slopes) == 2  # its own in every layer
        net(series()).sum().backward()
        assert all(layer.attention.position.strength.grad is not None for layer in net.layers)
        shared = build(cls, position, share_position=True)
        assert shared.layers[0].attention.position is shared.layers[1].attention.position


def test_embed_is_called_once_per_forward_pass_or_in_every_layer(monkeypatch):
    calls = []
    original = encodings.Sinusoidal.embed
    monkeypatch.setattr(
        encodings.Sinusoidal, "embed", lambda self, x: calls.append(1) or original(self, x)
    )
    build(TimeSeriesTransformer, "sinusoidal")(series())
    assert len(calls) == 1
    calls.clear()
    build(TimeSeriesTransformer, "tpe", n_layers=3)(series())
    assert len(calls) == 3


@pytest.mark.parametrize("name", ["t5", "alibi", "tupe"])
@pytest.mark.parametrize("times", [None, torch.arange(20).flip(0)])
def test_position_only_scores_are_computed_once_per_forward_pass(name, times, monkeypatch):
    shapes, cls = [], encodings.get(name)
    original = cls.bias

    def spy(*given, **places):
        bias = original(*given, **places)
        shapes.append(bias.shape)
        return bias

    monkeypatch.setattr(cls, "bias", spy)
    build(TimeSeriesTransformer, name, n_layers=3)(series(), times=times)
    assert [tuple(shape[-3:]) for shape in shapes] == [(2, 20, 20)]


def test_class_token_resets_tupe_and_only_tupe():
    net = build(TimeSeriesTransformer, "tupe", pooling="cls")
    assert net.position.theta.shape == (2, 2, 1, 1)
    assert build(TimeSeriesTransformer, "tupe").position.theta is None
    with torch.no_grad():
        net.position.theta.copy_(torch.tensor([1.5, -2.5]).view(2, 1, 1, 1))
    bias = net.position.bias(torch.zeros(1, 21, 16), None, None)
    assert (bias[:, 0] == 1.5).all()
    assert (bias[:, 1:, 0] == -2.5).all()


def test_options_reach_the_encoding():
    options = {"pairing": "half", "base": 100.0}
    net = build(TimeSeriesTransformer, "rotary", position_options=options)
    assert all(layer.attention.position.pairing == "half" for layer in net.layers)
    with pytest.raises(ValueError, match="position_options must be empty"):
        build(TimeSeriesTransformer, Nearby(16, 2, 20), position_options=options)


@pytest.mark.parametrize("cls", MODELS)
def test_longer_and_shorter_series(cls):
    net = build(cls).eval()
    assert net(series(length=50)).shape == net(series(length=1)).shape == (4, 5)
    flat = build(cls, pooling="flatten").eval()
    assert flat(series(length=3)).shape == (4, 5)
    with pytest.raises(ValueError, match="tokens for pooling = 'flatten', got"):
        flat(series(length=50))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_named(cls, bad):
    net, x = build(cls), series()
    x[2, 7, 1] = bad
    message = r"x must be finite, got -?(nan|inf) at batch row 2, step 7, channel 1 \(1 such values"
    with pytest.raises(ValueError, match=message):
        net(x)
    assert build(cls, check_input=False)(x).isnan().any()
    # a sum that overflows is no missing value
    assert net(torch.full((1, 20, 3), 3e38).double().float()).shape == (1, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_heads": 3}, "n_heads must divide d_model = 16, got 3"),
        ({"dropout": 1.5}, "dropout must be a probability"),
        (
            {"norm": "btach"},
            "norm must be one of batch, layer, none, got 'btach'; did you mean 'ba",
        ),
        ({"position": "rotory"}, "position must be one of none, .* did you mean 'rotary'"),
        ({"position": 3}, r"position must be a name \(none, .* fire, .*, window_statistics\), a"),
        ({"position": ["none"] * 3}, "one encoding or a list of n_layers = 2, got 3"),
        ({"position": Position(16, 4, 20)}, "must be made for d_model = 16 and n_heads = 2"),
        ({"position": lambda *_: 3}, "position must be a posenc.attention.Position, got 3"),
        ({"position_options": ["base"]}, "position_options must be "),
    ],
)
@pytest.mark.parametrize("cls", MODELS)
def test_bad_arguments_are_named(cls, options, message):
    given = {"n_channels": 3, "n_classes": 5, "length": 20, **SMALL, **options}
    with pytest.raises(ValueError, match=message):
        cls(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((torch.zeros(20, 3),), r"x must have shape .*n_channels = 3\), got \(20, 3\)"),
        ((torch.zeros(4, 20, 2),), r"got \(4, 20, 2\)"),
        ((torch.zeros(4, 0, 3),), "x must have at least one step"),
        ((torch.zeros(4, 20, 3), torch.ones(4, 20)), "mask must be bool"),
        ((torch.zeros(4, 20, 3).numpy(),), "x must be a torch.Tensor, got ndarray"),
        ((series().double(),), r"x must be torch.float32 .* got torch.float64; x.to\("),
    ],
)
def test_bad_inputs_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        build(TimeSeriesTransformer)(*given)


def test_patches_do_not_leave_steps_out():
    with pytest.raises(ValueError, match="stride must be"):
        build(PatchTransformer, patch=8, stride=9)


def order_task(n, length, generator):
    """Two classes that hold the same values in opposite order: order is all there is to learn."""
    up = torch.sort(torch.rand(n, length, 1, generator=generator), 1).values
    y = torch.randint(2, (n,), generator=generator)
    return torch.where(y[:, None, None] == 1, up, up.flip(1)), y


@pytest.mark.parametrize("name", encodings.names())
def test_every_encoding_learns_order_and_none_cannot(name):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    net = TimeSeriesTransformer(
        1, 2, 12, name, d_model=16, n_heads=2, n_layers=1, d_ff=32, dropout=0.0
    )
    optimiser = torch.optim.Adam(net.parameters(), 5e-3)
    for _ in range(150):
        x, y = order_task(64, 12, generator)
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimiser.step()
    x, y = order_task(500, 12, generator)
    accuracy = (net.eval()(x).argmax(1) == y).float().mean().item()
    if name == "none":
        assert accuracy < 0.6
    elif name == "alibi":
        # distance alone is blind to direction: a series and its mirror image look alike
        assert accuracy < 0.6
    else:
        assert accuracy > 0.9, name
