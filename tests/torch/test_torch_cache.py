"""A cache: one token at a time gives what the whole sequence gives."""

import copy
import math

import layers
import pytest
import torch
from layers import Nearby, NearbyInTime, close, close_in_gradients, in_parts

from posenc import encodings
from posenc.attention import Cache, SelfAttention
from posenc.models import LanguageModel

D_MODEL, N_HEADS, LENGTH, BATCH = 16, 4, 20, 2
NAMES = [*encodings.names(), *encodings.names("modern")]  # others refuse causal layers
PLACED = [n for n in NAMES if n not in ("cope", "fox", "path")]  # which make distances themselves
OPTIONS = [(name, {}) for name in NAMES] + [
    ("relative", {"max_distance": 3, "values": True}),
    ("relative", {"max_distance": None, "per_head": True}),
    ("rotary", {"pairing": "half"}),
    ("rotary", {"values": True, "share": 0.5, "first": 1, "direction": -1}),
    ("rove", {"scores": False}),
    ("tupe", {"cls_reset": True}),
    ("tpe", {"similarity": False}),
    ("sine_spe", {"gated": True}),
    ("conv_spe", {"gated": True, "kernel_size": 3}),
    ("sinusoidal", {"scale": "unit"}),
    ("learnable", {"scale": "learned"}),
    ("erpe", {"per_head": False}),
    ("deberta", {"max_distance": 3}),
    ("deberta", {"max_distance": 3, "formula": "program"}),
]
GROWING = [n for n in NAMES if n not in ("dft", "learnable", "tape", "tupe", "erpe")]
REAL = ["none", "sinusoidal", "tape", "learnable_frequency", "sine_linear", "rotary", "t5", "alibi"]


def layer(name, dtype=torch.float32, length=LENGTH, options=None, **more):
    made = layers.layer(name, D_MODEL, N_HEADS, length, options=options, causal=True, **more)
    return made.to(dtype)


def tokens(length=LENGTH, dtype=torch.float32):
    return torch.randn(BATCH, length, D_MODEL).to(dtype)


ONE_BY_ONE = tuple(range(1, LENGTH))
CUTS = [ONE_BY_ONE, (), (7,), (1, 2, 12)]


# -- the same as the whole sequence ----------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_parts_give_what_the_whole_gives(name, options):
    attention, x = layer(name, torch.float64, options=options), tokens(dtype=torch.float64)
    whole = attention(x)
    for cuts in CUTS:
        close(in_parts(attention, x, cuts), whole, 1e-12)


@pytest.mark.parametrize("name", GROWING)
def test_beyond_max_length(name):
    attention, x = layer(name, torch.float64, length=6), tokens(dtype=torch.float64)
    close(in_parts(attention, x, (4, 5, 6, 7)), attention(x), 1e-12)


@pytest.mark.parametrize(
    ("name", "more"),
    [*((name, {"n_kv_heads": 2, "window": 4}) for name in NAMES), ("t5", {"window": 1})],
)
def test_with_shared_heads_and_windows(name, more):
    attention, x = layer(name, torch.float64, **more), tokens(dtype=torch.float64)
    close(in_parts(attention, x, (3, 4, 5, 15)), attention(x), 1e-12)


def test_shared_heads_are_kept_once():
    attention, kept = layer("rotary", n_kv_heads=1), Cache()
    attention(tokens(), cache=kept)
    assert kept._kept.keys.shape == kept._kept.values.shape == (BATCH, 1, LENGTH, 4)


@pytest.mark.parametrize("name", NAMES)
def test_long_sequences(name):
    """Where blocks and Fourier transforms would serve a layer that looks both ways."""
    attention, x = layer(name, torch.float64, length=300), tokens(300, torch.float64)
    close(in_parts(attention, x, (260, 298, 299)), attention(x), 1e-11)


@pytest.mark.parametrize("name", ["none", "rotary", "relative", "t5", "tpe", "learnable"])
def test_gradients_flow_through_what_is_kept(name):
    attention, x = layer(name, torch.float64), tokens(dtype=torch.float64).requires_grad_()
    inputs = [x, *attention.parameters()]
    close_in_gradients(in_parts(attention, x, (3, 4, 5)), attention(x), inputs, 1e-10)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_know_every_position(dtype):
    """In bfloat16, 256 and 257 are one number."""
    attention, x = layer("rotary", dtype, length=10), tokens(300, dtype)
    exact = copy.deepcopy(attention).double()(x.double())
    parts = in_parts(attention, x, (290, *range(291, 300)))
    ours = (parts[:, 290:].double() - exact[:, 290:]).abs().max()
    whole = (attention(x)[:, 290:].double() - exact[:, 290:]).abs().max()
    assert ours <= 2 * whole


