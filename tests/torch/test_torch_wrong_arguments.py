"""Every encoding names a wrong size, and what it would take; a layer names a wrong input."""

import inspect
import math

import numpy as np
import pytest
import torch

from posenc import encodings
from posenc.attention import (
    Cache,
    CrossAttention,
    LatentAttention,
    LatentSizes,
    Places,
    QueryScaling,
    Scoring,
    SelfAttention,
    rope,
)
from posenc.encodings import GraphPosition, window_statistics
from posenc.models import LanguageModel, PatchTransformer, TimeSeriesTransformer

NAMES = encodings.names("all")
SIZES = {"d_model": 16, "n_heads": 2, "max_length": 8}
WRONG = (None, "text", [], 0, -1, 0.5, math.nan, math.inf, True, 10**400, object())
INPUTS = {
    "two axes": torch.zeros(8, 16),
    "another width": torch.zeros(1, 8, 12),
    "whole numbers": torch.zeros(1, 8, 16, dtype=torch.long),
    "no tensor": [[0.0] * 16],
    "None": None,
    "another precision": torch.zeros(1, 8, 16, dtype=torch.float64),
}


@pytest.mark.parametrize("argument", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_size_is_named(name, argument):
    for value in WRONG:
        with pytest.raises(ValueError, match=rf"\b{argument}\b"):
            encodings.make(name, **{**SIZES, argument: value})


OPTIONS = [
    (name, option)
    for name in NAMES
    for option in inspect.signature(encodings.get(name)).parameters
    if option not in SIZES
]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_a_wrong_option_is_named(name, option):
    for value in (object(), "text", -2):
        with pytest.raises(ValueError, match=rf"\b{option}\b"):
            encodings.make(name, **SIZES, **{option: value})


SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 1}
IN_LAYER = {"d_model": 16, "n_heads": 2, "position": encodings.make("none", **SIZES)}
RANKS = {"kv_rank": 1, "d_plain": 1, "d_position": 8, "d_value": 1}
CLASSES = {
    SelfAttention: IN_LAYER,
    CrossAttention: IN_LAYER,
    LatentAttention: IN_LAYER | {"sizes": LatentSizes(**RANKS)},
    LatentSizes: RANKS,
    Scoring: {},
    QueryScaling: {"beta": 1.0, "every": 2},
    Cache: {},
    GraphPosition: SIZES,
    TimeSeriesTransformer: {"n_channels": 1, "n_classes": 2, "length": 8, **SMALL},
    PatchTransformer: {"n_channels": 1, "n_classes": 2, "length": 8, **SMALL},
    LanguageModel: {"n_tokens": 5, **SMALL},
}


@pytest.mark.parametrize(
    ("cls", "argument"),
    [(cls, one) for cls in CLASSES for one in inspect.signature(cls).parameters],
)
def test_a_wrong_argument_of_a_layer_or_a_model_is_named(cls, argument):
    cls(**CLASSES[cls])
    for value in (object(), "text", -2):
        with pytest.raises(ValueError, match=rf"\b{argument}\b"):
            cls(**{**CLASSES[cls], argument: value})


@pytest.mark.parametrize("name", [None, 3, "rotery", [], {}])
def test_a_wrong_name_is_named(name):
    with pytest.raises(ValueError, match="position must be one of none, sinusoidal"):
        encodings.make(name, **SIZES)


@pytest.mark.parametrize("name", encodings.names("series"))
def test_what_is_not_finite_stays_in_its_own_sequence_and_is_seen_there(name):
    """A layer does not look at values. A weight of 0 does not hide them: 0 times NaN is NaN."""
    layer = SelfAttention(16, 2, encodings.make(name, **SIZES)).eval()
    x = torch.zeros(2, 8, 16)
    x[0, 5] = math.nan
    out = layer(x)
    assert out[0].isnan().any()
    assert out[1].isfinite().all()


NESTED = [
    lambda x, _: layer()(x),
    lambda x, _: layer().weights(x),
    lambda x, _: layer(CrossAttention)(x, x),
    lambda x, _: layer(CrossAttention)(torch.zeros(2, 8, 16), x),
    lambda x, _: series_model()(x),
    lambda _, tokens: causal_model()(tokens),
    lambda x, _: rope(x, torch.arange(8), torch.ones(8)),
]


@pytest.mark.parametrize("call", NESTED)
@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_told_how_to_become_a_plain_one(call, layout):
    x = torch.nested.nested_tensor([torch.zeros(5, 16), torch.zeros(3, 16)], layout=layout)
    tokens = torch.nested.nested_tensor([torch.ones(5).long(), torch.ones(3).long()], layout=layout)
    with pytest.raises(ValueError, match="must be a plain tensor, got a nested one; torch"):
        call(x, tokens)


