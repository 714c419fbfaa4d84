"""A language model with padding, packed documents, windows, shared heads and several axes."""

from functools import partial

import pytest
import torch
from layers import awake, close, close_in_gradients, in_parts

from posenc import encodings
from posenc.attention import Cache, QueryScaling, Scoring
from posenc.encodings import MRoPE, Rotary
from posenc.models import LanguageModel

N_TOKENS, D_MODEL, N_HEADS, LENGTH = 30, 16, 4, 12
NAMES = [
    *("none", "sinusoidal", "learnable", "rotary", "alibi", "t5", "relative", "tpe", "tupe"),
    *("fire", "deberta", "xpos", "erpe"),  # cope makes positions itself, and refuses others
]


def model(position="rotary", n_layers=2, **more):
    """Return a model whose parameters are away from special values, in float64."""
    torch.manual_seed(1)
    made = LanguageModel(
        N_TOKENS, D_MODEL, N_HEADS, n_layers, position=position, max_length=40, **more
    )
    return awake(made, 0.1)


def texts():
    """Return three texts of different lengths."""
    torch.manual_seed(2)
    return [torch.randint(N_TOKENS, (1, n)) for n in (LENGTH, 7, 3)]


def padded(side):
    """Return the texts as a batch, and which tokens are real."""
    rows, masks = [], []
    for text in texts():
        filler = torch.randint(N_TOKENS, (1, LENGTH - text.shape[1]))
        real = [torch.ones_like(text).bool(), torch.zeros_like(filler).bool()]
        both = [text, filler]
        if side == "left":
            both, real = both[::-1], real[::-1]
        rows.append(torch.cat(both, 1)), masks.append(torch.cat(real, 1))
    return torch.cat(rows), torch.cat(masks)


def alone(made):
    """Return the logits of all texts, each by itself, one behind the other."""
    return torch.cat([made(text)[0] for text in texts()])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", NAMES)
def test_a_padded_batch_says_of_each_text_what_it_says_alone(name, side):
    made = model(name)
    batch, real = padded(side)
    close(made(batch, padding=real)[real], alone(made), 1e-10)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", ["sinusoidal", "rotary", "alibi"])
def test_a_padded_batch_goes_on_with_a_cache(name, side):
    made = model(name)
    batch, real = padded(side)
    more = torch.randint(N_TOKENS, (3, 4))
    cache = Cache()
    parts = in_parts(made, batch, (4, 9), cache, padding=real)
    after = in_parts(made, more, (3,), cache)
    for row, text in enumerate(texts()):
        whole = made(torch.cat((text, more[[row]]), 1))[0]
        close(torch.cat((parts[row][real[row]], after[row])), whole, 1e-10)


