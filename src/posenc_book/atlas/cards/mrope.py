"""M-RoPE: one row of frequencies, whose pairs each follow time, height or width."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="mrope",
    title="M-RoPE",
    year=2024,
    family="turned",
    sentence=(
        "It serves texts with pictures and films in them. A position is three numbers, time, "
        "height and width, and every pair of dimensions turns with one of them. A token of "
        "text has the same number three times, so that among texts M-RoPE is plain RoPE."
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
        "in training turn the slow pairs of their axis by angles that the model has not met."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in a language model that is to read pictures: its text stays as RoPE had it, so "
        "that a trained model can learn to see. For pictures alone take axial RoPE, which gives "
        "every axis all frequencies. You have to hand over the positions, three numbers a token; "
        "text that follows a picture goes on from the largest number in it."
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
        "A place in a text is one number, a place in a picture two, a place in a film three. "
        "M-RoPE keeps RoPE's single row of frequencies and deals its pairs out to the three axes. "
        "Models do so in three ways:\n\n"
        "- Of the 64 pairs of a head, Qwen2-VL gives the 16 fastest to time, the next 24 to height "
        "and the slowest 24 to width. So width has no fast pair and time no slow one.\n"
        "- Qwen3-VL deals the pairs out in turn, which gives every axis fast and slow ones "
        '(`arrangement="interleaved"`).\n'
        "- ERNIE 4.5 VL lets height and width take turns and leaves the slowest pairs to time "
        '(`"first_slowest"`).\n\n'
        "The weights of a model fit one arrangement only. With another one the model goes wrong, "
        "and no error says so. `scaling` and `share` are those of RoPE."
    ),
)