@pytest.mark.parametrize(
    ("name", "cls", "made_in_steps"),
    # of four tokens: DeBERTa needs two tables only; TUPE one, and the place of each query
    [("deberta", encodings.DeBERTa, 2), ("tupe", encodings.TUPE, 4 + 1)],
)
def test_tables_are_made_once_for_a_cache_and_anew_for_gradients(
    name, cls, made_in_steps, monkeypatch
):
    attention, kept, x, made = layer(name), Cache(), tokens(), []
    table = cls._heads
    monkeypatch.setattr(cls, "_heads", lambda *inputs: made.append(1) or table(*inputs))
    with torch.no_grad():
        attention(x[:, :5], cache=kept)
        assert len(made) == 2
        for t in range(5, 9):
            attention(x[:, [t]], cache=kept)
        assert len(made) == 2 + made_in_steps
    attention(x[:, [9]], cache=kept)
    assert len(made) == 2 + made_in_steps + 2


@pytest.mark.parametrize("name", ["t5", "alibi", "kerple"])
@pytest.mark.parametrize("max_length", [LENGTH, 7])
def test_scores_by_offset_are_made_for_few_tokens(name, max_length, monkeypatch):
    attention = layer(name, torch.float64, length=max_length)
    made = []
    form, call = type(attention.position).bias.form, type(attention.position).bias.form.call

    def counted(position, offset, **more):
        made.append(offset.shape[0])
        return call(position, offset, **more)

    monkeypatch.setattr(form, "call", counted)
    x = tokens(dtype=torch.float64)
    with torch.no_grad():
        parts = in_parts(attention, x, range(1, LENGTH))
        steps = made.copy()
        close(parts, attention(x), 1e-12)
    # room for twice as many, up to the most; beyond that a line for each
    assert steps == ([2, 6, 14, 20] if max_length == LENGTH else [2, 6, *range(7, LENGTH + 1)])
    made.clear()
    in_parts(attention, x, range(1, LENGTH))  # with gradients, every token makes its own
    assert made == [*range(1, LENGTH + 1)]


def test_no_new_tokens_change_nothing():
    attention, kept, x = layer("rotary"), Cache(), tokens()
    attention(x[:, :3], cache=kept)
    assert attention(x[:, :0], cache=kept).shape == (BATCH, 0, D_MODEL)
    assert kept.length == 3
    close(attention(x[:, 3:], cache=kept), attention(x)[:, 3:], 1e-5)


# -- positions and padding -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.filterwarnings("ignore:positions fall")
def test_given_positions_are_kept(name):
    attention, x = layer(name, torch.float64), tokens(dtype=torch.float64)
    positions = torch.stack([torch.randperm(LENGTH) for _ in range(BATCH)])
    positions = positions / 2 if name in REAL else positions
    whole = attention(x, positions=positions)
    for cuts in ((1, 2, 9), ONE_BY_ONE):
        close(in_parts(attention, x, cuts, positions=positions), whole, 1e-12)


@pytest.mark.parametrize("name", ["rotary", "alibi", "sinusoidal"])
@pytest.mark.parametrize("times", [[[0, 3, 7], [2, 5, 1]], [[0.5, 3.25, 7.0], [2.0, 2.5, 2.75]]])
@pytest.mark.filterwarnings("ignore:positions fall")
def test_new_tokens_go_on_from_the_last_position(name, times):
    attention, x = layer(name, torch.float64), tokens(6, torch.float64)
    first = torch.tensor(times)
    onward = first[:, -1:] + torch.arange(1, 4)
    whole = attention(x, positions=torch.cat((first, onward), 1))
    kept = Cache()
    parts = [
        attention(x[:, :3], positions=first, cache=kept),
        attention(x[:, 3:4], cache=kept),
        attention(x[:, 4:], cache=kept),
    ]
    close(torch.cat(parts, 1), whole, 1e-12)


