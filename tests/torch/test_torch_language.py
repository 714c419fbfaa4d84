"""The causal language model: what it computes, who sees whom, its cache, and random positions."""

import pytest
import torch
from layers import awake, close, in_parts
from torch import nn

from posenc import encodings
from posenc.attention import Cache, SelfAttention
from posenc.models import LanguageModel

N_TOKENS, LENGTH = 11, 14
NAMES = [*encodings.names(), *encodings.names("modern")]
UNPLACED = ["cope", "fox", "path"]  # which make distances themselves, from what tokens hold
SOME = ["none", "sinusoidal", "rotary", "t5", "relative", "sine_spe", "fox"]
LISTS = [["rotary", "none", "rotary"], ["learnable", "t5", "sinusoidal"]]


def build(position="rotary", n_layers=2, dtype=torch.float64, **options):
    """Return a model whose parameters are away from special values."""
    torch.manual_seed(2)
    options = {"max_length": LENGTH, **options}
    model = LanguageModel(N_TOKENS, 16, 2, n_layers, position=position, **options)
    return awake(model, 0.1, dtype)


def text(batch=3, length=LENGTH):
    return torch.randint(N_TOKENS, (batch, length), generator=torch.Generator().manual_seed(1))


# -- what it computes ------------------------------------------------------------------------------


def test_the_model_step_by_step():
    model, tokens = build("sinusoidal"), text()

    def normed(x, norm):
        return nn.functional.layer_norm(x, (16,), norm.weight, norm.bias)

    x = model.tokens.weight[tokens] + model.position.rows(LENGTH)
    for layer in model.layers:
        reference = SelfAttention(16, 2, encodings.make("none", 16, 2, LENGTH), causal=True)
        reference.load_state_dict(layer.attention.state_dict())
        x = x + reference.double()(normed(x, layer.attention_norm))
        hidden = normed(x, layer.feed_forward_norm)
        x = x + layer.contract(nn.functional.gelu(layer.expand(hidden)))
    x = normed(x, model.final_norm)
    torch.testing.assert_close(model(tokens), x @ model.head.weight.T + model.head.bias)


def test_a_list_of_encodings_has_one_a_layer():
    model = build(["learnable", "none", "rotary"], 3)
    found = [type(layer.attention.position).__name__ for layer in model.layers]
    assert found == ["Learnable", "NoPosition", "Rotary"]
    assert model.position is model.layers[0].attention.position
    with pytest.raises(ValueError, match="position must be one encoding or a list of n_layers = 2"):
        build(["rotary"] * 3, 2)


@pytest.mark.parametrize("shape", [(0, 5), (2, 0)])
def test_nothing_in_nothing_out(shape):
    assert build()(torch.zeros(shape, dtype=torch.long)).shape == (*shape, N_TOKENS)


# -- the cache -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SOME, *LISTS], ids=str)
def test_parts_give_what_the_whole_gives(name):
    model = build(name, 3 if isinstance(name, list) else 2, torch.float32)
    for cuts in ((), (5,), tuple(range(1, LENGTH))):
        torch.manual_seed(5)  # for noise that an encoding draws
        parts = in_parts(model, text(), cuts)
        torch.manual_seed(5)
        close(parts, model(text()), 1e-5)


def test_a_refused_token_leaves_the_cache_as_it_was():
    model, tokens, cache = build(["rotary", "learnable"]), text(), Cache()
    whole = model(tokens)
    model(tokens[:, :-1], cache=cache)
    with pytest.raises(ValueError, match="length must be at most max_length"):
        model(tokens[:, :2], cache=cache)
    assert cache.length == LENGTH - 1
    torch.testing.assert_close(model(tokens[:, -1:], cache=cache), whole[:, -1:])


@pytest.mark.parametrize("wrong", [{}, {"positions": [0, 1, 2]}])
def test_a_cache_that_a_first_pass_left_empty_serves_another_model(wrong):
    short, tokens, cache = build("learnable", max_length=5), text(), Cache()
    with pytest.raises(ValueError, match=r"positions must have shape|length must be at most"):
        short(tokens, cache=cache, **wrong)
    model = build("learnable")
    torch.testing.assert_close(model(tokens, cache=cache), model(tokens))


