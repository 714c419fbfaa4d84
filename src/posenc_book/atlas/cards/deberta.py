"""DeBERTa: content and offset ask each other."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="deberta",
    title="DeBERTa",
    year=2021,
    family="offsets",
    sentence=(
        "It adds to the score of two contents what the query asks of the offset and what the key "
        "asks of the offset, each with learned vectors of its own."
    ),
    formula=(
        r"s_{ij} = \frac{q_i\, k_j^\top + q_i\, a_{c(i-j)}^\top + k_j\, "
        r"b_{c(j-i)}^\top}{\sqrt{3\, d_\text{head}}}"
    ),
    doors=("rotate", "bias"),
    parameters="(2 * L * d_model + 2 * d_model**2) * n_layers",
    longer="as it is",
    beyond=(
        "Offsets from the table's reach on share its outermost vector. In a longer input more "
        "pairs fall there than in training."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it in encoders that look both ways, with enough data for two vectors per offset and "
        "layer. Its term is a separate matrix for every head and series, so it is slow for long "
        "inputs."
    ),
    code="""\
module = make("deberta")
a, b = (m(module.vectors).unflatten(-1, (n_heads, -1)) for m in (module.key, module.query))
row = (t[:, None] - t).clamp(1 - length, length - 1) + length  # of i - j; that of j - i is row.mT
asked = torch.einsum("bhid,ijhd->bhij", q, a[row]) + torch.einsum("bhjd,ijhd->bhij", k, b[row.mT])
turned_q, turned_k = module.rotate(q, k)  # only divides q by sqrt(3)
assert torch.allclose(module.bias(x, turned_q, turned_k), asked / (3 * d_head) ** 0.5)""",
    verdicts=("N26", "N28", "N29"),
    papers=("he2021deberta", "he2023debertav3"),
    more=(
        "Shaw's encoding lets a query ask for an offset. The authors add the question that is "
        "left: at which offset a key wants to be seen. A product of position with position is "
        "left out, as offsets on both sides would say little. Each token has a content and, "
        "towards every other token, a relative position, and no vector is ever the sum of the "
        "two: that is what *disentangled* means. In their model all layers share one table; here "
        "each layer has its own. Their program looks the last term up at $i - j$ where the paper "
        "writes $j - i$, and so does that of Hugging Face; the option `formula` has both. "
        "The later DeBERTa models look twice as far with half of the rows: `n_buckets` = 256 gives "
        "each offset up to 128 a row of its own and lets those up to 512 share the rest, in steps "
        "that widen with the distance; `map_bias` adds the vectors that their maps have."
    ),
)
