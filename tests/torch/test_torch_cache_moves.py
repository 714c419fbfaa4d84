"""A cache that is cropped, reordered, or keeps a window only."""

import copy

import layers
import pytest
import torch
from layers import close, in_parts

from posenc.attention import Cache
from posenc.models import LanguageModel

D_MODEL, N_HEADS, LENGTH, BATCH = 16, 4, 14, 3
NAMES = ["none", "sinusoidal", "rotary", "alibi", "t5", "relative", "tpe"]
WINDOWS = [(4, 0), (4, 2), (2, 1), (30, 2), (2, 0)]
KEPT = [(n, *w) for n in NAMES for w in WINDOWS if n != "tpe" or w[1] == 0]


def layer(name, **more):
    return layers.layer(name, D_MODEL, N_HEADS, 40, causal=True, **more)


def tokens(length=LENGTH):
    return torch.randn(BATCH, length, D_MODEL, dtype=torch.float64)


def sight(window, keep_first):
    """Return who sees whom in a causal layer, a window and the first tokens."""
    step = torch.arange(LENGTH)
    behind = step[:, None] - step
    return (behind >= 0) & ((behind < window) | (step < keep_first))


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_what_was_cropped_was_never_seen(name, gradients):
    attention, x, other = layer(name), tokens(), tokens()
    with torch.set_grad_enabled(gradients):
        cache = Cache()
        in_parts(attention, torch.cat((x[:, :6], other), 1), range(1, 20), cache)
        cache.crop(6)
        assert cache.length == 6
        close(in_parts(attention, x[:, 6:], (1, 2, 5), cache), attention(x)[:, 6:], 1e-12)


@torch.no_grad()
def test_a_crop_leaves_a_copy_alone():
    attention, x, other = layer("rotary"), tokens(), tokens()
    cache = Cache()
    in_parts(attention, x[:, :8], range(1, 8), cache)
    kept = copy.copy(cache)
    cache.crop(4)
    in_parts(attention, other, range(1, 6), cache)
    close(attention(x[:, 8:], cache=kept), attention(x)[:, 8:], 1e-12)


def test_a_crop_keeps_given_positions_and_padding():
    attention, x = layer("rotary"), tokens()
    mask = torch.arange(LENGTH).expand(BATCH, -1) >= torch.tensor([[0], [2], [4]])
    places = (mask.cumsum(1) - 1).clamp(min=0)
    whole = attention(x, padding=mask, positions=places)
    cache = Cache()
    attention(x[:, :9], padding=mask[:, :9], positions=places[:, :9], cache=cache)
    cache.crop(5)
    rest = attention(x[:, 5:], padding=mask[:, 5:], positions=places[:, 5:], cache=cache)
    close(rest, whole[:, 5:], 1e-12)
    cache.crop(5)
    close(attention(x[:, 5:], cache=cache), whole[:, 5:], 1e-12)


@pytest.mark.parametrize("rows", [[2, 0, 1], [1, 1], torch.tensor([0, 0, 1, 2, 2])])
@pytest.mark.parametrize("name", NAMES)
def test_rows_go_on_in_a_new_order(name, rows):
    attention, x = layer(name), tokens()
    mask = torch.arange(LENGTH).expand(BATCH, -1) >= torch.tensor([[0], [2], [4]])
    places = (mask.cumsum(1) - 1).clamp(min=0)
    cache = Cache()
    attention(x[:, :9], padding=mask[:, :9], positions=places[:, :9], cache=cache)
    cache.reorder(rows)
    x, mask, places = x[rows], mask[rows], places[rows]
    rest = in_parts(attention, x[:, 9:], (1, 3), cache)
    whole = attention(x, padding=mask, positions=places)
    close(rest, whole[:, 9:], 1e-12)


@pytest.mark.parametrize("window", [None, 3])
def test_a_row_goes_on_behind_its_last_real_token_whatever_is_kept_of_it(window):
    attention, cache = layer("rotary"), Cache(window=window)
    padding = torch.ones(BATCH, 4, dtype=torch.bool)
    padding[0, 1:] = False
    attention(tokens(4), padding=padding, cache=cache)
    behind = torch.full((BATCH, 1), 4).index_fill(0, torch.tensor(0), 1)
    assert torch.equal(cache.behind_real(), behind)
    rows = [*range(1, BATCH), 0]
    cache.reorder(rows)
    assert torch.equal(cache.behind_real(), behind[rows])


@pytest.mark.parametrize(("cuts", "gradients"), [(range(1, LENGTH), False), ((3, 9), True)])
@pytest.mark.parametrize(("name", "window", "keep_first"), KEPT)
def test_a_window_is_a_mask_that_forgets(name, window, keep_first, cuts, gradients):
    attention, x = layer(name), tokens()
    whole = attention(x, pairs=sight(window, keep_first))
    with torch.set_grad_enabled(gradients):
        cache = Cache(window=window, keep_first=keep_first)
        close(in_parts(attention, x, cuts, cache), whole, 1e-12)
    assert cache.length == min(LENGTH, window - 1 + keep_first)


