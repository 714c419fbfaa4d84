"""No encoding: the control of every comparison."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="none",
    title="No encoding",
    year=2017,
    family="added",
    sentence=(
        "It leaves all four doors shut, so that a layer without a mask sees a set of tokens "
        "and not a sequence; people also call it NoPE."
    ),
    formula=r"s_{ij} = \frac{q_i\, k_j^\top}{\sqrt{d_\text{head}}}",
    doors=(),
    parameters="0",
    longer="as it is",
    beyond="Without a mask nothing depends on the position, so nothing changes.",
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it as the control in every comparison, and wherever the answer does not hang on "
        "the order of the tokens. Under a causal mask, two layers or more see some order even "
        "so."
    ),
    code="""\
order = torch.randperm(length)
weights = (q @ k.mT / d_head**0.5).softmax(-1)
reordered = (q[:, :, order] @ k[:, :, order].mT / d_head**0.5).softmax(-1)
assert torch.allclose(reordered, weights[:, :, order][..., order])
assert torch.equal(make("none").embed(x), x)""",
    papers=("vaswani2017attention",),
    verdicts=("B42", "S46"),
    chapter="order-blindness",
)
