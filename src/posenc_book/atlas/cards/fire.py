"""FIRE: a learned function of the relative distance."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="fire",
    title="FIRE",
    year=2024,
    family="distances",
    sentence=(
        "It feeds the logarithm of the distance, divided by that of the query's own position, to "
        "a small network, whose output is added to the score."
    ),
    formula=(
        r"s_{ij} \leftarrow s_{ij} + f_\theta\!\left(\frac{\log(1 + c\,|i - j|)}{\log\big(1 + c "
        r"\max(i, T)\big)}\right)"
    ),
    doors=("bias",),
    parameters="(66 + 32 * n_heads) * n_layers",
    longer="as it is",
    beyond=(
        "In causal attention the network is asked about numbers from 0 to 1 however long the "
        "input. It has learned its answers, so the whole of a longer input is shrunk into what "
        "training knew."
    ),
    real_times=True,
    causal=True,
    cached=True,
    use=(
        "Use it in causal models for inputs of very different lengths, where *near the beginning "
        "of what I have seen* matters more than *300 steps ago*. It costs a small network for "
        "every pair of positions."
    ),
    code="""\
module = make("fire")
far, own = (t - t[:, None]).abs(), t.clamp(min=int(module.start * module.stretch))[:, None]
share = (module.rate * far).log1p() / ((module.rate * own).log1p() + 1e-6)
f = module.output(module.hidden(share[..., None]).relu())
assert torch.allclose(module.bias(x, q, k), f.movedim(-1, 0))""",
    verdicts=("N42", "N43"),
    papers=("li2024fire",),
    chapter="beyond-training-length",
    more=(
        "T5, ALiBi and KERPLE are all functions of the distance, and a network can learn each of "
        "them. But a function learned up to some distance says nothing beyond it. The authors "
        "let no argument leave the range of training: a distance counts relative to the "
        r"position of the query. The threshold $T$, which is learned from a start of 512, "
        "keeps short inputs as they are, since there the denominator is one constant; with "
        "series of a hundred steps nothing is interpolated at first."
    ),
)
