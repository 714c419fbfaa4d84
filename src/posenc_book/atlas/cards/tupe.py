"""TUPE: content and position scored apart."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="tupe",
    title="TUPE",
    year=2021,
    family="offsets",
    sentence=(
        "It scores positions against positions and content against content, with separate "
        "maps, and adds the two, so that no score mixes what a token is with where another "
        "stands."
    ),
    formula=(r"s_{ij} = \frac{q_i\, k_j^\top + (p_i U_Q)(p_j U_K)^\top}{\sqrt{2\, d_\text{head}}}"),
    doors=("rotate", "bias"),
    parameters="L * d_model + 2 * d_model**2",
    longer="refuses",
    beyond=(
        "Positions are learned vectors, one for each place of training, so the library refuses."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it where all inputs have one length and content should not disturb the sense of "
        "place; the scores of positions are computed once for all layers. It knows places; "
        "offsets it has to learn."
    ),
    code="""\
module = make("tupe")  # at the door `rotate` it only divides the scores of content by sqrt(2)
projected = [u(module.vectors) for u in (module.query, module.key)]
p_q, p_k = (p.unflatten(-1, (n_heads, d_head)).transpose(0, 1) for p in projected)
assert torch.allclose(module.bias(x, q, k), p_q @ p_k.mT / (2 * d_head) ** 0.5)
assert torch.allclose(module.rotate(q, k)[0], q / 2**0.5)""",
    papers=("ke2021tupe",),
    verdicts=("S7", "F44", "S16"),
    chapter="relative-and-hybrid",
)
