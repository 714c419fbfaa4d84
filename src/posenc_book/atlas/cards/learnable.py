"""Learned positions: one free vector per position."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="learnable",
    title="Learned positions",
    year=2017,
    family="added",
    sentence=(
        "It adds to every token a vector that is learned for its position, one free row for "
        "each place."
    ),
    formula=(r"x_t \leftarrow x_t + p_t, \quad p_t \in \R^{d_\text{model}} \text{ learned}"),
    doors=("embed",),
    parameters="L * d_model",
    longer="refuses",
    beyond=("There is no row for a position that training did not have, so the library refuses."),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it where all inputs have one length, data are plentiful and the place itself "
        "means something, such as an hour of the day. Every row learns only from what stands "
        "at its own place."
    ),
    code="""\
module = make("learnable")
rows = nn.Parameter(0.02 * torch.randn(length, d_model))
module.load_state_dict({"vectors": rows})
assert torch.allclose(module.embed(x), x + rows)""",
    papers=("gehring2017convolutional", "devlin2019bert", "zerveas2021transformer"),
    verdicts=("S39", "S41", "R11"),
    chapter="four-doors",
    more=(
        "The tables of OPT, BART and RoBERTa begin with two rows that are no positions: `offset` "
        "= 2 puts position 0 behind them. A learned table can be stretched. `resize` does so along "
        "a line, `resize_grid` as an image for pictures of another size, with the antialiased "
        "bicubic kernel of vision transformers or without it."
    ),
)
