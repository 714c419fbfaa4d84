"""The DFT encoding: Fourier coefficients of the one-hot position."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="dft",
    title="DFT encoding",
    year=2024,
    family="added",
    sentence=(
        "It adds to every token the Fourier coefficients of a spike at its position, which "
        "makes all rows orthonormal: any two positions are equally far apart."
    ),
    formula=(
        r"e(t) = \sqrt{\tfrac{2}{d}}\,\big(\tfrac{1}{\sqrt 2},\ \cos \tfrac{2\pi t}{d}, \dots, "
        r"\cos \tfrac{2\pi K t}{d},\ \sin \tfrac{2\pi t}{d}, \dots, \sin \tfrac{2\pi K t}{d},\ "
        r"\tfrac{(-1)^t}{\sqrt 2}\big), \quad K = \tfrac d2 - 1"
    ),
    doors=("embed",),
    parameters="0",
    longer="rebuilt",
    beyond=(
        "The definition ends at d_model positions. Beyond, `overflow` chooses: stretch the "
        "waves (the default, which changes every row), repeat the rows, or refuse."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it where no two positions should look alike and the input has at most d_model "
        "tokens. Its rows have norm 1, those of the sinusoid sqrt(d_model / 2): compare the "
        'two at equal loudness, with `scale="loud"`.'
    ),
    code="""\
angles = 2 * torch.pi / d_model * t[:, None] * torch.arange(1, d_model // 2)
ends = torch.stack([torch.ones(length), (-1.0) ** t], 1) / 2**0.5
rows = torch.cat([ends[:, :1], angles.cos(), angles.sin(), ends[:, 1:]], 1)
assert torch.allclose(make("dft").embed(x), x + (2 / d_model) ** 0.5 * rows)""",
    papers=("ide2024faithful",),
    verdicts=("F13", "F19", "F20", "F23", "F40"),
    chapter="faithfulness",
)
