"""SineSPE: random codes whose covariance is a sum of cosines."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="sine_spe",
    title="SineSPE",
    year=2021,
    family="offsets",
    sentence=(
        "It multiplies queries and keys by random codes whose covariance is a learned sum of "
        "cosines of the offset, so that on average the score depends on the offset, though "
        "the matrix of scores is never needed."
    ),
    formula=(
        r"s_{ij} \to \frac{1}{\sqrt{d_\text{head}}} \sum_\ell q_{i\ell}\, P_\ell(i - j)\, "
        r"k_{j\ell}, \qquad P_\ell(o) = \sum_{n=1}^{5} g_{\ell n}^2 \cos(\omega_{\ell n}\, o + "
        r"\theta_{\ell n})"
    ),
    doors=("rotate",),
    parameters="15 * d_model * n_layers",
    longer="as it is",
    beyond=(
        "The kernel is a function of the offset and goes on; the codes of a longer input "
        "begin with those of a shorter one."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it with attention of linear cost, which never forms the scores. In ordinary "
        "attention RoPE gives scores by offset without the noise, and at a lower price."
    ),
    code="""\
module = encodings.make("sine_spe", 8, 2, length, n_realisations=20_000).eval()
gains, omega = (a[:, :, None, None] for a in (module.gains, module.omega))
kernel = (gains**2 * ((t[:, None] - t)[..., None] * omega).cos()).sum(-1)
codes_q, codes_k = module.codes(length)  # the phases start at 0
assert (codes_q @ codes_k.mT / 20_000 - kernel).abs().max() < 0.06""",
    papers=("liutkus2021spe",),
    verdicts=("S13", "S31"),
    chapter="relative-and-hybrid",
)
