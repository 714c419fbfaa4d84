"""DyWPE: a learned vector for each scale of the signal's wavelet transform."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="dywpe",
    title="DyWPE",
    year=2026,
    family="signal",
    sentence=(
        "It splits the series into parts of different scale by a wavelet transform, and adds at "
        "each step the sum of these parts, each times a learned vector of its scale."
    ),
    formula=(
        r"e(t) = \sum_{j=0}^{J} s_j(t)\, \sigma(W_g v_j + b_g) \odot \tanh(W_v v_j + b_v), \qquad "
        r"\sum_j s_j(t) = w x_t + b"
    ),
    doors=("embed",),
    parameters="2 * d_model**2 + 7 * d_model + 1",
    longer="as it is",
    beyond=(
        "Nothing here counts steps, so neither a longer nor a later series is anything new. The "
        "coarsest scale stays the one of training."
    ),
    real_times=False,
    causal=False,
    cached=False,
    use=(
        "Use it for what it is, a view of the content on several scales: bursts, trends and "
        "edges. It does not say where a token stands, so measure the same model without it, and "
        "consider an encoding of the index beside it."
    ),
    code="""\
module = make("dywpe", wavelet="haar", levels=1)  # pairs of steps: mean, and difference from it
signal = module.channel(x)[..., 0]
mean = signal.unflatten(1, (-1, 2)).mean(-1).repeat_interleave(2, 1)
v = module.gate(module.scales).sigmoid() * module.value(module.scales).tanh()
added = mean[..., None] * v[0] + (signal - mean)[..., None] * v[1]
assert torch.allclose(module.embed(x), x + added)""",
    papers=("irani2025dywpe",),
    verdicts=("N71", "N72", "N73", "N74"),
    chapter="time-and-space",
)
