"""CoPE: positions that count what matters."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="cope",
    title="CoPE",
    year=2024,
    family="distances",
    sentence=(
        "It lets each query count the tokens that it finds worth counting, by gates between 0 "
        "and 1, and looks up a learned vector for the count instead of the index."
    ),
    formula=(
        r"p_{ij} = \sum_{n=j}^{i} \sigma\!\left(\frac{q_i\, "
        r"k_n^\top}{\sqrt{d_\text{head}}}\right), \qquad s_{ij} \leftarrow s_{ij} + q_i\, "
        r"e[p_{ij}]^\top"
    ),
    doors=("bias",),
    parameters="64 * d_head * n_layers",
    longer="as it is",
    beyond=(
        "Counts from 63 on share the last vector, whatever the length (from 31 on in a layer "
        "that looks both ways). How fast a count grows is up to the gates."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it where *the third peak* or *the last change* is the question, and the number of "
        "steps in between is not. Its term is a matrix for every head and series, with "
        "many tokens the dearest of this book to train, and it knows nothing of the clock."
    ),
    code="""\
module = make("cope")
module.vectors.data.normal_()
gates = (q @ k.mT / d_head**0.5).sigmoid().triu()  # keys behind the query, in a layer of both sides
p, e = gates.cumsum(-1).clamp(max=31), (q @ module.vectors.T)[..., 32:]
between = e.gather(-1, p.long()) * (1 - p % 1) + e.gather(-1, p.ceil().long()) * (p % 1)
assert torch.allclose(module.bias(x, q, k).triu(1), between.triu(1))""",
    verdicts=("N60", "N61"),
    papers=("golovneva2024cope",),
    more=(
        "An index counts every token alike. In a text one may want to count words or sentences, "
        "in a series peaks or samples that are not missing, and which of them depends on who "
        "asks. Here the gate of a token is high where query and key agree, so a count is made of "
        "content; between whole counts two vectors are interpolated. With all gates open it is a "
        "learned relative encoding, with all gates shut none at all. The authors use it in "
        "causal models. Our extension to layers that look both ways gives half of the vectors to "
        "later keys."
    ),
)
