"""Layers whose linear maps somebody replaced: quantised ones, adapters, wrappers."""

import copy

import pytest
import torch
from layers import close
from torch import nn
from torch.nn.functional import linear

from posenc import encodings
from posenc.attention import CrossAttention, SelfAttention
from posenc.models import PatchTransformer, TimeSeriesTransformer


class Int8(nn.Module):
    """A weight-only map: whole numbers and a scale for each row."""

    def __init__(self, layer):
        super().__init__()
        scale = layer.weight.detach().abs().amax(1, keepdim=True) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("weight", (layer.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("bias", None if layer.bias is None else layer.bias.detach())

    def forward(self, x):
        return linear(x, self.weight.to(x.dtype) * self.scale.to(x.dtype), self.bias)


class Float8(Int8):
    """The same in floats of one byte."""

    def __init__(self, layer):
        super().__init__(layer)
        self.weight = self.weight.to(torch.float8_e4m3fn)


class Adapted(nn.Module):
    """A map with a low-rank one beside it, and no weight of its own."""

    def __init__(self, layer):
        super().__init__()
        self.base = layer
        self.down = nn.Linear(layer.in_features, 2, bias=False)
        self.up = nn.Linear(2, layer.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Adapter(Adapted):
    """One that shows the weight of the map below, as libraries do."""

    @property
    def weight(self):
        return self.base.weight


REPLACEMENTS = [Int8, Float8, Adapted, Adapter]


def replaced(module, by):
    """Return a copy in which every linear map was replaced."""
    module = copy.deepcopy(module)
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is nn.Linear:
                setattr(parent, name, by(child))
    return module


def merged(module):
    """Return a copy of a replaced module with the linear maps that it stands for."""
    module = copy.deepcopy(module)
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, Int8):
                weight, bias = child.weight.float() * child.scale, child.bias
            elif isinstance(child, Adapted):
                weight = child.base.weight + child.up.weight @ child.down.weight
                bias = child.base.bias
            else:
                continue
            plain = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
            plain.load_state_dict(
                {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
            )
            setattr(parent, name, plain)
    return module


@pytest.mark.parametrize(
    ("name", "by"),  # without floats as weights, without weights
    [*((name, Int8) for name in encodings.names("series")), ("rotary", Adapted), ("tpe", Adapted)],
)
def test_self_attention_works_with_replaced_maps(name, by):
    torch.manual_seed(0)
    attention = replaced(SelfAttention(16, 2, encodings.make(name, 16, 2, 12)), by).eval()
    x = torch.randn(2, 12, 16)
    close(attention(x), merged(attention)(x), 1e-5)


@pytest.mark.parametrize("by", REPLACEMENTS)
def test_cross_attention_works_with_replaced_maps(by):
    torch.manual_seed(0)
    attention = replaced(CrossAttention(16, 2, encodings.make("rotary", 16, 2, 12)), by).eval()
    x, context = torch.randn(2, 5, 16), torch.randn(2, 12, 16)
    close(attention(x, context), merged(attention)(x, context), 1e-5)


@pytest.mark.parametrize("by", REPLACEMENTS)
@pytest.mark.parametrize("head", ["linear", "mlp"])
@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer])
def test_classifiers_work_with_replaced_maps(cls, head, by):
    torch.manual_seed(0)
    model = replaced(cls(3, 4, 24, "tupe", 16, 2, 2, 16, head=head), by).eval()
    x = torch.randn(2, 24, 3)
    mask = torch.rand(2, 24) > 0.3
    close(model(x, mask), merged(model)(x, mask), 1e-5)


@pytest.mark.parametrize("by", [Adapted, Adapter])
@pytest.mark.parametrize("name", ["fire", "deberta", "transformer_xl"])
def test_adapters_of_an_encoding_learn(name, by):
    attention = replaced(SelfAttention(16, 2, encodings.make(name, 16, 2, 12)), by)
    attention(torch.randn(2, 12, 16)).square().sum().backward()
    adapters = [m for m in attention.position.modules() if isinstance(m, Adapted)]
    assert adapters
    assert all(a.up.weight.grad.abs().max() > 0 for a in adapters)


def test_other_types_are_still_named_where_a_weight_holds_floats():
    attention = SelfAttention(16, 2, encodings.make("rotary", 16, 2, 12))
    attention.out = Int8(attention.out)
    with pytest.raises(ValueError, match=r"^x must be torch\.float32 as the layer is"):
        attention(torch.randn(1, 5, 16).double())
    model = TimeSeriesTransformer(3, 4, 24, "none", 16, 2, 1, 16)
    model.head = Int8(model.head)
    with pytest.raises(ValueError, match=r"^x must be torch\.float32 as the model is"):
        model(torch.randn(1, 24, 3).double())
    model.project = Int8(model.project)
    with pytest.raises(ValueError, match=r"^x must hold floating-point numbers, got torch\.int64"):
        model(torch.ones(1, 24, 3, dtype=torch.long))


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_constants_stay_floats_where_a_checkpoint_holds_integers(share):
    def quantised():
        made = SelfAttention(16, 2, encodings.make("rotary", 16, 2, 12, share=share))
        return replaced(made, Int8).eval()

    torch.manual_seed(0)
    source, x = quantised(), torch.randn(2, 12, 16)
    with torch.device("meta"):
        target = SelfAttention(16, 2, encodings.make("rotary", 16, 2, 12, share=share))
    target = replaced(target, Int8).eval()
    target.load_state_dict(source.state_dict(), assign=True)
    assert target.position.cos.dtype == torch.float32
    torch.testing.assert_close(target(x), source(x))
