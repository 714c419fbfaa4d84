"""Swin's table: a learned number for each offset in a window of patches."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="swin",
    title="Swin's table",
    year=2021,
    family="distances",
    sentence=(
        "It adds one learned number per head and offset to the score of two patches of a window, "
        "where the offset has two parts, rows and columns."
    ),
    formula=(
        r"s_{ij} \leftarrow s_{ij} + \beta_{p_i - p_j}, \qquad p_i - p_j \in "
        r"\{-6, \dots, 6\} \times \{-6, \dots, 6\}"
    ),
    doors=("bias",),
    parameters="13 * 13 * n_heads * n_layers",
    longer="as it is",
    beyond=(
        "Attention stays in windows, so a larger picture has more windows and no larger offsets. "
        "Offsets beyond the window share the outermost numbers of the table."
    ),
    real_times=False,
    causal=True,
    cached=True,
    use=(
        "Use it for pictures whose patches look around in small windows. It learns any pattern of "
        "a window, a separate number for each step, and needs as many numbers as there are steps."
    ),
    code="""\
table = (module := make("swin")).table.detach()  # (heads, 13, 13)
grid = torch.cartesian_prod(torch.arange(6), torch.arange(8)) % 7  # row and column
row, column = (grid[:, None] - grid + 6).unbind(-1)
ours = module.bias(x, q, k, Places.at(grid, x, 2))
assert torch.allclose(ours, table[:, row, column])""",
    papers=("liu2021swin", "liu2022swinv2"),
    more=(
        "Shaw's vectors and T5's buckets belong to distances along a line. A patch has a row and a "
        "column, and what stands to the left is not what stands above. Swin cuts a picture into "
        "windows of 7 by 7 patches, lets each patch look at its window alone, and learns one "
        "number for each of the 13 by 13 offsets. Windows are rows of the batch here. Its second "
        'version (`formula="continuous"`) asks a small network instead, with offsets in shares of '
        "the window on a logarithmic scale, and bounds its answer: so what was learned in one "
        "window serves a larger one, and places may be real."
    ),
)
