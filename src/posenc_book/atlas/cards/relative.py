"""Shaw's relative positions: a learned vector per clipped offset."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="relative",
    title="Shaw's relative positions",
    year=2018,
    family="offsets",
    sentence=(
        "It learns one vector for every offset up to a reach of 16, and lets a query look at "
        "it beside the key, so that a query can ask for content and distance together."
    ),
    formula=(
        r"s_{ij} = \frac{q_i \big(k_j + a_{\operatorname{clip}(j - "
        r"i)}\big)^\top}{\sqrt{d_\text{head}}}"
    ),
    doors=("bias", "mix"),
    parameters="33 * d_head * n_layers",
    longer="as it is",
    beyond=(
        "All offsets beyond the reach share the outermost vector, so a longer input brings "
        "no vector that training did not have, only more keys that share the last one."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it where exact short offsets decide and lengths vary. With vectors for the "
        "values as well (`values=True`, the door `mix`) the weights have to be formed, which "
        "rules out the fast kernel."
    ),
    code="""\
module = make("relative")
a = module.keys[0]  # 33 learned vectors, for the offsets -16 to 16
offset = (t - t[:, None]).clamp(-16, 16) + 16
gained = torch.einsum("bhid,ijd->bhij", q, a[offset]) / d_head**0.5
assert torch.allclose(module.bias(x, q, k), gained)""",
    papers=("shaw2018relative",),
    verdicts=("S6", "S55", "S60", "F37"),
    chapter="relative-and-hybrid",
)
