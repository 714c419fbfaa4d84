"""M-RoPE: one row of frequencies, whose pairs each follow time, height or width."""

from posenc.teaching.atlas.card import Card

CARD = Card(
    name="mrope",
    title="M-RoPE",
    year=2024,
    family="turned",
    sentence=(
        "It serves texts with pictures and films in them: every pair of dimensions turns with one "
        "axis of a token's position, time, height or width, and where a token of text has the same "
        "number on all three, it is plain RoPE."
    ),
    formula=(
        r"q \leftarrow R\big(p_{a(1)}\, \omega_1, \dots, p_{a(d/2)}\, \omega_{d/2}\big)\, q, "
        r"\qquad \omega_i = b^{-2i/d}, \quad a(i) \text{ the axis of pair } i"
    ),
    doors=("rotate",),
    parameters="0",
    longer="as it is",
    beyond=(
        "A later place changes nothing, because scores know offsets only. Offsets longer than any "
        "in training turn the pairs of their axis by angles that the model has not met."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in a language model that is to read pictures: its text stays as RoPE had it, so "
        "that a trained model can learn to see. For pictures alone axial RoPE gives every axis all "
        "frequencies. Positions are given, three numbers a token, and somebody has to count them: "
        "text behind a picture goes on from the largest number in it."
    ),
    code="""\
p = torch.randint(9, (length, 3))  # time, height and width of each token
axis = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2])  # which of them each of the 8 pairs of a head follows
turn = torch.exp(1j * p[:, axis] * 10_000 ** (-torch.arange(0, d_head, 2) / d_head))
turned = torch.complex(*q.chunk(2, -1)) * turn  # pairs (i, i + 8), as Qwen's models have them
ours = make("mrope").rotate(q, k, Places.at(p, x, 3))[0]
assert torch.allclose(ours, torch.cat((turned.real, turned.imag), -1))""",
    papers=("wang2024qwen2vl", "bai2025qwen3vl"),
    chapter="todays-models",
    more=(
        "RoPE has one number for a place, and a patch of a picture has two, of a film three. "
        "M-RoPE keeps RoPE's single row of frequencies and deals its pairs out: of the 64 pairs of "
        "a head, Qwen2-VL gives the 16 fastest to time, the next 24 to height and the slowest 24 "
        "to width. So width has no fast pair and time no slow one. Qwen3-VL deals them out in turn "
        '(`arrangement="interleaved"`), which gives every axis some of each; ERNIE 4.5 VL lets '
        'height and width take turns and leaves the slowest to time (`"first_slowest"`). The '
        "arrangement belongs to the weights, as the layout of pairs does: another one fails "
        "without a word. `scaling` and `share` are those of RoPE."
    ),
)
