"""ConvSPE: random codes made by learned filters."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="conv_spe",
    title="ConvSPE",
    year=2021,
    family="offsets",
    sentence=(
        "It multiplies queries and keys by white noise that two learned filters have "
        "smoothed, so that on average the score depends on the offset through the filters' "
        "overlap."
    ),
    formula=(
        r"s_{ij} \to \frac{1}{\sqrt{d_\text{head}}} \sum_\ell q_{i\ell}\, P_\ell(i - j)\, "
        r"k_{j\ell}, \qquad P_\ell(o) = \sum_p \phi^Q_\ell(p)\, \phi^K_\ell(p - o)"
    ),
    doors=("rotate",),
    parameters="64 * d_model * n_layers",
    longer="as it is",
    beyond=(
        "The kernel is zero from the filters' length on, 32 positions by default, so a longer "
        "input brings no new offset that counts."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it with attention of linear cost, where position should not link tokens farther "
        "apart than the filter. In ordinary attention a step of training takes about three times "
        "as long as without it."
    ),
    code="""\
module = encodings.make("conv_spe", 8, 2, length, n_realisations=20_000).eval()
kernel = (1 - (t - t[:, None]).abs() / 32).clamp(min=0)  # at the start, with constant filters
codes_q, codes_k = module.codes(length)
assert (codes_q @ codes_k.mT / 20_000 - kernel).abs().max() < 0.06""",
    papers=("liutkus2021spe",),
    verdicts=("S8", "S13"),
    chapter="relative-and-hybrid",
)