@pytest.mark.parametrize("first", [0, 10, 2.5])
def test_a_padded_token_is_one_step_whoever_says_where_tokens_stand(first):
    attention, x = layer("rotary", torch.float64), tokens(6, torch.float64)
    batch = x.shape[0]
    mask = torch.ones(batch, 4, dtype=torch.bool)
    mask[0, 2:], mask[1] = False, False
    own = (first + torch.arange(4, dtype=torch.float64)).repeat(batch, 1)
    own[~mask] = torch.nan  # nobody looks at these
    kept = Cache()
    attention(x[:, :4], mask, positions=own, cache=kept)
    wanted = torch.full((batch, 1), first + 4, dtype=torch.float64)
    wanted[1] = 4  # without any real token they count from 0
    assert torch.equal(kept.onward(x[:, :1]).positions, wanted)
    # a row that is padded all along goes on from where it stood before
    later = (first + torch.arange(4.0, 6)).double().repeat(batch, 1)
    later[:2] = torch.nan
    attention(x[:, 4:], mask[:, 2:], positions=later, cache=kept)
    assert torch.equal(kept.onward(x[:, :1]).positions, wanted + 2)


@pytest.mark.parametrize("name", ["rotary", "sinusoidal", "t5", "erpe", "tpe", "rove"])
def test_padding_in_front(name):
    """Prompts of different lengths end together; each goes on with its own positions."""
    attention, x = layer(name, torch.float64), tokens(dtype=torch.float64)
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, :5] = False
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    filled = x.where(mask[..., None], math.nan)
    prompt, kept = slice(12), Cache()
    first = {"padding": mask[:, prompt], "positions": positions[:, prompt]}
    outputs = [attention(filled[:, prompt], **first, cache=kept)]
    outputs.append(in_parts(attention, x[:, 12:], range(1, 8), kept))  # onward, without a mask
    parts = torch.cat(outputs, 1)
    # each series by itself, without any padding
    close(parts[1:], attention(x[1:]), 1e-12)
    close(parts[:1, 5:], attention(x[:1, 5:]), 1e-12)


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "erpe", "tpe"])
def test_padding_anywhere(name):
    attention, x = layer(name, torch.float64), tokens(dtype=torch.float64)
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, [2, 3, 11, 17]] = False
    whole = attention(x, mask)
    parts = in_parts(attention, x.where(mask[..., None], math.inf), (1, 3, 11, 12), padding=mask)
    close(parts[mask], whole[mask], 1e-12)


@pytest.mark.parametrize("window", [None, 4])
def test_a_mask_of_pairs_speaks_of_all_tokens_so_far(window):
    """Also of those that a layer with a window has dropped, as in a model not all layers do."""
    attention, x = layer("rotary", torch.float64), tokens(dtype=torch.float64)
    attention.window = window
    mask = (torch.rand(LENGTH, LENGTH) < 0.6) | torch.eye(LENGTH, dtype=torch.bool)
    kept = Cache()
    parts = [
        attention(x[:, rows], mask[rows, : rows.stop], cache=kept)
        for rows in (slice(0, 8), slice(8, 9), slice(9, LENGTH))
    ]
    close(torch.cat(parts, 1), attention(x, mask), 1e-12)


# -- refusals --------------------------------------------------------------------------------------


def test_a_cache_has_one_causal_layer_and_one_batch():
    attention, kept, x = layer("none"), Cache(), tokens(3)
    attention(x, cache=kept)
    with pytest.raises(ValueError, match="cache must serve one layer only, got that of another"):
        layer("none")(x, cache=kept)
    with pytest.raises(ValueError, match=r"x must have batch = 2 rows as the cache has, got 1; .*"):
        attention(x[:1], cache=kept)
    both_ways = SelfAttention(16, 4, encodings.make("rotary", 16, 4, 9))
    with pytest.raises(ValueError, match=r"cache must be None in a layer that looks ahead.*causal"):
        both_ways(x, cache=Cache())


@pytest.mark.parametrize("name", ["dft", "learnable", "tape", "tupe", "erpe"])
def test_what_cannot_grow_says_so_and_nothing_is_kept(name):
    attention, kept = layer(name, torch.float64, length=4), Cache()
    x = tokens(6, torch.float64)
    attention(x[:, :4], cache=kept)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"max_length.* = [34]\b"):
            attention(x[:, 4:5], cache=kept)
        assert kept.length == 4


