"""The two transformers: shapes, options, masks, errors, one reader's encoding, learning."""

import pytest
import torch
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
    expected = net.head(tokens.mean(1))
    torch.testing.assert_close(net(x), expected, rtol=0, atol=1e-9)


def test_patches_are_what_the_convolution_sees():
    net = build(PatchTransformer, patch=8, stride=4).double().eval()
    x = series(dtype=torch.float64)
    weight, offset = net.patches.weight, net.patches.bias
    tokens, _ = net._tokens(x, None)
    assert tokens.shape == (4, 4, 16)
    for p in range(4):
        patch = x[:, 4 * p : 4 * p + 8]
        expected = torch.einsum("bsc,dcs->bd", patch, weight) + offset
        torch.testing.assert_close(tokens[:, p], expected, rtol=0, atol=1e-9)


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
    torch.testing.assert_close(result[:1], net(x[:1, :12]), rtol=0, atol=1e-9)
    torch.testing.assert_close(result[1:], net(x[1:]), rtol=0, atol=1e-9)


def test_missing_steps_may_lie_anywhere():
    net = build(TimeSeriesTransformer, "t5").double().eval()
    x, mask = series(dtype=torch.float64), torch.ones(4, 20, dtype=torch.bool)
    mask[:, [3, 4, 11]] = False
    other = x.clone()
    other[~mask] = float("inf")
    torch.testing.assert_close(net(x, mask), net(other, mask), rtol=0, atol=1e-12)
    for pooling in POOLINGS:
        net = build(TimeSeriesTransformer, pooling=pooling)
        assert net(x.float(), torch.zeros_like(mask)).isfinite().all()


def test_batch_norm_counts_real_tokens_only():
    torch.manual_seed(0)
    norm = BatchNorm(3).double()
    x, mask = torch.randn(4, 20, 3).double(), padded()
    reference = nn.BatchNorm1d(3).double()
    expected = reference(x[mask])
    torch.testing.assert_close(norm(x, mask)[mask], expected, rtol=0, atol=1e-12)
    for key, value in reference.state_dict().items():
        torch.testing.assert_close(norm.state_dict()[key], value, rtol=0, atol=1e-12)
    # without padding it is the ordinary one
    norm, reference = BatchNorm(3).double(), nn.BatchNorm1d(3).double()
    torch.testing.assert_close(norm(x).flatten(0, 1), reference(x.flatten(0, 1)))
    whole = BatchNorm(3).double()
    torch.testing.assert_close(whole(x, torch.ones(4, 20, dtype=torch.bool)), norm(x))
    for key, value in reference.state_dict().items():
        torch.testing.assert_close(whole.state_dict()[key], value, rtol=0, atol=1e-12)


