"""Time2Vec: one line and many sines, all learned."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="sine_linear",
    title="Time2Vec",
    year=2019,
    family="added",
    sentence=(
        "It adds one straight line in time and many sines with learned frequencies and "
        "phases, so that a trend and unknown periods both have a place."
    ),
    more=(
        "The sines start as those of the sinusoidal encoding: frequencies in equal ratios, "
        "every second wave shifted a quarter turn, which makes it a cosine. The line takes the "
        "place of the first column and at first runs from 0 to 1 over `max_length` positions. "
        "Sine and cosine need not stay in pairs: each column learns a frequency and a phase of "
        "its own, so the rows lose the fixed norm and the shift by rotation that sinusoids have."
    ),
    formula=(
        r"e_0(t) = w_0 t + b_0, \qquad e_i(t) = \sin(w_i t + b_i), \quad i = 1, \dots, "
        r"d_\text{model} - 1"
    ),
    doors=("embed",),
    parameters="2 * d_model",
    longer="as it is",
    beyond=(
        "The waves go on, but the straight line leaves the range that it had in training, and "
        "takes along all that the model learned from it."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it for time stamps, where both a trend and cycles of unknown length may count. "
        "Keep the times of use within the times of training, or the line takes the model "
        "where it has never been."
    ),
    code="""\
module = make("sine_linear")
w, b = module.weight, module.phase  # d_model learned numbers each
lines = t[:, None] * w + b
rows = torch.cat([lines[:, :1], lines[:, 1:].sin()], 1)
assert torch.allclose(module.embed(x), x + rows)""",
    papers=("kazemi2019time2vec",),
)