@pytest.mark.parametrize("own", [{"window": 4}, {}])
@pytest.mark.parametrize("cuts", [(), (4, 9), tuple(range(1, LENGTH))])
def test_a_text_goes_on_where_it_ended_though_its_window_holds_padding_only(own, cuts):
    made, (batch, real) = model("sinusoidal", attention_options=own), padded("right")
    new, rows, cache = torch.randint(N_TOKENS, (3, 2)), [2, 0], Cache(window=4)
    made(batch, padding=real, cache=cache)
    places = real.sum(1, keepdim=True) + torch.arange(2)
    expected = made(new, positions=places, cache=cache)
    cache = Cache(**({} if own else {"window": 4}))
    in_parts(made, batch, cuts, cache, padding=real)
    cache.reorder(rows)
    close(in_parts(made, new[rows], (1,), cache), expected[rows], 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_packed_documents_say_what_they_say_alone(name):
    made = model(name)
    packed = torch.cat(texts(), 1)
    numbers = torch.tensor([[4] * LENGTH + [7] * 7 + [4] * 3])
    close(made(packed, documents=numbers)[0], alone(made), 1e-10)
    assert not torch.allclose(made(packed)[0], alone(made), atol=1e-3) or name == "none"


@pytest.mark.parametrize("name", ["none", "sinusoidal", "rotary"])
def test_packed_documents_with_padding_between_and_windows(name):
    made = model(name, attention_options=[{"window": 3, "n_kv_heads": 2}, {}])
    first, second, third = texts()
    filler = torch.randint(N_TOKENS, (1, 2))
    packed = torch.cat((filler, first, second, filler, third), 1)
    numbers = torch.tensor([[0] * (2 + LENGTH) + [1] * 7 + [2] * 5])
    real = torch.ones_like(packed).bool()
    real[:, :2] = real[:, -5:-3] = False
    close(made(packed, documents=numbers, padding=real)[real], alone(made), 1e-10)


def test_gradients_of_packed_documents_are_those_of_each():
    made = model("rotary")
    packed, numbers = torch.cat(texts(), 1), torch.tensor([[0] * LENGTH + [1] * 7 + [2] * 3])
    found = made(packed, documents=numbers)[0]
    close_in_gradients(found, alone(made), made.parameters(), 1e-8, rtol=1e-8)


@pytest.mark.parametrize("options", [{"n_kv_heads": 2}, {"window": 4}, {"d_head": 10}])
def test_options_reach_the_attention_of_every_layer(options):
    made = model("rotary", attention_options=options)
    (name, value) = next(iter(options.items()))
    assert [getattr(layer.attention, name) for layer in made.layers] == [value] * 2
    text = texts()[0]
    close(in_parts(made, text, range(1, LENGTH)), made(text), 1e-10)


def test_layers_differ_in_base_window_width_and_scoring():
    fast, slow = partial(Rotary, base=1e4), partial(Rotary, base=1e6)
    scoring = Scoring(sinks=True, query_scaling=QueryScaling(beta=0.1, every=4))
    made = model(
        [fast, slow, "none"],
        n_layers=3,
        attention_options=[{"window": 3}, {"d_head": 10, "n_kv_heads": 1}, {"scoring": scoring}],
    )
    first, second, third = (layer.attention for layer in made.layers)
    assert (first.window, second.window, third.window) == (3, None, None)
    assert (first.d_head, second.d_head, third.d_head) == (4, 10, 4)
    assert first.position.omega[1] == pytest.approx(1e-2)
    assert second.position.omega[1] == pytest.approx(1e6 ** (-2 / 10))
    assert [type(one.position).__name__ for one in (first, second, third)] == [
        "Rotary",
        "Rotary",
        "NoPosition",
    ]
    batch, real = padded("left")
    close(made(batch, padding=real)[real], alone(made), 1e-10)
    assert set(made.state_dict()) >= {"layers.2.attention.sinks"}


def test_a_table_is_made_for_tokens_where_heads_have_a_width_of_their_own():
    made = model("learnable", attention_options={"d_head": 10})
    assert made.position.d_model == D_MODEL
    made = LanguageModel(9, 10, 4, 1, position="alibi", attention_options={"d_head": 3})
    assert made(torch.tensor([[1, 2]])).shape == (1, 2, 9)


def test_several_axes_are_given_and_go_on_with_a_cache():
    made = model([partial(MRoPE, sections=(1, 1)), "none"])
    assert made.n_axes == 2
    text, places = texts()[0], torch.randint(3, (1, LENGTH, 2)).cumsum(1)
    plain = model([partial(Rotary, pairing="half"), "none"])
    alike = places[..., :1].expand(-1, -1, 2)
    close(made(text, positions=alike), plain(text, positions=alike[..., 0]), 1e-10)
    whole = made(text, positions=places)
    cache = Cache()
    parts = [
        made(text[:, a:b], positions=places[:, a:b], cache=cache) for a, b in ((0, 7), (7, LENGTH))
    ]
    close(torch.cat(parts, 1), whole, 1e-10)
    with pytest.raises(ValueError, match="positions must be given, with n_axes = 2"):
        made(text)
    with pytest.raises(ValueError, match="n_axes = 1 and 2"):
        model([partial(MRoPE, sections=(1, 1)), "rotary"])


def test_random_places_are_those_of_real_tokens():
    made = model("rotary", random_positions=60).train()
    batch, real = padded("left")
    torch.manual_seed(5)
    found = made(batch, padding=real)
    torch.manual_seed(5)
    drawn = made.draw_positions(LENGTH)
    expected = made(batch, padding=real, positions=drawn[(real.cumsum(1) - 1).clamp(min=0)])
    close(found[real], expected[real], 1e-10)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m, x: m(x, padding=x > 0.5), None),
        (lambda m, x: m(x, padding=x), "padding must be bool, True for real tokens"),
        (lambda m, x: m(x, padding=(x > 3)[:, :2]), r"padding must have shape \(batch, length\)"),
        (lambda m, x: m(x, documents=x[:, :2]), r"documents must be a tensor of shape \(batch"),
        (lambda m, x: m(x, documents=[1, 2]), r"documents must be a tensor .* got list"),
        (lambda m, x: m(x, documents=x * 1.0), "documents must be integers, got dtype"),
        (lambda m, x: m(x, documents=x, cache=Cache()), "documents must be None with a cache"),
    ],
)
def test_bad_batches_are_named(act, message):
    made, text = model(), texts()[0]
    if message is None:
        assert act(made, text).shape[:2] == text.shape
        return
    with pytest.raises(ValueError, match=message):
        act(made, text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"windw": 3}, r"attention_options must be one of .* did you mean 'window'"),
        ([{}], "attention_options must be one mapping or a list of n_layers = 2, got 1"),
        (3, "attention_options must be a mapping from names to values"),
        ([1, 2], "attention_options must be a mapping from names to values"),
        ({"n_kv_heads": 3}, "n_kv_heads must divide n_heads = 4, got 3"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        model(attention_options=options)


def test_an_encoding_that_reads_neighbours_refuses_documents():
    class Neighbours(Rotary):
        reads_neighbours = True

    text = texts()[0]
    with pytest.raises(ValueError, match="documents must be None for Neighbours"):
        model(Neighbours)(text, documents=text)
    with pytest.raises(ValueError, match="mask must be None, or True for every token"):
        model(Neighbours)(text, padding=text > 3)
    assert encodings.make("rotary", 8, 2, 4).reads_neighbours is False
