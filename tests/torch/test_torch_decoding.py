"""One token at a time without gradients: layers that share an encoding compute some things once."""

import copy
from functools import partial

import layers
import pytest
import torch
from layers import awake, close_in_gradients
from torch import nn

from posenc import encodings
from posenc.attention import Cache, Places, Position, SelfAttention, by_offset, terms, turning
from posenc.attention.places import Steps
from posenc.attention.turning import turn
from posenc.models import LanguageModel

D_MODEL, N_HEADS, N_LAYERS, LENGTH = 16, 4, 3, 12
SHARED = ["alibi", "t5", "tupe", "rotary", "xpos"]
close = partial(layers.close, atol=1e-12)
each_shared = pytest.mark.parametrize("name", SHARED)


def model(position, **more):
    """Return a model in double precision whose parameters are away from special values."""
    torch.manual_seed(3)
    made = LanguageModel(
        20, D_MODEL, N_HEADS, N_LAYERS, position=position, max_length=LENGTH, **more
    )
    return awake(made, 0.2)


def texts():
    return torch.randint(20, (2, LENGTH), generator=torch.Generator().manual_seed(1))


def one_by_one(decoder, tokens, cache):
    return layers.in_parts(decoder, tokens, range(1, tokens.shape[1]), cache)


@pytest.fixture
def made(monkeypatch):
    """Return a list to which each making of a bias, or of a turn, adds its encoding."""
    found = []

    def told(cls, name):
        function = getattr(cls, name)

        def called(self, *inputs, **named):
            found.append(self)
            return function(self, *inputs, **named)

        monkeypatch.setattr(cls, name, called)

    told(encodings.Rotary, "_cos_sin")
    told(encodings.TUPE, "_asked")
    kept = terms._ByOffset._kept

    def of_offsets(self, position, places):
        found.append(position)
        return kept(self, position, places)

    monkeypatch.setattr(terms._ByOffset, "_kept", of_offsets)
    return found


@torch.inference_mode()
@each_shared
def test_a_model_computes_once_what_all_its_layers_have_in_common(name, made):
    decoder, cache, tokens = model(name), Cache(), texts()
    decoder(tokens[:, :5], cache=cache)
    made.clear()
    decoder(tokens[:, 5:6], cache=cache)
    assert made == [decoder.position]


@torch.inference_mode()
@each_shared
def test_layers_with_encodings_of_their_own_make_their_own(name, made):
    decoder, cache, tokens = model(name, share_position=False), Cache(), texts()
    decoder(tokens[:, :5], cache=cache)
    made.clear()
    close(one_by_one(decoder, tokens[:, 5:], cache), decoder(tokens)[:, 5:])
    assert set(made) == {layer.attention.position for layer in decoder.layers}


@torch.inference_mode()
@pytest.mark.parametrize(
    "name", [*SHARED, "rove", ["t5", "rotary", "t5"], ["rotary", "none", "alibi"]]
)
def test_tokens_one_by_one_give_what_the_whole_gives(name):
    decoder, tokens = model(name), texts()
    cache = Cache()
    close(one_by_one(decoder, tokens, cache), decoder(tokens))
    cache.crop(5)
    other = copy.deepcopy(cache)
    close(one_by_one(decoder, tokens[:, 5:], cache), decoder(tokens)[:, 5:])
    cache.crop(7)
    for one in (other, cache):
        found = one_by_one(decoder, tokens[:, one.length :], one)
        close(found, decoder(tokens)[:, -found.shape[1] :])


@torch.inference_mode()
@each_shared
def test_layers_that_keep_other_tokens_share_nothing_that_is_wrong(name):
    position = encodings.make(name, D_MODEL, N_HEADS, LENGTH).double()
    layers = [SelfAttention(D_MODEL, N_HEADS, position, causal=True).double() for _ in range(3)]
    x = torch.randn(2, LENGTH, D_MODEL, dtype=torch.float64)

    def caches():
        return [Cache(), Cache(window=4), Cache(window=6, keep_first=2)]

    apart, together = caches(), caches()
    for t in range(LENGTH):
        token = x[:, [t]]
        steps = together[0].onward(token)
        places = Places(steps, steps, causal=True, cached=True).for_a_pass()
        for layer, own, other in zip(layers, apart, together, strict=True):
            close(layer(token, cache=own), layer.attend(token, places=places, cache=other))