def test_a_cache_serves_one_model():
    one, other, cache = build(), build(), Cache()
    one(text(), cache=cache)
    with pytest.raises(ValueError, match="cache must serve one model only"):
        other(text(), cache=cache)
    layer, x = other.layers[0].attention, torch.zeros(3, 1, 16, dtype=torch.float64)
    with pytest.raises(ValueError, match="cache must serve one layer only"):
        layer(x, cache=cache)
    of_layer = Cache()
    layer(x, cache=of_layer)
    with pytest.raises(ValueError, match="got that of a layer"):
        other(text(), cache=of_layer)
    with pytest.raises(ValueError, match="x must have batch = 3 rows"):
        one(text(2), cache=cache)


# -- random positions ------------------------------------------------------------------------------


def test_draws_are_uniform_and_repeatable():
    model = build(random_positions=20)
    generator = torch.Generator().manual_seed(3)
    draws = torch.stack([model.draw_positions(5, generator) for _ in range(4000)])
    again = torch.Generator().manual_seed(3)
    assert torch.equal(draws[0], model.draw_positions(5, again))
    counts = draws.flatten().bincount(minlength=20) / 4000
    assert (counts - 0.25).abs().max() < 5 * (0.25 * 0.75 / 4000) ** 0.5
    assert model.draw_positions(20).tolist() == list(range(20))
    with pytest.raises(ValueError, match="length must be at most random_positions = 20, got 21"):
        model.draw_positions(21)


@pytest.mark.parametrize("name", ["sinusoidal", "learnable", "rotary", "transformer_xl", "alibi"])
def test_drawn_places_are_those_that_can_be_given_and_counted_after_training(name):
    model, tokens = build(name, random_positions=60), text()
    counted, places = model(tokens), torch.arange(LENGTH)
    torch.testing.assert_close(counted, model(tokens, positions=places))
    torch.manual_seed(9)
    drawn = model.draw_positions(LENGTH)
    torch.manual_seed(9)
    torch.testing.assert_close(model.train()(tokens), model(tokens, positions=drawn))
    torch.testing.assert_close(model(tokens, positions=places), counted)  # what is given wins
    torch.testing.assert_close(model(tokens, cache=Cache()), counted)


@pytest.mark.parametrize("name", encodings.names("signal"))
def test_an_encoding_that_reads_later_tokens_is_refused(name):
    with pytest.raises(ValueError, match="in a causal layer, as each of its vectors depends on"):
        build(name)(text())


def test_the_check_draws_nothing_from_torchs_generator():
    torch.manual_seed(0)
    LanguageModel(N_TOKENS, 16, 2, 2, position="sine_spe", max_length=LENGTH)
    before = torch.rand(1)
    torch.manual_seed(0)
    model = LanguageModel(
        N_TOKENS, 16, 2, 2, position="sine_spe", max_length=LENGTH, random_positions=LENGTH
    )
    assert torch.equal(torch.rand(1), before)
    assert model.training
    assert all(layer.training for layer in model.layers)


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_heads": 3}, "n_heads must divide d_model = 16, got 3"),
        ({"dropout": 1.0}, "dropout must be a probability, 0 <= dropout < 1, got 1.0"),
        ({"position": "rotory"}, "did you mean 'rotary'"),
        ({"random_positions": 8}, "random_positions must be at least max_length = 9.*got 8"),
    ],
)
def test_bad_sizes_are_named(options, message):
    sizes = {"n_tokens": 5, "d_model": 16, "n_heads": 2, "n_layers": 1, "max_length": 9}
    with pytest.raises(ValueError, match=message):
        LanguageModel(**{**sizes, **options})


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (torch.zeros(3), r"tokens must be a tensor of shape \(batch, length\), got \(3,\)"),
        ([[1, 2]], r"tokens must be a tensor of shape \(batch, length\), got list"),
        (torch.zeros(1, 3), "tokens must be integers, int64 or int32, got dtype torch.float32"),
        (torch.ones(1, 3).bool(), "tokens must be integers, int64 or int32, got .* torch.bool"),
        (torch.ones(1, 3).byte(), r"int64 or int32, got dtype torch.uint8; tokens\.long\(\) conv"),
        (torch.ones(1, 3).short(), "tokens must be integers, int64 or int32, got .* torch.int16"),
        (torch.tensor([[1, 11]]), "tokens must be from 0 to n_tokens - 1 = 10, got 11"),
        (torch.tensor([[-1, 1]]), "tokens must be from 0 to n_tokens - 1 = 10, got -1"),
    ],
)
def test_bad_tokens_are_named(tokens, message):
    with pytest.raises(ValueError, match=message):
        build()(tokens)


def test_tokens_of_either_type_are_the_same():
    model, tokens = build(), text()
    assert torch.equal(model(tokens.int()), model(tokens))
