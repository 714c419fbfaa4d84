"""The bias of T5: one learned number per bucket of offsets."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="t5",
    title="T5 bias",
    year=2020,
    family="distances",
    sentence=(
        "It adds one learned number per head and bucket of offsets to the scores: near "
        "offsets have a bucket each, far ones share buckets whose widths grow in proportion to the "
        "distance, so that the number of buckets grows like its logarithm."
    ),
    formula=r"s_{ij} \leftarrow s_{ij} + \beta_{\text{bucket}(j - i)}",
    doors=("bias",),
    parameters="32 * n_heads",
    longer="as it is",
    beyond=(
        "From 91 on, or 113 in a causal layer, all offsets of one side share a bucket. Shorter "
        "ones beyond the training length fall into buckets that training may never have filled."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it for long inputs where near offsets count exactly and far ones roughly; all "
        "layers share a few numbers. Real times are rounded to whole offsets, so choose the "
        "unit of time with care."
    ),
    code="""\
module, offset = make("t5"), t - t[:, None]
distance = offset.abs()
shared = 8 + (distance.clamp(min=8) ** 2 // 64).log2().long()
bucket = torch.where(distance < 8, distance, shared.clamp(max=15)) + 16 * (offset > 0)
assert torch.allclose(module.bias(x, q, k), module.values[:, bucket])""",
    papers=("raffel2020t5",),
    verdicts=("F36", "N17", "N19"),
    chapter="relative-and-hybrid",
    more=(
        "T5's encoder gives half of the buckets to keys after the query, its decoder all of them "
        "to keys before. The library takes the decoder's in a causal layer; `bidirectional` says "
        "it where a mask, and not the layer, hides what comes later."
    ),
)
