"""What the third edition asks, in words, and of which encodings on which sets.

A question that cannot be answered either way is left out by `planned`, not here.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from posenc_book.read.edition3 import sets
from posenc_book.read.edition3.claims import CLAIMS

OWN = "posenc.experiments.edition3.hybrids:"  # as records name them
MODEL = "time_series"  # a token a step
CONVTRAN = "posenc.experiments.edition3.convtran:ConvTran"
MODELS = {"convtran": CONVTRAN, "convtran, none": CONVTRAN}
"""Names that are trained in another model than `MODEL`."""
# Names to encodings and the options that make a definition what its paper says.
ENCODINGS: dict[str, tuple[str, dict]] = {
    name: (name, {})
    for name in (
        "none", "sinusoidal", "learnable", "relative", "tape", "erpe", "tupe", "sine_spe", "tpe",
        "rotary", "conv_spe", "fire", "kerple", "pope", "transformer_xl",
    )
} | {
    "dft": ("dft", {"overflow": "error"}),  # nothing beyond what its paper defines
    "relative, whole": ("relative", {"max_distance": None, "values": True, "per_head": True}),
    "erpe, one for all heads": ("erpe", {"per_head": False}),
    "tpe, sinusoid alone": ("tpe", {"similarity": False}),
    "tpe, kernel alone": (OWN + "Kernel", {}),
    "sinusoidal + t5": (OWN + "SinusoidalT5", {}),
    "tape + erpe": (OWN + "TAPEandERPE", {}),
    "convtran": (OWN + "TAPEandERPE", {}),
    "convtran, none": ("none", {}),
}  # fmt: skip
# The DFT's table is not among the ten: its paper defines it for as many tokens as the model is
# wide at the most, and these sets have more steps. ConvTran's pair takes its place.
TEN = (
    "sinusoidal", "learnable", "relative, whole", "tape", "erpe", "tupe", "sine_spe", "tpe",
    "rotary", "tape + erpe",
)  # fmt: skip
CHOSEN = "chosen"  # whichever of the ten has the best validation
DEEP = ("sinusoidal", "erpe")
# Trained on the sets that wait for a GPU, and shown beside the answers, which do not count them.
ON_GPU, GPU_RESAMPLES = ("erpe", "tpe", "sinusoidal"), 5


@dataclass(frozen=True)
class Question:
    """One family of tests.

    Parameters
    ----------
    words : str
    datasets : tuple of str
    pairs : tuple of (str, str, str)
        What is compared, what with, and which contrast of edition 2 says how far both scatter.
    resamples : int
    layers : tuple of int
        Of the models; of two numbers the differences with the first are taken from those with the
        second.
    """

    words: str
    datasets: tuple[str, ...]
    pairs: tuple[tuple[str, str, str], ...]
    resamples: int = 5
    layers: tuple[int, ...] = (2,)

    @property
    def titles(self) -> tuple[str, ...]:
        """How its answers are called, one for each pair."""
        return tuple(f"{first} - {other}" for first, other, _ in self.pairs)

    @property
    def names(self) -> set[str]:
        """What has to be trained for it."""
        named = {name for first, other, _ in self.pairs for name in (first, other)}
        return (named - {CHOSEN}) | set(TEN) if CHOSEN in named else named


QUESTIONS = {
    "ahead": Question(
        "Does eRPE, does T-PE beat the sinusoid, with a token a step?",
        sets.COUNTED,
        (("erpe", "sinusoidal", "erpe"), ("tpe", "sinusoidal", "tpe")),
    ),
    "choice": Question(
        "Does choosing among ten by validation beat a fixed default: the sinusoid, and eRPE?",
        sets.COUNTED,
        (
            (CHOSEN, "sinusoidal", "chosen, sinusoidal"),
            (CHOSEN, "erpe", "chosen, erpe"),
        ),
        4,
    ),
    "shaw": Question(
        "Is Shaw's encoding better whole: with every offset, with vectors for the values, in each "
        "head?",
        sets.SURVEY,
        (("relative, whole", "relative", "relative"),),
        10,
    ),
    "definitions": Question(
        "What do the definitions change: the DFT beside the sinusoid where its paper defines it, "
        "T-PE beside each of its halves, ConvSPE beside SineSPE?",
        sets.SURVEY,
        (
            ("dft", "sinusoidal", "dft"),
            ("tpe", "tpe, kernel alone", "tpe"),
            ("tpe", "tpe, sinusoid alone", "tpe"),
            ("conv_spe", "sine_spe", "conv_spe"),
        ),
        7,
    ),
    "hybrids": Question(
        "Does a bias help a table: T5's beside the sinusoid, eRPE beside tAPE?",
        sets.SURVEY,
        (("sinusoidal + t5", "sinusoidal", "erpe"), ("tape + erpe", "erpe", "erpe")),
    ),
    "depth": Question(
        "Is an encoding worth more, or less, in four layers than in two?",
        sets.SURVEY,
        tuple((name, "none", f"deep, {name}") for name in DEEP),
        9,
        layers=(2, 4),
    ),
    "convtran": Question(
        "In one block, as ConvTran has it: do its convolutions help in front of its pair of "
        "encodings, and does the pair help behind them?",
        sets.SURVEY,
        (
            ("convtran", "tape + erpe", "erpe"),
            ("convtran", "convtran, none", "over none, erpe"),
        ),
        12,
        layers=(1,),
    ),
    "tokens": Question(
        "Do FIRE, KERPLE, PoPE and Transformer-XL's scores beat the sinusoid where there are "
        "thirty tokens or more?",
        sets.THIRTY,
        tuple((n, "sinusoidal", "t5") for n in ("fire", "kerple", "pope", "transformer_xl")),
        12,
    ),
}


FAMILIES = (*QUESTIONS, *CLAIMS)


def cells(families: Collection[str] = FAMILIES) -> dict[tuple[str, str, int], int]:
    """Return {(data set, encoding, layers): trainings} of questions and claims, each once."""
    found: dict[tuple[str, str, int], int] = {}
    asked: list[tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], int]] = [
        (one.datasets, tuple(sorted(one.names)), one.layers, one.resamples)
        for title, one in QUESTIONS.items()
        if title in families
    ]
    asked += [
        (one.datasets, one.encodings, (2,), one.resamples)
        for name, one in CLAIMS.items()
        if name in families
    ]
    for datasets, names, layers, n in asked:
        for key in product(datasets, names, layers):
            found[key] = max(found.get(key, 0), n)
    return found


def cells_on_gpu() -> dict[tuple[str, str, int], int]:
    """Return the cells of the sets that wait for a GPU, which no answer counts."""
    return {(dataset, name, 2): GPU_RESAMPLES for dataset in sets.LONG for name in ON_GPU}