@each_shared
def test_with_gradients_nothing_is_kept(name):
    decoder, tokens = model(name), texts()
    parts = one_by_one(decoder, tokens, Cache())
    close_in_gradients(parts, decoder(tokens), decoder.layers.parameters(), rtol=1e-9)


@torch.no_grad()
@each_shared
def test_a_transform_keeps_nothing(name):
    decoder, tokens = model(name), texts()

    def last(token):
        cache = Cache()
        decoder(tokens[:1, :5], cache=cache)
        return decoder(token[None, None], cache=cache)

    some = torch.arange(3)
    close(torch.vmap(last)(some), torch.stack([last(token) for token in some]))


@torch.inference_mode()
def test_places_that_are_given_are_not_shared():
    decoder, tokens = model("alibi"), texts()
    times = torch.arange(LENGTH) * 1.5
    parts = layers.in_parts(decoder, tokens, range(1, LENGTH), positions=times)
    close(parts, decoder(tokens, positions=times))


@torch.inference_mode()
@pytest.mark.parametrize("pairing", turning.PAIRINGS)
@pytest.mark.parametrize(
    "options",
    [{}, {"share": 0.5}, {"share": 0.5, "first": 4}, {"direction": -1}, {"scaling": "yarn"}],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_token_turns_as_among_others(pairing, options, dtype):
    made = partial(encodings.make, "rotary", 32, N_HEADS, LENGTH, pairing=pairing)
    position = made(**options, original_length=4 if "scaling" in options else None).to(dtype)
    q, k = torch.randn(2, 2, N_HEADS, LENGTH, 8).to(dtype)
    k = k[:, :2]  # which groups of queries share
    whole = position.rotate(q, k)
    for t in range(LENGTH):
        steps = Steps(1, q.device, first=t)
        places = Places(steps, steps, causal=True, cached=True).for_a_pass()
        found = position.rotate(q[..., [t], :], k[..., [t], :], places)
        for one, among in zip(found, whole, strict=True):
            torch.testing.assert_close(one, among[..., [t], :])


@torch.inference_mode()
def test_heads_of_an_odd_width_turn_too():
    position = encodings.make("rotary", 5, 1, 4, share=0.8, first=1)
    q, k = torch.randn(2, 1, 1, 1, 5)
    steps = Steps(1, q.device, first=1)
    places = Places(steps, steps, causal=True, cached=True).for_a_pass()
    for found, given in zip(position.rotate(q, k, places), (q, k), strict=True):
        turned = turn(given[..., 1:], position.cos[1:2], position.sin[1:2], "interleaved")
        torch.testing.assert_close(found, torch.cat((given[..., :1], turned), -1))


def test_rotary_encodings_share_one_module_unless_they_learn():
    class Louder(encodings.Rotary):
        def __init__(self, d_model, n_heads, max_length):
            super().__init__(d_model, n_heads, max_length)
            self.gain = nn.Parameter(torch.ones(1))

        def rotate(self, q, k, places=None):
            q, k = super().rotate(q, k, places)
            return q * self.gain, k

    assert len({id(one.attention.position) for one in model("rotary").layers}) == 1
    assert len({id(one.attention.position) for one in model(Louder).layers}) == N_LAYERS


def test_layers_with_heads_of_another_width_have_their_own_rotary():
    widths = [4, 8, 4]
    decoder = model("rotary", attention_options=[{"d_head": d} for d in widths])
    assert [one.attention.position.d_head for one in decoder.layers] == widths
    listed = model(["rotary"] * 3, attention_options=[{"d_head": d} for d in widths])
    assert [one.attention.position.d_head for one in listed.layers] == widths


@torch.inference_mode()
def test_a_readers_scores_by_offset_are_shared_too(made):
    class Nearby(Position):
        shared = True

        @by_offset
        def bias(self, offset):
            return -offset.abs() / 2

    decoder, cache, tokens = model(Nearby), Cache(), texts()
    close(one_by_one(decoder, tokens, cache), decoder(tokens))
    assert len(made) == LENGTH
