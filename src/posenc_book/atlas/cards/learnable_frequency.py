"""Sinusoids whose frequencies are learned."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="learnable_frequency",
    title="Learnable frequencies",
    year=2019,
    family="added",
    sentence=(
        "It adds sinusoids, like the sinusoidal encoding, but learns their frequencies, starting "
        "from that encoding's."
    ),
    more=(
        "What is learned is the *logarithm* of each frequency. So frequencies stay positive, "
        "and one step of the optimiser changes a slow wave and a fast one by the same ratio. "
        "Everything that is true of sinusoids for a fixed set of frequencies stays true at "
        "every moment of training: rows have equal norms, and a shift is a rotation. A "
        r"frequency that drifts above $\pi$ turns into a slower one on whole positions; with "
        "real times it does not."
    ),
    formula=(
        r"e_{2i}(t) = \sin(e^{\lambda_i} t), \quad e_{2i+1}(t) = \cos(e^{\lambda_i} t), \quad "
        r"\lambda_i \text{ learned, from } \lambda_i = -\tfrac{2i}{d_\text{model}} \ln 10\,000"
    ),
    doors=("embed",),
    parameters="d_model // 2",
    longer="as it is",
    beyond=(
        "As with sinusoids, later positions have rows that the model has not met. The "
        "frequencies were fitted to the places of training only."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it where the data have a period that nobody told you, or time stamps in a unit "
        "that does not suit the usual frequencies. It costs d_model / 2 numbers more than the "
        "sinusoid and starts as the same table."
    ),
    code="""\
omega = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
log_omega = nn.Parameter(omega.log())
angles = t[:, None] * log_omega.exp()
rows = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
assert torch.allclose(make("learnable_frequency").embed(x), x + rows)""",
    papers=("xu2019functional",),
)