class Mine(Position):
    """A reader's encoding: a learned slope per head."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        self.slope = nn.Parameter(torch.ones(n_heads, 1, 1))

    def bias(self, x, q, k):  # noqa: ARG002
        t = torch.arange(x.shape[1], dtype=x.dtype)
        return -self.slope * (t[:, None] - t).abs()


@pytest.mark.parametrize("cls", MODELS)
def test_a_position_may_be_a_class_an_instance_or_a_factory(cls):
    tokens = build(cls, Mine).n_tokens
    for position in (Mine, Mine(16, 2, tokens), lambda d, h, n: Mine(d, h, n)):
        net = build(cls, position)
        slopes = {id(layer.attention.position.slope) for layer in net.layers}
        assert len(slopes) == 2  # its own in every layer
        net(series()).sum().backward()
        assert all(layer.attention.position.slope.grad is not None for layer in net.layers)
        shared = build(cls, position, share_position=True)
        assert shared.layers[0].attention.position is shared.layers[1].attention.position


def test_an_additive_encoding_of_ones_own_is_used_once():
    class Ramp(Position):
        def __init__(self, d_model, n_heads, max_length):
            super().__init__(d_model, n_heads, max_length)
            self.slope = nn.Parameter(torch.zeros(d_model))

        def embed(self, x):
            return x + torch.arange(x.shape[1], dtype=x.dtype)[:, None] * self.slope

    net = build(TimeSeriesTransformer, Ramp)
    assert sum("slope" in name for name, _ in net.named_parameters()) == 1


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
def test_position_only_scores_are_computed_once_per_forward_pass(name, monkeypatch):
    shapes = []
    cls = encodings.get(name)
    original = cls.bias

    def spy(self, x, q, k):
        shapes.append(original(self, x, q, k))
        return shapes[-1]

    monkeypatch.setattr(cls, "bias", spy)
    net = build(TimeSeriesTransformer, name, n_layers=3)
    net(series())
    assert [tuple(s.shape) for s in shapes] == [(2, 20, 20)]


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
        build(TimeSeriesTransformer, Mine(16, 2, 20), position_options=options)


def test_longer_and_shorter_series():
    for cls in MODELS:
        net = build(cls, "sinusoidal").eval()
        assert net(series(length=50)).shape == (4, 5)
        assert net(series(length=1)).shape == (4, 5)
        flat = build(cls, "sinusoidal", pooling="flatten").eval()
        assert flat(series(length=3)).shape == (4, 5)
        with pytest.raises(ValueError, match="tokens for pooling = 'flatten', got"):
            flat(series(length=50))
        with pytest.raises(ValueError, match="length must be at most max_length"):
            build(cls, "learnable")(series(length=50))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_values_that_are_not_finite_are_named(cls, bad):
    net = build(cls)
    x = series()
    x[2, 7, 1] = bad
    with pytest.raises(
        ValueError, match=r"x must be finite, got -?(nan|inf) at batch row 2, step 7"
    ):
        net(x)
    with pytest.raises(ValueError, match=r"channel 1 \(1 such values\)"):
        net(x)
    assert build(cls, check_input=False)(x).isnan().any()
    # a sum that overflows is no missing value
    assert net(torch.full((1, 20, 3), 3e38).double().float()).shape == (1, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_channels": 0}, "n_channels must be an integer of at least 1"),
        ({"n_classes": 0}, "n_classes must be an integer of at least 1"),
        ({"length": 0}, "length must be an integer of at least 1"),
        ({"n_heads": 3}, "n_heads must divide d_model = 16, got 3"),
        ({"n_layers": 0}, "n_layers must be an integer of at least 1"),
        ({"d_ff": 0}, "d_ff must be an integer of at least 1"),
        ({"dropout": 1.5}, "dropout must be a probability"),
        ({"attention_dropout": -0.1}, "dropout must be a probability"),
        (
            {"norm": "btach"},
            "norm must be one of batch, layer, none, got 'btach'; did you mean 'ba",
        ),
        ({"pooling": "avg"}, "pooling must be one of mean, max, last, cls, flatten"),
        ({"head": "big"}, "head must be one of linear, mlp"),
        ({"position": "rotory"}, "position must be one of none, .* did you mean 'rotary'"),
        (
            {"position": 3},
            r"position must be a name \(none, .* fire, .* dywpe, window_statistics\), a",
        ),
        (
            {"position": Position(16, 4, 20)},
            "position must be made for d_model = 16 and n_heads = 2",
        ),
        ({"position": lambda *_: 3}, "position must be a posenc.attention.Position, got 3"),
    ],
)
@pytest.mark.parametrize("cls", MODELS)
def test_bad_arguments_are_named(cls, options, message):
    given = {"n_channels": 3, "n_classes": 5, "length": 20, **SMALL, **options}
    with pytest.raises(ValueError, match=message):
        cls(**given)


def test_bad_inputs_are_named():
    net = build(TimeSeriesTransformer)
    with pytest.raises(ValueError, match=r"x must have shape .*n_channels = 3\), got \(20, 3\)"):
        net(torch.zeros(20, 3))
    with pytest.raises(ValueError, match=r"got \(4, 20, 2\)"):
        net(torch.zeros(4, 20, 2))
    with pytest.raises(ValueError, match="x must have at least one step"):
        net(torch.zeros(4, 0, 3))
    with pytest.raises(ValueError, match="mask must be bool"):
        net(series(), torch.ones(4, 20))
    with pytest.raises(ValueError, match=r"x must be a torch.Tensor, got ndarray"):
        net(series().numpy())
    with pytest.raises(ValueError, match=r"x must be torch.float32 .* got torch.float64; x.to\("):
        net(series().double())
    for stride in (0, 9):
        with pytest.raises(ValueError, match="stride must be"):
            build(PatchTransformer, patch=8, stride=stride)
    with pytest.raises(ValueError, match="patch must be an integer of at least 1"):
        build(PatchTransformer, patch=0)


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