@pytest.mark.parametrize("cuts", [range(1, LENGTH), (3, 4, 9), ()])
@pytest.mark.parametrize("more", [{"window": 3}, {"window": 6, "n_kv_heads": 2}, {"window": 1}])
def test_a_cache_takes_the_window_of_its_layer(more, cuts):
    attention, x = layer("rotary", **more), tokens()
    whole, width = attention(x), max(more["window"], 2)
    for cache in (Cache(), Cache(window=width)):
        close(in_parts(attention, x, cuts, cache), whole, 1e-12)
        assert (cache.window, cache.length) == (width, width - 1)
    padding = torch.arange(LENGTH) >= torch.tensor([[0], [2], [9]])
    whole, cache = attention(x, padding=padding), Cache()
    attention(x[:, :7], padding=padding[:, :7], cache=cache)
    rest = attention(x[:, 7:], padding=padding[:, 7:], cache=cache)
    close(rest[padding[:, 7:]], whole[:, 7:][padding[:, 7:]], 1e-12)


def test_a_cache_that_contradicts_its_layer_is_refused():
    attention, x = layer("rotary", window=6), tokens()
    for width in (5, 7):
        with pytest.raises(ValueError, match=f"None or that of the layer, 6, got {width}; Cache"):
            attention(x, cache=Cache(window=width))
    with pytest.raises(ValueError, match="keep_first must be 0 for a layer with window = 6"):
        attention(x, cache=Cache(window=6, keep_first=2))


@torch.no_grad()
def test_layers_of_a_model_keep_what_each_of_them_sees():
    torch.manual_seed(0)
    options = [{"window": 3}, {}, {"window": 5}]
    model = LanguageModel(
        20, D_MODEL, N_HEADS, 3, position="alibi", max_length=40, attention_options=options
    ).eval()
    text, cache = torch.randint(20, (BATCH, LENGTH)), Cache()
    close(in_parts(model, text, range(1, LENGTH), cache), model(text), 1e-5)
    assert [part.length for part in cache._parts] == [2, LENGTH, 4]
    assert cache.length == LENGTH
    cache.crop(LENGTH)
    with pytest.raises(ValueError, match="where a window has dropped tokens"):
        cache.crop(5)
    assert model(text[:, :1], cache=cache).isfinite().all()


def test_a_window_over_padding_in_front():
    attention, x = layer("alibi"), tokens()
    mask = torch.arange(LENGTH).expand(BATCH, -1) >= torch.tensor([[0], [2], [4]])
    places = (mask.cumsum(1) - 1).clamp(min=0)
    whole = attention(x, padding=mask, positions=places, pairs=sight(4, 3))
    cache = Cache(window=4, keep_first=3)
    parts = in_parts(attention, x, (6, 7), cache, padding=mask, positions=places)
    close(parts[mask], whole[mask], 1e-12)


@torch.no_grad()
def test_a_models_cache_moves_in_all_layers():
    torch.manual_seed(0)
    model = LanguageModel(20, D_MODEL, N_HEADS, 2, position="rotary", max_length=40).eval()
    text = torch.randint(20, (BATCH, LENGTH))
    whole = model(text)
    cache = Cache()
    model(text, cache=cache)
    cache.crop(5)
    cache.reorder([2, 1])
    assert torch.allclose(model(text[[2, 1], 5:], cache=cache), whole[[2, 1], 5:], atol=1e-5)
    small, in_two = (Cache(window=4, keep_first=1) for _ in range(2))
    close(in_parts(model, text, range(1, LENGTH), small), in_parts(model, text, (9,), in_two), 1e-5)
    assert small.length == in_two.length == 4
    again = copy.deepcopy(small)
    for text_after in (text[:, :1], text[:, 1:3]):
        assert torch.equal(model(text_after, cache=small), model(text_after, cache=again))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda cache: cache.crop(-1), "length must be an integer of at least 0, got -1"),
        (lambda cache: cache.crop(6), "length must be at most the cache's, 5, got 6"),
        (lambda cache: cache.reorder([3]), "rows must be from 0 to batch - 1 = 2"),
        (lambda cache: cache.reorder([-1]), "rows must be from 0 to batch - 1 = 2"),
        (lambda cache: cache.reorder([0.0]), "rows must be integers of shape"),
        (lambda cache: cache.reorder([]), "rows must be integers of shape"),
        (lambda cache: cache.reorder([[0]]), "rows must be integers of shape"),
        (lambda cache: Cache(window=1), "window must be an integer of at least 2, got 1"),
        (lambda cache: Cache(keep_first=2), "keep_first must be 0 without a window"),
    ],
)
def test_what_a_cache_cannot_do_is_named(act, message):
    attention, x = layer("rotary"), tokens()
    cache = Cache()
    attention(x[:, :5], cache=cache)
    with pytest.raises(ValueError, match=message):
        act(cache)
    close(attention(x[:, 5:], cache=cache), attention(x)[:, 5:], 1e-12)


def test_a_window_does_not_bring_back_what_it_dropped():
    attention, x = layer("rotary"), tokens()
    cache = Cache(window=4)
    attention(x, cache=cache)
    with pytest.raises(ValueError, match="where a window has dropped tokens"):
        cache.crop(2)
    cache.crop(cache.length)
    with pytest.raises(ValueError, match="keep_first must be 0 for TPE"):
        layer("tpe")(x, cache=Cache(window=4, keep_first=1))
