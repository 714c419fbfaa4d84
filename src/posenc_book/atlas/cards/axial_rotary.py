"""Axial RoPE: positions of several numbers, each turning its own pairs."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="axial_rotary",
    title="Axial RoPE",
    year=2024,
    family="turned",
    sentence=(
        "It serves tokens whose position is several numbers, such as row and column: each number "
        "turns its own share of the pairs as RoPE does, so that position enters a score only "
        "through the offset along each axis."
    ),
    formula=(
        r"q \leftarrow \big[R(p_1)\, q^{(1)}, \dots, R(p_n)\, q^{(n)}\big], \qquad "
        r"\omega_i = 100^{-2i/d}, \quad d = d_\text{head} / n"
    ),
    doors=("rotate",),
    parameters="0",
    longer="as it is",
    beyond=(
        "A later place changes nothing, because scores know offsets only. Offsets longer than any "
        "in training, on either axis, turn the slow pairs by angles that the model has not met."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it for images, sensors on a grid, or anything in a plane; pass the places, whole or "
        'real. With `axes="mixed"` every pair has a learned direction and can look along a '
        "diagonal; for two axes that costs d_model numbers a layer. This library's models of "
        "series place a token by one number and refuse it."
    ),
    code="""\
grid = torch.cartesian_prod(torch.arange(6), torch.arange(8))  # row and column of 48 tokens
omega = 100 ** (-torch.arange(0, d_head // 2, 2) / (d_head // 2))
turn = torch.exp(1j * (grid[..., None] * omega).flatten(1))  # half of the pairs for each axis
turned = torch.view_as_real(torch.view_as_complex(q.unflatten(-1, (-1, 2))) * turn).flatten(-2)
assert torch.allclose(make("axial_rotary").rotate(q, k, Places.at(grid, x, 2))[0], turned)""",
    papers=("heo2024ropevit", "simeoni2025dinov3"),
    chapter="time-and-space",
    more=(
        "Released models for pictures and films differ, and options follow them. `parts` gives "
        "each axis its own number of dimensions, and `base` gives it its own base; in films, "
        "time needs other ones than width. `pairing` says which dimensions form a pair.\n\n"
        "DINOv3 does not number its patches. Its options are three: `patch_centres` puts them "
        "between -1 and 1 on both axes, whatever the size of the picture; `fastest` = 2π lets the "
        "fastest pair turn once for each unit; and `shaken` shifts and stretches all places at "
        "random in training, so that no exact size is learned."
    ),
)
