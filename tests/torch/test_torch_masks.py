"""Masks: padding and pairs are two things, however large a batch happens to be."""

import copy

import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import Cache, CrossAttention, SelfAttention
from posenc.models import EncoderLayer, PatchTransformer, TimeSeriesTransformer

LENGTH, N_CONTEXT = 8, 12
BATCHES = [7, 8, 9]  # the last batch of an epoch may be as large as a series is long


def layer(cls=SelfAttention, name="rotary", **options):
    torch.manual_seed(0)
    return cls(16, 2, encodings.make(name, 16, 2, 40), **options).double().eval()


def tokens(batch, length=LENGTH):
    torch.manual_seed(1)
    return torch.randn(batch, length, 16, dtype=torch.float64)


def tril(n=LENGTH, m=LENGTH):
    return torch.ones(n, m, dtype=torch.bool).tril()


def real(batch, length=LENGTH):
    """Return a mask in which each series but the first ends early."""
    ends = length - torch.arange(batch) % (length - 1)
    return torch.arange(length) < ends[:, None]


@pytest.mark.parametrize("batch", BATCHES)
def test_pairs_are_pairs_whatever_the_batch(batch):
    attention, x = layer(), tokens(batch)
    weights = attention.weights(x, pairs=tril())
    assert torch.equal(weights > 0, tril().expand_as(weights))
    causal = layer(causal=True)(x)
    for form in (tril(), tril()[None], tril().expand(batch, -1, -1), tril()[None, None]):
        close(attention(x, pairs=form), causal, 1e-12)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", ["rotary", "sinusoidal", "t5", "cope"])
def test_padding_is_padding_whatever_the_batch(batch, name):
    attention, x, mask = layer(name=name), tokens(batch), real(batch)
    out = attention(x.where(mask[..., None], torch.nan), padding=mask)
    for row, own in zip(range(batch), mask, strict=True):
        close(out[row, own][None], attention(x[row, own][None]), 1e-12)


def test_a_mask_that_could_be_either_is_refused():
    attention, x, mask = layer(), tokens(8), tril()
    said = (
        r"^mask must mean one thing, but \(8, 8\) is both \(batch, length\) and \(queries, keys\); "
        r"write padding=mask .*, or pairs=mask "
    )
    calls = [attention, attention.weights, attention.attend, attention.check_input]
    for call in calls:
        with pytest.raises(ValueError, match=said):
            call(x, mask)
    for batch in (7, 9):  # any other batch says what is meant
        x = tokens(batch)
        assert torch.equal(attention(x, mask), attention(x, pairs=mask))
        assert torch.equal(attention(x, real(batch)), attention(x, padding=real(batch)))
    x, mask = tokens(8), real(8)
    assert not torch.equal(attention(x, padding=mask), attention(x, pairs=mask))
    assert torch.equal(attention(x, mask[None]), attention(x, pairs=mask))


def test_a_mask_of_a_context_that_could_be_either_is_refused():
    attention = layer(CrossAttention)
    context = tokens(LENGTH, N_CONTEXT)
    mask = real(LENGTH, N_CONTEXT)
    for call in (attention, attention.weights):
        with pytest.raises(
            ValueError, match=r"^mask must mean one thing, but \(8, 12\) is both \(batch, n_context"
        ):
            call(tokens(LENGTH), context, mask)
    x = tokens(LENGTH)
    padded = attention.weights(x, context, padding=mask)
    assert torch.equal(padded > 0, mask[:, None, None].expand_as(padded))
    by_pair = attention.weights(x, context, pairs=mask)
    assert torch.equal(by_pair > 0, mask.expand_as(by_pair))


@pytest.mark.parametrize("batch", BATCHES)
def test_a_context_may_have_padding_and_pairs(batch):
    attention, x, context = layer(CrossAttention), tokens(batch), tokens(batch, N_CONTEXT)
    padding, pairs = real(batch, N_CONTEXT), tril(LENGTH, N_CONTEXT)
    weights = attention.weights(x, context, padding=padding, pairs=pairs)
    assert torch.equal(weights > 0, (padding[:, None, None] & pairs).expand_as(weights))
    filled = context.where(padding[..., None], torch.nan)
    close(
        attention(x, filled, padding=padding, pairs=pairs),
        attention(x, context, pairs=padding[:, None] & pairs),
        1e-12,
    )
    # one of the two can only be padding, or only pairs
    if batch != LENGTH:
        assert torch.equal(attention(x, context, padding), attention(x, context, padding=padding))
        assert torch.equal(attention(x, context, pairs), attention(x, context, pairs=pairs))


