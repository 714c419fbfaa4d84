"""Every bias as FlexAttention takes it: the function adds what the library's own layer adds."""

import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import SelfAttention, embedded, score_mod

LENGTH = 11
OPTIONS = {
    "t5": {"n_buckets": 8, "max_distance": 6},
    "tpe": {"learn_sigma": True},
    "fire": {"threshold": 20.0},
    "swin": {"window": (4, 4)},
    "fire beyond its threshold": {"threshold": 4.0},
    "kerple power": {"kernel": "power"},
    "relative of all offsets": {"max_distance": None},
}
BIASED = [
    *(name for name in encodings.names("all") if "bias" in encodings.get(name).doors()),
    *(name for name in OPTIONS if " " in name),
]


def layer(name, *, causal=True, dtype=torch.float64):
    torch.manual_seed(3)
    position = encodings.make(name.split()[0], 32, 2, LENGTH, **OPTIONS.get(name, {}))
    attention = SelfAttention(32, 2, position, causal=causal).to(dtype)
    with torch.no_grad():
        for parameter in position.parameters():
            parameter += 0.2 * torch.randn_like(parameter)
    return attention


def projected(attention):
    """Return tokens, where they stand, and queries, keys and values behind the door `rotate`."""
    x = torch.randn(2, LENGTH, 32, dtype=attention.out.weight.dtype)
    positions = torch.randint(4, (LENGTH, 2)) if attention.position.n_axes > 1 else None
    places = attention._places(x, None, positions)
    tokens = embedded(attention.position, x, places)
    return x, tokens, positions, *attention._project(tokens, places)


def weights(attention, function, q, k):
    """Return softmax(score_mod(score)), with later keys hidden where the layer hides them."""
    shape = (*q.shape[:3], k.shape[2])
    where = torch.meshgrid(*(torch.arange(n) for n in shape), indexing="ij")
    scores = function(attention.scale * q @ k.mT, *where)
    later = torch.ones(shape[2:], dtype=torch.bool).triu(shape[3] - shape[2] + 1)
    return (scores.masked_fill(later, -torch.inf) if attention.causal else scores).softmax(-1)


@pytest.mark.parametrize(
    ("causal", "n_queries"), [(False, LENGTH), (True, LENGTH), (True, 4), (True, 1)]
)
@pytest.mark.parametrize("name", BIASED)
def test_weights_and_gradients_are_those_of_the_layer(name, causal, n_queries):
    attention = layer(name, causal=causal)
    x, tokens, positions, q, k, _ = projected(attention)
    q = q[:, :, LENGTH - n_queries :]
    expected = attention.weights(x, positions=positions)[:, :, LENGTH - n_queries :]
    function = score_mod(attention.position, q, k, tokens, causal=causal, positions=positions)
    ours = weights(attention, function, q, k)
    close(ours, expected)
    learned = list(attention.position.parameters())
    cotangent = torch.randn_like(ours)
    if learned:
        ours, theirs = (
            torch.autograd.grad(out, learned, cotangent, materialize_grads=True)
            for out in (ours, expected)
        )
        assert any(one.any() for one in ours)
        for one, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("n_queries", [LENGTH, 1])
@pytest.mark.parametrize("name", [name for name in BIASED if name != "swin"])
def test_flexattention_computes_what_the_layer_does(name, n_queries):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    attention = layer(name, dtype=torch.float32).requires_grad_(False)  # no way back on a CPU
    x, tokens, _, q, k, v = projected(attention)
    q, first = q[:, :, LENGTH - n_queries :], LENGTH - n_queries
    mask = create_block_mask(
        lambda b, h, i, j: j <= i + first, None, None, n_queries, LENGTH, device="cpu"
    )
    function = score_mod(attention.position, q, k, tokens, causal=True)
    heads = flex_attention(q, k, v, score_mod=function, block_mask=mask)
    close(heads, attention.weights(x)[:, :, first:] @ v, 1e-5)


