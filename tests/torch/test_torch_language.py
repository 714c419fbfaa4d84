"""The causal language model: what it computes, who sees whom, its cache, and random positions."""

import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.attention import Cache, Places, SelfAttention
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
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model.to(dtype).eval()


def text(batch=3, length=LENGTH):
    return torch.randint(N_TOKENS, (batch, length), generator=torch.Generator().manual_seed(1))


def in_parts(model, tokens, cuts, positions=None):
    cache, outputs = Cache(), []
    for start, stop in zip((0, *cuts), (*cuts, tokens.shape[1]), strict=True):
        places = None if positions is None else positions[start:stop]
        outputs.append(model(tokens[:, start:stop], positions=places, cache=cache))
        assert cache.length == stop
    return torch.cat(outputs, 1)


# -- what it computes ------------------------------------------------------------------------------


def test_the_model_step_by_step():
    model, tokens = build("sinusoidal"), text()
    x = model.tokens.weight[tokens] + model.position.rows(LENGTH)
    for layer in model.layers:
        reference = SelfAttention(16, 2, encodings.make("none", 16, 2, LENGTH), causal=True)
        reference.load_state_dict(layer.attention.state_dict())
        x = x + reference.double()(nn.functional.layer_norm(x, (16,), *affine(layer, "attention")))
        hidden = nn.functional.layer_norm(x, (16,), *affine(layer, "feed_forward"))
        x = x + layer.contract(nn.functional.gelu(layer.expand(hidden)))
    x = nn.functional.layer_norm(x, (16,), model.final_norm.weight, model.final_norm.bias)
    torch.testing.assert_close(model(tokens), x @ model.head.weight.T + model.head.bias)


def affine(layer, branch):
    norm = getattr(layer, f"{branch}_norm")
    return norm.weight, norm.bias


@pytest.mark.parametrize("name", [*SOME, *LISTS], ids=str)
def test_no_logit_sees_a_later_token(name):
    model = build(name, 3 if isinstance(name, list) else 2)
    tokens = text()
    other = tokens.clone()
    other[:, 9:] = (other[:, 9:] + 1) % N_TOKENS
    torch.manual_seed(0)
    before = model(tokens)
    torch.manual_seed(0)
    after = model(other)
    torch.testing.assert_close(before[:, :9], after[:, :9], rtol=0, atol=1e-12)
    assert not torch.allclose(before[:, 9:], after[:, 9:], atol=1e-6)


def test_without_position_order_counts_through_the_mask_alone():
    model, tokens = build("none", 1), text()
    swapped = tokens[:, [1, 0, *range(2, LENGTH)]]
    assert not torch.equal(tokens, swapped)
    torch.testing.assert_close(model(tokens)[:, 2:], model(swapped)[:, 2:])
    assert not torch.allclose(build("rotary", 1)(tokens)[:, 2:], build("rotary", 1)(swapped)[:, 2:])


def test_it_learns_to_repeat_a_sequence():
    torch.manual_seed(0)
    model = LanguageModel(N_TOKENS, 16, 2, 1, max_length=LENGTH)
    optimizer, tokens = torch.optim.Adam(model.parameters(), 0.02), text(1)
    for _ in range(60):
        logits = model(tokens)[:, :-1]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    assert torch.equal(model(tokens)[:, :-1].argmax(-1), tokens[:, 1:])


def test_a_list_of_encodings_has_one_a_layer():
    model = build(["learnable", "none", "rotary"], 3)
    found = [type(layer.attention.position).__name__ for layer in model.layers]
    assert found == ["Learnable", "NoPosition", "Rotary"]
    assert model.position is model.layers[0].attention.position
    with pytest.raises(ValueError, match="position must be one encoding or a list of n_layers = 2"):
        build(["rotary"] * 3, 2)


def test_later_places_and_real_ones():
    model, tokens = build("rotary"), text()
    torch.testing.assert_close(model(tokens), model(tokens, positions=torch.arange(LENGTH) + 40))
    times = torch.linspace(0, 3, LENGTH)
    assert not torch.allclose(model(tokens), model(tokens, positions=times))
    rows = times.expand(3, -1)
    torch.testing.assert_close(model(tokens, positions=times), model(tokens, positions=rows))


def test_a_checkpoint_holds_a_shared_encoding_once():
    model, other = build("t5"), build("t5")
    assert sum("position" in name for name in model.state_dict()) == 1
    with torch.no_grad():
        other.position.values.zero_()
    other.load_state_dict(model.state_dict())
    torch.testing.assert_close(other(text()), model(text()))


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
        torch.testing.assert_close(parts, model(text()), rtol=0, atol=1e-5)