UNKNOWN = [
    (lambda: layer()(X, position=1), r"SelfAttention\.forward has no .* is positions here"),
    (lambda: layer()(X, position_ids=1), "position_ids is positions here; it takes x, mask, padd"),
    (lambda: layer()(X, attention_mask=1), "attention_mask is padding here, bool, True for a real"),
    (lambda: layer()(X, key_padding_mask=1), "is padding here, True for .* PyTorch's marks a padd"),
    (lambda: layer()(X, attn_mask=1), "attn_mask is pairs here, bool, True where a query looks"),
    (lambda: layer()(X, past_key_values=1), "past_key_values is cache here"),
    (lambda: layer()(X, paddding=1), "no argument paddding; did you mean padding?"),
    (lambda: layer()(X, hidden=1), "no argument hidden; it takes x"),
    (lambda: layer().weights(X, position=1), r"SelfAttention\.weights has no argument position;"),
    (lambda: layer(CrossAttention)(X, X, context_position=1), "did you mean context_positions?"),
    (lambda: series_model()(X, positions=1), "positions is times here; it takes x, mask, times"),
    (lambda: causal_model()(input_ids=1), "input_ids is tokens here"),
]


@pytest.mark.parametrize(("call", "message"), UNKNOWN)
def test_an_unknown_argument_is_told_what_it_is_called_here(call, message):
    with pytest.raises(TypeError, match=message):
        call()


X = torch.zeros(2, 8, 16)
NOT_POSITIONS = ("x", {}, object(), [[0], [1, 2]], [None] * 8, ["a"] * 8)


def layer(kind=SelfAttention, **more):
    return kind(16, 2, encodings.make("alibi", **SIZES), **more).eval()


def series_model(**options):
    return TimeSeriesTransformer(16, 3, 8, "rotary", 16, 2, 1, 16, norm="layer", **options).eval()


def causal_model(**options):
    return LanguageModel(5, 16, 2, 1, max_length=8, **options).eval()


@pytest.mark.parametrize("mask", ["x", [[True] * 8] * 2, 1, object()])
def test_a_wrong_mask_is_named(mask):
    for call in (layer(), layer().weights, series_model()):
        with pytest.raises(ValueError, match=r"^mask must be a bool tensor"):
            call(X, mask)
    with pytest.raises(ValueError, match=r"^mask must be a bool tensor"):
        layer(CrossAttention)(X, X, mask)


@pytest.mark.parametrize("cache", ["x", {}, 3, [], True])
def test_a_wrong_cache_is_named(cache):
    with pytest.raises(ValueError, match=r"^cache must be a posenc\.attention\.Cache or None"):
        layer(causal=True)(X, cache=cache)
    with pytest.raises(ValueError, match=r"^cache must be a posenc\.attention\.Cache or None"):
        causal_model()(torch.zeros(1, 4, dtype=torch.long), cache=cache)


@pytest.mark.parametrize("given", NOT_POSITIONS)
def test_wrong_positions_are_named(given):
    with pytest.raises(ValueError, match=r"^positions must be integers or real numbers, got"):
        layer()(X, positions=given)
    with pytest.raises(ValueError, match=r"^context_positions must be integers or real numbers"):
        layer(CrossAttention)(X, X, context_positions=given)
    with pytest.raises(ValueError, match=r"^times must be integers or real numbers"):
        series_model()(X, times=given)
    with pytest.raises(ValueError, match=r"^positions must be integers or real numbers"):
        causal_model()(torch.zeros(1, 8, dtype=torch.long), positions=given)


def handed_over():
    """Return everybody who takes positions, with the name of the argument."""
    text, cross = torch.zeros(1, 8, dtype=torch.long), layer(CrossAttention)
    patches = PatchTransformer(16, 2, 8, "rotary", 16, 2, 1, 16, patch=2).eval()
    return [
        ("positions", lambda t: layer()(X, positions=t)),
        ("positions", lambda t: layer().weights(X, positions=t)),
        ("positions", lambda t: layer(causal=True)(X, positions=t, cache=Cache())),
        ("positions", lambda t: cross(X, X, positions=t)),
        ("context_positions", lambda t: cross(X, X, context_positions=t)),
        ("context_positions", lambda t: cross.weights(X, X, context_positions=t)),
        ("positions", lambda t: causal_model()(text, positions=t)),
        ("positions", lambda t: Places.at(t, X)),
        ("times", lambda t: series_model()(X, times=t)),
        ("times", lambda t: patches(X, times=t)),
    ]


