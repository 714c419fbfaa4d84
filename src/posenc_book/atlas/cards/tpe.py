"""T-PE: sinusoids in every layer and a kernel of similarity."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="tpe",
    title="T-PE",
    year=2024,
    family="signal",
    sentence=(
        "It adds the sinusoidal table before every layer, because its trace fades with depth, "
        "and lets tokens that are alike, in content and place together, score higher."
    ),
    formula=(
        r"x_t \leftarrow x_t + e_\text{sin}(t), \qquad s_{ij} \leftarrow s_{ij} + "
        r"\exp\!\Big(\!-\frac{\lVert x_i - x_j \rVert^2}{2 \sigma^2}\Big)"
    ),
    doors=("embed", "bias"),
    parameters="0",
    longer="as it is",
    beyond=(
        "The table goes on as the sinusoid's does, with the same trouble: rows that the model "
        "has not met."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it where similar steps should attend to each other and the model is deep enough "
        "for an added table to fade. The similarity of all pairs is computed anew in every "
        "layer."
    ),
    code="""\
module = make("tpe")
here = module.embed(x)  # the sinusoidal table, added before every layer
squared = (here[:, :, None] - here[:, None]).square().sum(-1)
kernel = (-squared / (2 * d_model)).exp()  # sigma**2 = d_model
assert torch.allclose(module.bias(here, q, k)[:, 0], kernel)""",
    papers=("zhang2024intriguing",),
    verdicts=("S9", "S22"),
    chapter="relative-and-hybrid",
)