def test_a_causal_alibi_adds_the_slope_times_the_number_of_the_key():
    attention = layer("alibi")
    _, _, _, q, k, _ = projected(attention)
    function = score_mod(attention.position, q, k, causal=True)
    slopes, zero = attention.position.slopes, torch.zeros(())
    key = torch.arange(LENGTH)
    for head in (0, 1):
        added = function(zero, 0, torch.tensor(head), torch.tensor(3), key)
        torch.testing.assert_close(added, slopes[head] * key)
    held = [cell.cell_contents for cell in function.__closure__]
    assert [tuple(one.shape) for one in held] == [(2,)]  # slopes, and no table


@pytest.mark.parametrize(
    ("name", "size"), [("t5", 2 * LENGTH - 1), ("kerple", 2 * LENGTH - 1), ("fire", 2 * LENGTH - 1)]
)
def test_what_goes_by_offset_holds_a_number_for_each(name, size):
    attention = layer(name)
    _, _, _, q, k, _ = projected(attention)
    held = [cell.cell_contents for cell in score_mod(attention.position, q, k).__closure__]
    tables = [one for one in held if isinstance(one, torch.Tensor) and one.ndim]
    assert [tuple(one.shape) for one in tables] == [(2, size)]


def test_keys_of_fewer_heads_are_those_of_their_groups():
    position = layer("deberta").position
    q, x = torch.randn(2, 2, LENGTH, 16).double(), torch.randn(2, LENGTH, 32).double()
    k = torch.randn(2, 1, LENGTH, 16).double()
    where = torch.meshgrid(*(torch.arange(n) for n in (2, 2, LENGTH, LENGTH)), indexing="ij")
    few, many = (score_mod(position, q, one, x)(0.0, *where) for one in (k, k.expand_as(q)))
    torch.testing.assert_close(few, many)


def test_a_bias_of_ones_own_takes_the_place_of_the_short_form():
    class Twice(encodings.ALiBi):
        def bias(self, x, q, k, places):
            return 2 * super().bias(x, q, k, places=places)

    q = torch.randn(1, 2, LENGTH, 16)
    where = torch.meshgrid(*(torch.arange(n) for n in (1, 2, LENGTH, LENGTH)), indexing="ij")
    once, twice = (
        score_mod(kind(32, 2, LENGTH), q, q, torch.randn(1, LENGTH, 32))(0.0, *where)
        for kind in (encodings.ALiBi, Twice)
    )
    torch.testing.assert_close(twice, 2 * once)


Q = torch.randn(2, 2, LENGTH, 16)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("rotary", {}, "must have a bias .* Rotary lets position in at rotate; position.rot"),
        ("transformer_xl", {}, "TransformerXL lets position in at rotate"),
        ("erpe", {}, "ERPE lets position in at mix$"),
        ("none", {}, "NoPosition knows no position"),
        ("cope", {}, "x must be given for CoPE, whose bias looks at the tokens, got None"),
        ("cope", {"x": Q}, r"x must be \(batch, n_keys, d_model\) = \(2, 11, 32\), got"),
        ("swin", {}, "positions must be given, with n_axes = 2"),
        ("alibi", {"q": Q[:, :1]}, "q and k must be .*heads = 2, .* got shapes"),
        ("alibi", {"q": Q.transpose(1, 2)}, "q and k must be"),
        ("alibi", {"k": Q[:, :, 1:]}, "q must have no more queries .* got 11 queries and 10 keys"),
        ("alibi", {"q": Q[:, :, 1:]}, "causal must be True where queries are fewer .* 10 queries"),
        ("alibi", {"causal": 1}, "causal must be True or False, got 1"),
    ],
)
def test_what_cannot_be_is_said(name, given, message):
    position = encodings.make(name, 32, 2, LENGTH)
    with pytest.raises(ValueError, match=message):
        score_mod(position, **({"q": Q, "k": Q} | given))


def test_only_an_encoding_has_a_bias():
    with pytest.raises(ValueError, match=r"must be a posenc.attention.Position, got 'alibi'"):
        score_mod("alibi", Q, Q)
    with pytest.raises(ValueError, match="this TPE adds nothing to scores"):
        score_mod(encodings.TPE(32, 2, LENGTH, similarity=False), Q, Q, torch.randn(2, LENGTH, 32))
