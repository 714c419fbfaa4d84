"""xPos: rotary encoding with a decay."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="xpos",
    title="xPos",
    year=2023,
    family="turned",
    sentence=(
        "It turns queries and keys as RoPE does and scales each pair of dimensions so that "
        "products fade with the distance back, the fast pairs first."
    ),
    formula=(
        r"s_{ij} = \frac{1}{\sqrt{d_\text{head}}} \sum_p \zeta_p^{(i-j)/512}\; q_i^{(p)} R_p(j - "
        r"i)\, k_j^{(p)\top}, \quad \zeta_p = \frac{2p/d_\text{head} + 0.4}{1.4}"
    ),
    doors=("rotate",),
    parameters="0",
    longer="as it is",
    beyond=(
        "With a longer offset the fast pairs, whose products swing, fade before the slow ones, "
        "which change little. That takes a long way: at an offset of 512 the fastest pair keeps "
        "29 % of its product. The library counts places from the middle of the input, which keeps "
        "the factors small, and refuses an input on which they would overflow."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in causal models in place of RoPE where scores should calm down with distance. "
        "In a layer that looks both ways it makes later keys louder instead of softer: there "
        "RoPE is better."
    ),
    code="""\
module, plain = make("xpos"), make("rotary")
zeta = (torch.arange(0, d_head, 2) / d_head + 0.4) / 1.4
factor = zeta.repeat_interleave(2) ** ((t[:, None] - (length - 1) / 2) / 512)
turned_q, turned_k = plain.rotate(q, k)
assert torch.allclose(module.rotate(q, k)[0], turned_q * factor)
assert torch.allclose(module.rotate(q, k)[1], turned_k / factor)""",
    verdicts=("N31", "N34", "N35"),
    papers=("sun2023xpos",),
    more=(
        "Summed over its waves, RoPE's score falls with the distance only on average, and swings "
        "about that average. The authors want attention that falls steadily, so that a token "
        "knows near from far beyond the training length too. A query is scaled by "
        r"$\zeta^{i/512}$ and a key by $\zeta^{-j/512}$, and only the ratio is left in a product. "
        "The trick needs a direction: what shrinks towards the past grows towards the future."
    ),
)
