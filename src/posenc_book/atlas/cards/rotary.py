"""RoPE: queries and keys turn with their position."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="rotary",
    title="RoPE",
    year=2021,
    family="turned",
    sentence=(
        "It turns each pair of query and key dimensions by an angle that grows with the "
        "position, so that position enters a score only through the offset of query and key."
    ),
    formula=(
        r"q_i \leftarrow R(i)\, q_i, \quad k_j \leftarrow R(j)\, k_j, \qquad \big(R(i)\, "
        r"q\big)\big(R(j)\, k\big)^\top = q\, R(j - i)\, k^\top"
    ),
    doors=("rotate",),
    parameters="0",
    longer="as it is",
    beyond=(
        "A later place changes nothing, because scores know offsets only. Longer offsets do: "
        "they turn the slow pairs, which did not complete a turn in training, by angles that the "
        "model has not met."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it as the first choice where offsets matter: nothing to learn, any real times, no "
        "length that it refuses (which is not to say that it works there), and keys in a cache "
        "stay as they are. It cannot say where a token stands, only how far apart two are, "
        "and in which order."
    ),
    code="""\
omega = 10_000 ** (-torch.arange(0, d_head, 2) / d_head)
turn = torch.polar(torch.ones(length, d_head // 2), t[:, None] * omega)
pairs = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
turned = torch.view_as_real(pairs * turn).flatten(-2)
assert torch.allclose(make("rotary").rotate(q, k)[0], turned)""",
    papers=("su2021roformer",),
    verdicts=("B23", "R9", "N1", "N8", "N63"),
    chapter="rotary",
    more=(
        "Options change which pairs turn, and how fast:\n\n"
        "- `share` is the part of a head's dimensions that turns; the others are left without "
        "position (*partial rotary*).\n"
        "- `first` is the dimension at which this part begins. In DeepSeek's latent attention it "
        "comes last.\n"
        "- `keep` is the part of the pairs that goes on turning; the slowest are stopped "
        "(*p-RoPE*).\n"
        "- `direction` = -1 turns all pairs backwards, as NanoChat does.\n"
        "- `scaling` slows frequencies down for inputs longer than in training. It is `linear`, "
        "`ntk`, `dynamic_ntk`, `yarn`, `llama3` or `longrope`, with the `original_length` of "
        "training and a `factor`. [Longer than in training](beyond-training-length) says which "
        "pairs each of them touches."
    ),
)