@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.bfloat16, 256), (torch.float16, 2048), (torch.float8_e5m2, 8)]
)
def test_positions_that_a_type_has_rounded_are_refused(dtype, most):
    """In bfloat16, 256 and 257 are one number."""
    said = f"whole numbers above {most} have been rounded, got dtype {dtype}$"
    for name, call in handed_over():
        wanted = rf"^{name} must be integers, float32 or float64 from the start.*{said}"
        with pytest.raises(ValueError, match=wanted):
            call(torch.arange(8.0).to(dtype))
        for exact in (torch.int16, torch.float32, torch.float64):
            call(torch.arange(8).to(exact))


CLOCK = 1.7e9 + 60 * np.arange(8)  # in seconds since 1970
ROUNDED = torch.tensor(CLOCK, dtype=torch.float32)


@pytest.mark.parametrize("given", [ROUNDED, ROUNDED.double(), ROUNDED.long(), ROUNDED.tolist()])
def test_clock_times_that_float32_has_joined_are_warned_of(given):
    for name, call in handed_over():
        said = rf"^{name} have equal neighbours.* 128 apart.*subtr"
        with pytest.warns(UserWarning, match=said) as seen:
            call(given)
        assert {one.filename for one in seen} == {__file__}  # the line that called
        call(torch.tensor(CLOCK))
        call((torch.tensor(CLOCK) - CLOCK[0]).float())
        call(torch.arange(8) // 2)  # equal on purpose
        call((torch.arange(8) // 2).float())


def test_clock_times_are_warned_of_one_at_a_time_too():
    cached, cache = layer(causal=True), Cache()
    cached(X[:, :1], positions=ROUNDED[:1], cache=cache)
    with pytest.warns(UserWarning, match="^positions have equal neighbours"):
        cached(X[:, :1], positions=ROUNDED[1:2], cache=cache)


def test_padded_times_and_points_of_a_plane_are_compared_where_they_count():
    mask = torch.arange(8).expand(2, 8) < 5
    times = (torch.rand(2, 8) + torch.arange(8)).where(mask, 7.25)
    series_model()(X, mask, times=times)
    plane = SelfAttention(16, 2, encodings.make("axial_rotary", **SIZES, n_axes=2)).eval()
    grid = torch.stack((ROUNDED, torch.arange(8.0)), -1)
    with pytest.warns(UserWarning, match="steps between them are rounded"):
        plane(X, positions=grid)  # along the second axis, no two are equal
    with pytest.warns(UserWarning, match="^positions have equal neighbours"):
        plane(X, positions=torch.stack((ROUNDED, torch.zeros(8)), -1))


@pytest.mark.parametrize("far", [2**53 + 1, -(2**53) - 1, 2**62])
def test_positions_that_float64_rounds_are_refused(far):
    for name, call in handed_over():
        wanted = rf"^{name} must be at most 2\*\*53 = 9,007,199,254,740,992 in size"
        with pytest.raises(ValueError, match=wanted):
            call(torch.arange(8) + far)
        with pytest.raises(ValueError, match=wanted):
            call(2.0 * far + 1e6 * np.arange(8))


def test_masked_positions_are_refused():
    for name, call in handed_over():
        with pytest.raises(ValueError, match=rf"^{name} must not be a masked array"):
            call(np.ma.array(np.arange(8.0), mask=[0, 0, 1, 0, 0, 0, 0, 0]))


def test_a_model_of_a_half_type_takes_times_in_float32():
    model, times = series_model().bfloat16(), 256 + torch.arange(8.0)
    out = model(X.bfloat16(), times=times)
    assert out.dtype == torch.bfloat16
    assert torch.equal(out, model(X.bfloat16(), times=times.double()))
    half = layer().bfloat16()
    assert half(X.bfloat16(), positions=times).dtype == torch.bfloat16


@pytest.mark.parametrize("what", INPUTS)
def test_a_wrong_input_or_context_is_named(what):
    for call in (layer(), layer().weights):
        with pytest.raises(ValueError, match=r"^x must"):
            call(INPUTS[what])
    for call in (layer(CrossAttention), layer(CrossAttention).weights):
        with pytest.raises(ValueError, match=r"^context must"):
            call(X[:1], INPUTS[what])
        with pytest.raises(ValueError, match=r"^x must"):
            call(INPUTS[what], X[:1])


def test_another_precision_is_what_autocast_is_for():
    with torch.autocast("cpu", torch.bfloat16):
        assert layer()(X.bfloat16()).dtype == torch.bfloat16
    assert layer().double()(X.double()).dtype == torch.float64


@pytest.mark.parametrize(("argument", "value"), [("past", "no"), ("lags", "3"), ("lags", None)])
def test_a_wrong_window_is_named(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument} must be "):
        window_statistics(X, 3, **{argument: value})
