"""Transformer-XL: content and offset in four terms."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="transformer_xl",
    title="Transformer-XL",
    year=2019,
    family="offsets",
    sentence=(
        "It scores content against content and content against a projected sinusoid of the "
        "offset, and lets each head prefer some contents and some offsets whatever the query "
        "holds."
    ),
    formula=(
        r"s_{ij} = \frac{(q_i + u)\, k_j^\top + (q_i + v)\, \big(W "
        r"r_{i-j}\big)^\top}{\sqrt{d_\text{head}}}"
    ),
    doors=("rotate",),
    parameters="(d_model**2 + 2 * d_model) * n_layers",
    longer="as it is",
    beyond=(
        "Sinusoids have a value at every offset, so nothing ends. Offsets longer than any in "
        "training meet a map that was fitted without them."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it where a query should ask for content and distance in one breath and offsets are "
        "too many, or too uneven, for a table. Its keys grow by `d_model` dimensions, which "
        "makes long inputs dear."
    ),
    code="""\
module = make("transformer_xl")
angles = (t[:, None] - t)[..., None] * 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
r = module.project(torch.cat((angles.sin(), angles.cos()), -1)).unflatten(-1, (n_heads, -1))
score = (q + module.of_content) @ k.mT + torch.einsum("bhid,ijhd->bhij", q + module.of_offset, r)
wide_q, wide_k = module.rotate(q, k)
assert torch.allclose(wide_q @ wide_k.mT, score)""",
    verdicts=("N20", "N21"),
    papers=("dai2019transformerxl",),
    more=(
        "The authors wanted to carry keys from one segment of a text to the next, where the "
        "fourth tokens of both must not seem to share a place. They wrote out the product of two "
        "sums of content and position, replaced the position of the key by the offset, and that "
        "of the query, which says nothing any more, by the learned vectors u and v. Programs "
        "compute all offsets and shift the rows into place. Here the addition theorem does it: a "
        "sinusoid of $s - t$ is a product of sinusoids of $s$ and of $t$, so that the second "
        "term becomes extra dimensions of queries and keys, at any real times."
    ),
)
