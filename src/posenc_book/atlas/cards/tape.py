"""tAPE: sinusoids whose frequencies follow the length."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="tape",
    title="tAPE",
    year=2024,
    family="added",
    sentence=(
        "It adds sinusoids whose frequencies are stretched by the width of the model over the "
        "length of the series, so that the table uses the same span of waves whatever the "
        "length."
    ),
    more=(
        r"Row $t$ of tAPE is the sinusoidal row at the real position $t\,d_\text{model}/L$. "
        "Dot products of sinusoidal rows fall with distance only at first, and then go up and "
        r"down; the stretch keeps all offsets within the first $d_\text{model}$ positions of "
        r"that curve. The survey prints the frequencies as $k\,d_\text{model}/L$, which has "
        "lost the base; the formula above is that of the authors."
    ),
    formula=(
        r"e(t) = e_\text{sin}\!\Big(t \cdot \frac{d_\text{model}}{L}\Big), \quad\text{that "
        r"is}\quad \omega_i = 10\,000^{-2i/d_\text{model}} \cdot \frac{d_\text{model}}{L}"
    ),
    doors=("embed",),
    parameters="0",
    longer="rebuilt",
    beyond=(
        "The frequencies belong to one length. For another one the table has to be made anew, "
        "and every row changes."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it for series of one fixed length that is at least twice the width of the model, "
        "where it makes dot products fall more regularly with distance. For short series it "
        "does the opposite."
    ),
    code="""\
omega = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
angles = (t * d_model / length)[:, None] * omega
rows = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
assert torch.allclose(make("tape").embed(x), x + rows)""",
    papers=("foumani2024convtran",),
    verdicts=("S3", "S4", "S42"),
)