@pytest.mark.parametrize("batch", BATCHES)
def test_padding_and_pairs_go_together(batch):
    attention, x, mask = layer(), tokens(batch), real(batch)
    weights = attention.weights(x, padding=mask, pairs=tril())
    assert torch.equal(weights > 0, (mask[:, None, None] & tril()).expand_as(weights))
    both = attention(x.where(mask[..., None], torch.nan), padding=mask, pairs=tril())
    expected = layer(causal=True)(x, padding=mask)
    close(both[mask], expected[mask], 1e-12)


@pytest.mark.parametrize("batch", [3, 4, 5])
def test_masks_of_new_tokens_beside_a_cache(batch):
    attention, x, mask = layer(causal=True), tokens(batch, 12), real(batch, 12)
    whole = attention(x, padding=mask, pairs=tril(12, 12))
    cache, parts = Cache(), []
    for start in (0, 4, 8):  # four new tokens for three, four and five series
        rows = slice(start, start + 4)
        pairs = tril(12, 12)[rows, : rows.stop]
        parts.append(attention(x[:, rows], padding=mask[:, rows], pairs=pairs, cache=cache))
    close(torch.cat(parts, 1)[mask], whole[mask], 1e-12)


def test_a_mask_beside_a_cache_that_could_be_either_is_refused():
    attention, x, cache = layer(causal=True), tokens(4, 8), Cache()
    with pytest.raises(ValueError, match=r"^mask must mean one thing, but \(4, 4\) is both"):
        attention(x[:, :4], tril(4, 4), cache=cache)
    assert cache.length == 0
    attention(x[:, :4], padding=tril(4, 4), cache=cache)
    # behind earlier tokens there are more keys than new tokens, so that a shape says what is meant
    twin = copy.copy(cache)
    later = attention(x[:, 4:], tril(4, 4), cache=cache)
    assert torch.equal(later, attention(x[:, 4:], padding=tril(4, 4), cache=twin))


@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer])
@pytest.mark.parametrize("batch", [*BATCHES, 2])
@pytest.mark.parametrize("name", ["rotary", "t5", "tpe"])
def test_a_model_takes_its_mask_for_padding_whatever_the_batch(cls, batch, name):
    torch.manual_seed(0)
    options = {"patch": 2} if cls is PatchTransformer else {}
    n_tokens = LENGTH // 2 if options else LENGTH
    model = cls(3, 2, LENGTH, name, 16, 2, 2, 16, norm="layer", **options).double().eval()
    for n_series in (batch, n_tokens, n_tokens + 1):  # as many series as tokens, too
        x, mask = torch.randn(n_series, LENGTH, 3).double(), real(n_series)
        one_by_one = [model(x[[i]], mask[[i]]) for i in range(n_series)]
        close(model(x, mask), torch.cat(one_by_one))


def test_a_layer_of_a_model_takes_its_mask_for_padding():
    block = EncoderLayer(encodings.make("t5", 16, 2, 9), 16, 0.0, 0.0, "layer", True).double()
    x, mask = tokens(LENGTH), real(LENGTH)
    one_by_one = [block(x[[i]], mask[[i]], None) for i in range(LENGTH)]
    close(block(x, mask, None), torch.cat(one_by_one), 1e-12)
    with pytest.raises(ValueError, match=r"^padding must have shape \(batch, length\) = \(7, 8\)"):
        block(tokens(7), tril(), None)


@pytest.mark.parametrize(
    ("masks", "said"),
    [
        ({"padding": tril(), "mask": tril()}, "mask must be None where `padding` or `pairs`"),
        ({"pairs": tril(), "mask": tril()}, "mask must be None where `padding` or `pairs`"),
        ({"padding": tril()}, r"padding must have shape \(batch, length\) = \(7, 8\), got \(8, 8"),
        ({"padding": tril()[:7].int()}, "padding must be bool, True for real tokens, got dtype"),
        ({"padding": [[True]]}, "padding must be a bool tensor, True for real tokens, or None"),
        ({"pairs": tril()[:7]}, r"pairs must have shape .* = \(8, 8\) .*got \(7, 8"),
        ({"pairs": tril().double()}, "pairs must be bool, True where a query looks at a key, got"),
        ({"pairs": "causal"}, "pairs must be a bool tensor, True where a query looks at a key"),
        ({"mask": tril()[:5]}, r"mask must have shape .* = \(8, 8\) .* = \(7, 8\), got \(5"),
    ],
)
def test_wrong_masks_are_named(masks, said):
    attention = layer()
    for call in (attention, attention.weights, attention.attend):
        with pytest.raises(ValueError, match=f"^{said}"):
            call(tokens(7), **masks)
    if "pairs" not in masks or "mask" in masks:
        return
    with pytest.raises(ValueError, match=r"^pairs must"):
        layer(CrossAttention)(tokens(7), tokens(7), **masks)
