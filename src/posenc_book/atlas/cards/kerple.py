"""KERPLE: kernels of the distance that each head shapes."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="kerple",
    title="KERPLE",
    year=2022,
    family="distances",
    sentence=(
        "It subtracts a penalty that grows like a logarithm of the distance, or like a power of "
        "it, with two numbers that each head learns."
    ),
    formula=(
        r"s_{ij} \leftarrow s_{ij} - a_h \log\big(1 + b_h |i - j|\big) \quad\text{or}\quad s_{ij} "
        "- a_h |i - j|^{p_h}"
    ),
    doors=("bias",),
    parameters="2 * n_heads * n_layers",
    longer="as it is",
    beyond=(
        "The logarithm flattens, so what is farther away than in training gets a little less "
        "weight than the farthest that was met, and hardly ever none."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in causal models that will run longer than they were trained, where ALiBi's "
        "straight lines shut out too much. In a layer that looks both ways it cannot tell before "
        "from after, and needs a partner that can."
    ),
    code="""\
module = make("kerple")
a, b = module.scale[:, None, None], module.rate[:, None, None]
penalty = a * (1 + b * (t - t[:, None]).abs()).log()
assert torch.allclose(module.bias(x, q, k), -penalty)""",
    verdicts=("N37", "N38", "N40"),
    papers=("chi2022kerple",),
    more=(
        "A bias by distance can take many forms. The authors ask that it be a conditionally "
        "positive definite kernel: up to a constant, which the softmax does not see, it is then "
        "a product of two vectors like any score. ALiBi's line is one of them, and the power "
        "$p = 1$ gives it back with learned slopes. Of the two families they find the logarithm "
        "better on longer texts."
    ),
)
