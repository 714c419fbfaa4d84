"""eRPE: a learned number per offset, after the softmax."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="erpe",
    title="eRPE",
    year=2024,
    family="offsets",
    sentence=(
        "It adds one learned number per head and offset to the attention weights, after the "
        "softmax, which is the same as attention plus a learned convolution over time."
    ),
    formula=r"z_i = \sum_j \big(A_{ij} + w_{j - i}\big)\, v_j",
    doors=("mix",),
    parameters="(2 * L - 1) * n_heads * n_layers",
    longer="refuses",
    beyond=("There is no number for an offset that training did not have, so the library refuses."),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it for series of one length where a fixed pattern over offsets should count, "
        "whatever the content says, as in a convolution. Its rows need not sum to 1, and weights "
        "may be negative."
    ),
    code="""\
module = make("erpe")
w = module.values  # 2 * length - 1 numbers for each head
offset = t - t[:, None]
assert torch.allclose(module.mix(x), w[:, offset + length - 1])""",
    papers=("foumani2024convtran",),
    verdicts=("S5", "S44", "S45", "S56"),
    chapter="relative-and-hybrid",
)
