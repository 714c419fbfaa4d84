"""A causal layer goes by the order of its tokens, on request by positions, and warns of others."""

import warnings

import layers
import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import Cache, SelfAttention
from posenc.models import LanguageModel, TimeSeriesTransformer

D_MODEL, N_HEADS, LENGTH, BATCH = 16, 4, 9, 2


def layer(name, **more):
    return layers.layer(name, D_MODEL, N_HEADS, 20, **more)


def tokens(length=LENGTH):
    return torch.randn(BATCH, length, D_MODEL, dtype=torch.float64)


OF_TOKENS = {"cope", "fox", "path", "dywpe", "window_statistics"}
ANYWHERE = sorted({*encodings.names("series")} - OF_TOKENS)


@pytest.mark.parametrize("name", ANYWHERE)
def test_a_layer_that_goes_by_positions_equals_one_whose_tokens_are_sorted(name):
    by_position = layer(name, causal="positions")
    by_order = SelfAttention(D_MODEL, N_HEADS, by_position.position, causal=True).double().eval()
    by_order.load_state_dict(by_position.state_dict())
    x, places = tokens(), torch.stack([torch.randperm(LENGTH) for _ in range(BATCH)])
    ranks = places.argsort(1)[..., None].expand_as(x)
    close(by_position(x, positions=places).gather(1, ranks), by_order(x.gather(1, ranks)))
    close(by_position(x), by_order(x))
    cache, arrived = Cache(), torch.arange(LENGTH) < 5
    parts = [by_position(x[:, a], positions=places[:, a], cache=cache) for a in (arrived, ~arrived)]
    close(torch.cat(parts, 1), by_position(x, positions=places, pairs=~arrived[:, None] | arrived))


PADDED = torch.arange(LENGTH) < torch.tensor([[LENGTH], [4]])
RISING = {
    "that rise": {"positions": torch.arange(LENGTH) / 2},
    "behind which is padding": {
        "positions": (PADDED.cumsum(1) - 1) * PADDED + 5 * PADDED,
        "padding": PADDED,
    },
    "of packed texts": {
        "positions": torch.arange(LENGTH) % 4,
        "pairs": torch.arange(LENGTH)[:, None] // 4 == torch.arange(LENGTH) // 4,
    },
}


@pytest.mark.parametrize("given", RISING.values(), ids=RISING)
def test_given_positions_do_not_warn(given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layer("rotary", causal=True)(tokens(), **given)
        layer("rotary")(tokens(), positions=torch.arange(LENGTH).flip(0))


@pytest.mark.parametrize(
    "given",
    [
        {"positions": torch.arange(LENGTH).roll(2)},
        {"positions": -torch.arange(LENGTH)[None].expand(BATCH, -1) / 3},
        {"positions": (2 + torch.arange(LENGTH).flip(0)) * PADDED, "padding": PADDED},
    ],
    ids=["zigzag", "backwards", "padded"],
)
def test_given_positions_that_fall_are_warned_of(given):
    attention = layer("rotary", causal=True)
    for call in (attention, attention.weights):
        with pytest.warns(UserWarning, match=r'positions fall, .* causal="positions"'):
            call(tokens(), **given)


def test_positions_that_fall_behind_those_of_a_cache_are_warned_of():
    attention, cache = layer("rotary", causal=True), Cache()
    attention(tokens(), cache=cache)
    attention(tokens(1), positions=[LENGTH], cache=cache)
    with pytest.warns(UserWarning, match="positions fall"):
        attention(tokens(1), positions=[3], cache=cache)
    model = LanguageModel(9, D_MODEL, N_HEADS, 1, position="rotary", max_length=9).eval()
    text = torch.randint(9, (2, 4))
    with pytest.warns(UserWarning, match="positions fall"):
        model(text, positions=[0, 3, 1, 2])
    series = TimeSeriesTransformer(3, 4, LENGTH, "rotary", 16, 2, 1, 8, causal=True).eval()
    with pytest.warns(UserWarning, match="times fall"):
        series(torch.randn(2, LENGTH, 3), times=torch.arange(LENGTH).flip(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        real = torch.arange(LENGTH) < torch.tensor([[LENGTH], [4]])
        series(torch.randn(2, LENGTH, 3), real, times=(torch.arange(LENGTH) + 3) * real)


def test_what_goes_by_positions_has_no_window_and_one_number_a_token():
    message = 'causal must be True or False .*, got "positions"'
    with pytest.raises(ValueError, match=message):
        layer("none", causal="positions", window=3)
    with pytest.raises(ValueError, match=message):
        SelfAttention(24, 2, encodings.make("mrope", 24, 2, 9), causal="positions")
    with pytest.raises(ValueError, match="window of the cache must be None for a layer that goes"):
        layer("none", causal="positions")(tokens(), cache=Cache(window=4))
    with pytest.raises(ValueError, match="causal must be one of positions, got 'position'"):
        layer("none", causal="position")


@pytest.mark.parametrize("causal", [True, "positions"])
@pytest.mark.filterwarnings("ignore:positions fall")
def test_neither_the_mask_nor_the_warning_breaks_a_graph(causal):
    attention, x, places = layer("rotary", causal=causal), tokens(), torch.arange(LENGTH).roll(2)
    compiled = torch.compile(attention, backend="eager", fullgraph=True)
    program = torch.export.export(attention, (x,), {"positions": places}).module()
    for made in (compiled, program):
        close(made(x, positions=places.flip(0)), attention(x, positions=places.flip(0)))
