"""PoPE: magnitudes from content, phases from position."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="pope",
    title="PoPE",
    year=2025,
    family="turned",
    sentence=(
        "It gives each dimension of queries and keys a magnitude from the content, never "
        "negative, and a phase from the position alone; the score is the real part of the "
        "complex product."
    ),
    formula=(
        r"s_{ij} = \frac{1}{\sqrt{d_\text{head}}} \sum_c \operatorname{softplus}(q_{ic})\, "
        r"\operatorname{softplus}(k_{jc})\, \cos\big((i - j)\, \omega_c - \delta_c\big)"
    ),
    doors=("rotate",),
    parameters="d_model * n_layers",
    longer="as it is",
    beyond=(
        "A later place changes nothing, because scores know offsets only. Longer offsets give "
        "the slow dimensions angles that training has not seen, as in RoPE."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it where content and place should be matched apart from each other, with all that "
        "makes RoPE handy: offsets only, any real times, keys that stay in a cache. Queries and "
        "keys become twice as wide, and a layer that looks both ways cannot tell before from "
        "after until its phases have learned to."
    ),
    code="""\
module, soft = make("pope"), nn.functional.softplus
angles = t[:, None] * 10_000 ** (-torch.arange(d_head) / d_head)
polar_q = torch.polar(soft(q), (angles - module.phases).expand_as(q))
score = (polar_q @ torch.polar(soft(k), angles.expand_as(k)).mH).real
turned_q, turned_k = module.rotate(q, k)
assert torch.allclose(turned_q @ turned_k.mT, score)""",
    papers=("gopalakrishnan2025pope",),
    more=(
        "A pair of dimensions that RoPE turns is like the hand of a clock. Before it is turned, it "
        "has a length and an angle, and both come from the content. So the content shifts the "
        "offset at which query and key match best: *what* leaks into *where*. PoPE takes the angle "
        "away from the content. A dimension's value is a length, which says how strong its feature "
        r"is; position gives the angle; and a learned phase $\delta$ for each dimension and head "
        "says at which offset it matches best. A head of $d$ dimensions has $d$ frequencies, twice "
        "as many as in RoPE."
    ),
)