@pytest.mark.parametrize("name", ["sine_spe", "conv_spe"])
def test_noise_that_is_drawn_anew_cannot_be_kept(name):
    attention = layer(name).train()
    with pytest.raises(ValueError, match=r"cache must be None while training .*SPE, .* noise"):
        attention(tokens(1), cache=Cache())
    assert attention.eval()(tokens(1), cache=Cache()).isfinite().all()


def test_a_door_that_counts_for_itself_is_refused():
    counting = SelfAttention(16, 4, Nearby(16, 4, 9), causal=True).double()
    placed = SelfAttention(16, 4, NearbyInTime(16, 4, 9), causal=True).double()
    placed.load_state_dict(counting.state_dict())
    x = tokens(9, torch.float64)
    close(placed(x), counting(x), 1e-12)
    close(in_parts(placed, x, (4, 5)), counting(x), 1e-12)
    message = r"to serve a cache, but Nearby.bias .* as bias\(self, x, q, k, places\)"
    with pytest.raises(ValueError, match=message):
        counting(x, cache=Cache())


# -- without gradients, where new tokens are written behind old ones -------------------------------


@pytest.mark.parametrize("name", ["rotary", "t5", "tpe", "transformer_xl"])
@pytest.mark.parametrize("cuts", CUTS)
@torch.no_grad()
def test_tokens_written_in_place_give_what_the_whole_gives(name, cuts):
    attention, x = layer(name), tokens()
    close(in_parts(attention, x, cuts), attention(x), 1e-5)


@torch.no_grad()
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_models_cache_goes_on_apart(copied):
    model = LanguageModel(9, 16, 2, 2, position="rotary", max_length=LENGTH).eval()
    ours, theirs = torch.randint(9, (2, LENGTH)), torch.randint(9, (2, LENGTH))
    one = Cache()
    model(ours[:, :4], cache=one)
    model(ours[:, 4:5], cache=one)
    two = copied(one)
    mine = [model(ours[:, t : t + 1], cache=one) for t in (5, 6)]
    other = [model(theirs[:, t : t + 1], cache=two) for t in (5, 6)]
    assert one.length == two.length == 7
    expected = model(ours[:, :7])[:, 5:]
    close(torch.cat(mine, 1), expected, 1e-5)
    expected = model(torch.cat((ours[:, :5], theirs[:, 5:7]), 1))[:, 5:]
    close(torch.cat(other, 1), expected, 1e-5)


def test_a_deep_copy_of_a_cache_serves_its_layer_or_the_copy_of_that():
    attention, x = layer("t5"), tokens()
    kept = Cache()
    attention(x[:, :4], cache=kept)  # with a graph, which deepcopy refuses by itself
    expected = attention(x[:, :6])[:, 4:]
    again, (other, of_other) = copy.deepcopy(kept), copy.deepcopy((attention, kept))
    for one, cached in ((attention, again), (attention, kept), (other, of_other)):
        close(one(x[:, 4:6], cache=cached), expected, 1e-5)
        assert cached.length == 6
    with pytest.raises(ValueError, match="one layer only"):
        other(x[:, 6:7], cache=again)


def test_a_cache_goes_on_in_another_mode():
    attention, x = layer("rotary"), tokens()
    kept, outputs = Cache(), []
    modes = [torch.inference_mode, torch.no_grad, torch.enable_grad, torch.no_grad]
    for t in range(LENGTH):
        with modes[t // 2 % 4]():
            outputs.append(attention(x[:, t : t + 1], cache=kept).clone())
    close(torch.cat(outputs, 1), attention(x), 1e-5)


@torch.no_grad()
def test_a_call_that_fails_leaves_the_cache_as_it_was(monkeypatch):
    attention, x = layer("rotary"), tokens()
    kept = Cache()
    attention(x[:, :4], cache=kept)
    attention(x[:, 4:5], cache=kept)
    with monkeypatch.context() as patch:
        patch.setattr(attention, "_attended", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            attention(torch.randn_like(x[:, 5:6]), cache=kept)
    assert kept.length == 5
    close(attention(x[:, 5:6], cache=kept), attention(x[:, :6])[:, -1:], 1e-5)


@torch.no_grad()
def test_most_tokens_do_not_move_those_before():
    attention, x, kept = layer("rotary"), tokens(), Cache()
    places = set()
    for t in range(LENGTH):
        attention(x[:, t : t + 1], cache=kept)
        places.add(kept._kept.keys.data_ptr())
    assert len(places) <= 5