def test_a_cache_goes_on_behind_given_positions():
    model, tokens, places = build("sinusoidal"), text(), torch.arange(LENGTH) * 3
    parts = in_parts(model, tokens, (4, 5), places)
    torch.testing.assert_close(parts, model(tokens, positions=places))
    cache = Cache()
    model(tokens[:, :4], positions=places[:4], cache=cache)
    onward = model(tokens[:, 4:6], cache=cache)
    there = torch.tensor([0, 3, 6, 9, 10, 11])
    torch.testing.assert_close(onward, model(tokens[:, :6], positions=there)[:, 4:])


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


@pytest.mark.parametrize("name", ["sinusoidal", "learnable", "rotary", "transformer_xl", "alibi"])
def test_positions_are_drawn_in_training_and_counted_afterwards(name, monkeypatch):
    model, seen, tokens = build(name, random_positions=60), [], text()
    made = Places.__init__

    def spy(self, queries, keys, **options):
        made(self, queries, keys, **options)
        seen.append(self.queries)

    monkeypatch.setattr(Places, "__init__", spy)
    model(tokens)
    assert torch.equal(seen[0], torch.arange(LENGTH)[None])
    model.train()
    draws = []
    for _ in range(40):
        seen.clear()
        model(tokens)
        (drawn,) = seen[0]  # one row: the same places for the whole batch
        assert drawn.shape == (LENGTH,)
        assert (drawn.diff() > 0).all()
        assert 0 <= drawn[0] <= drawn[-1] <= 59
        draws.append(drawn)
    assert len({tuple(d.tolist()) for d in draws}) == 40
    assert torch.cat(draws).unique().numel() == 60  # every place is met
    seen.clear()
    model(tokens, positions=torch.arange(LENGTH) + 1)
    assert torch.equal(seen[0], torch.arange(1, LENGTH + 1)[None])
    seen.clear()
    model(tokens, cache=Cache())
    assert torch.equal(seen[0], torch.arange(LENGTH)[None])


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


def test_drawn_places_are_those_that_can_be_given():
    model, tokens = build("learnable", random_positions=60), text()
    torch.manual_seed(9)
    places = model.draw_positions(LENGTH)
    torch.manual_seed(9)
    torch.testing.assert_close(model.train()(tokens), model(tokens, positions=places))


@pytest.mark.parametrize("name", encodings.names("signal"))
def test_an_encoding_that_reads_later_tokens_is_refused(name):
    with pytest.raises(ValueError, match="in a causal layer, as each of its vectors depends on"):
        build(name)(text())


@pytest.mark.parametrize("name", UNPLACED)
def test_an_encoding_that_makes_positions_itself_refuses_random_ones(name):
    who = encodings.get(name).__name__
    with pytest.raises(ValueError, match=rf"random_positions must be None with {who}.*got 60: "):
        build(name, random_positions=60)


class Plain(encodings.NoPosition):
    """A reader's encoding that counts and knows of no places."""

    def embed(self, x):
        return x + torch.arange(x.shape[1]).unsqueeze(-1)


def test_a_readers_encoding_without_places_refuses_too():
    build(Plain)(text())
    with pytest.raises(ValueError, match=r"with Plain.*Plain.embed counts 0, 1, 2"):
        build(Plain, random_positions=60)


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
        ({"n_tokens": 0}, "n_tokens must be an integer of at least 1, got 0"),
        ({"n_heads": 3}, "n_heads must divide d_model = 16, got 3"),
        ({"n_layers": 0}, "n_layers must be an integer of at least 1, got 0"),
        ({"max_length": 0}, "max_length must be an integer of at least 1, got 0"),
        ({"d_ff": 0}, "d_ff must be an integer of at least 1, got 0"),
        ({"dropout": 1.0}, "dropout must be a probability, 0 <= dropout < 1, got 1.0"),
        ({"position": "rotory"}, "did you mean 'rotary'"),
        ({"random_positions": 8}, "random_positions must be at least max_length = 9.*got 8"),
        ({"random_positions": 2.5}, "random_positions must be an integer"),
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


def test_bad_positions_and_draws_are_named():
    with pytest.raises(ValueError, match=r"positions must have shape .*got shape \(3,\)"):
        build()(text(), positions=[0, 1, 2])
    with pytest.raises(ValueError, match="random_positions must be given to the model"):
        build().draw_positions(3)
