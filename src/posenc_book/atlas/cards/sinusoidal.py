"""The sinusoidal table of the Transformer."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="sinusoidal",
    title="Sinusoidal",
    year=2017,
    family="added",
    sentence=(
        "It adds to every token a row of sines and cosines of its position, whose frequencies "
        "fall from 1 in equal ratios, like the hands of a clock with many hands."
    ),
    formula=(
        r"e_{2i}(t) = \sin \omega_i t, \quad e_{2i+1}(t) = \cos \omega_i t, \quad \omega_i = "
        r"10\,000^{-2i/d_\text{model}}"
    ),
    doors=("embed",),
    parameters="0",
    longer="as it is",
    beyond=(
        "Every later position has a row of its own, but the model has never met it. A shift "
        "is one rotation of the row, the same everywhere; models of the size that we train do "
        "not find that rule."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it as the baseline: there is nothing to learn, little to tune (the base, and the "
        "size of its rows), and any real time has its row. Take another encoding for inputs "
        "longer than in training."
    ),
    code="""\
omega = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
angles = t[:, None] * omega
rows = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
assert torch.allclose(make("sinusoidal").embed(x), x + rows)""",
    papers=("vaswani2017attention",),
    verdicts=("B10", "B14", "F12", "R10", "S54"),
    chapter="oscillations",
)
