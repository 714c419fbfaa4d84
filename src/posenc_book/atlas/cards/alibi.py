"""ALiBi: a penalty in proportion to the distance."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="alibi",
    title="ALiBi",
    year=2022,
    family="distances",
    sentence=(
        "It subtracts from each score a penalty in proportion to the distance, steep in one "
        "head and gentle in the next, and learns nothing."
    ),
    formula=(r"s_{ij} \leftarrow s_{ij} - m_h\, |i - j|, \quad m_h = 2^{-8h/n_\text{heads}}"),
    doors=("bias",),
    parameters="0",
    longer="as it is",
    beyond=(
        "The penalty goes on in a straight line, so what is farther away than in training "
        "gets hardly any weight. Our probe cannot test this: it asks about direction, which the "
        "two-sided penalty does not see."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in causal models that will run longer than they were trained. In a layer that "
        "looks both ways it cannot tell before from after, and needs a partner that can."
    ),
    code="""\
slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
penalty = -slopes[:, None, None] * (t - t[:, None]).abs()
assert torch.allclose(make("alibi").bias(x, q, k), penalty)""",
    verdicts=("N12", "N14"),
    papers=("press2022alibi",),
    chapter="relative-and-hybrid",
    more=(
        "BLOOM and MPT add the slope times the place of the key, not minus the distance. In a "
        "causal layer that is the same, because all scores of a row differ by one number, which "
        "the softmax does not see. `bias_max` is the 8 in the slopes: MPT's models for long "
        "stories have 16."
    ),
)
