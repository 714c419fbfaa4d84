"""FoPE: rotations that are short Fourier series."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="fope",
    title="FoPE",
    year=2025,
    family="turned",
    sentence=(
        "It turns pairs of dimensions as RoPE does, but by a mixture of frequencies, and leaves "
        "alone any pair that would not complete a turn in a training sequence."
    ),
    formula=(
        r"\cos(t\,\omega_m) \to \sum_n c_{nm} \cos(t\,\omega_n), \quad \sin(t\,\omega_m) \to "
        r"\sum_n s_{nm} \sin(t\,\omega_n), \qquad \omega_n \ge \frac{2\pi}{L}"
    ),
    doors=("rotate",),
    parameters="0",
    longer="as it is",
    beyond=(
        "Every frequency kept has turned at least once in training, so no angle is new. With "
        "mixtures, scores depend nearly, not exactly, on the offset alone."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in place of RoPE where inputs will be longer than in training and you suspect "
        "slow frequencies. With short series and narrow heads little is left: made for 48 "
        "positions, two of eight pairs turn."
    ),
    code="""\
module, omega = make("fope"), 10_000 ** (-torch.arange(0, d_head, 2) / d_head)
omega = omega[omega >= 2 * torch.pi / length]
c = module.of_cos / module.of_cos.sum(1, keepdim=True)
alone = nn.functional.one_hot(torch.tensor(0), d_head).expand(1, n_heads, length, -1).double()
turned, _ = module.rotate(alone, alone)
assert torch.allclose(turned[0, ..., 0], ((t[:, None] * omega).cos() @ c)[..., 0])""",
    papers=("hua2025fope",),
    more=(
        "The authors look at attention as a Fourier analysis. Two things disturb it: layers "
        "between one attention and the next mix frequencies, and frequencies too slow for the "
        "training length never complete a turn. So they train with mixed frequencies from the "
        "start, and set the slow ones to zero. The coefficients of the mixture are near the "
        "identity; they are drawn once and not learned. There is a price: a mixture of rotations "
        "is no rotation, so scores no longer depend on offsets exactly, as in RoPE."
    ),
)
