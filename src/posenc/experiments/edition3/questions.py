"""What the third edition asks, in words, and of which encodings on which sets.

A question that cannot be answered either way is left out by `planned`, not here.
"""

from dataclasses import dataclass

from posenc.experiments.edition3 import sets

OWN = "posenc.experiments.edition3.hybrids:"
# Names to encodings and the options that make a definition what its paper says.
ENCODINGS: dict[str, tuple[str, dict]] = {
    name: (name, {})
    for name in (
        "none", "sinusoidal", "learnable", "relative", "tape", "erpe", "tupe", "sine_spe", "tpe",
        "rotary", "dft", "conv_spe", "fire", "kerple", "pope", "transformer_xl",
    )
} | {
    "relative, whole": ("relative", {"max_distance": None, "values": True}),
    "tpe, sinusoid alone": ("tpe", {"similarity": False}),
    "tpe, kernel alone": (OWN + "Kernel", {}),
    "sinusoidal + t5": (OWN + "SinusoidalT5", {}),
    "tape + erpe": (OWN + "TAPEandERPE", {}),
}  # fmt: skip
# The DFT's table is not among the ten: its paper defines it for as many tokens as the model is
# wide at the most, and these sets have more steps. ConvTran's pair takes its place.
TEN = (
    "sinusoidal", "learnable", "relative, whole", "tape", "erpe", "tupe", "sine_spe", "tpe",
    "rotary", "tape + erpe",
)  # fmt: skip
DEEP = ("sinusoidal", "erpe")


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
    """

    words: str
    datasets: tuple[str, ...]
    pairs: tuple[tuple[str, str, str], ...]
    resamples: int = 5


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
            ("chosen", "sinusoidal", "chosen, sinusoidal"),
            ("chosen", "erpe", "chosen, erpe"),
        ),
        4,
    ),
    "shaw": Question(
        "Is Shaw's encoding better whole, with every offset and with vectors for the values?",
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
        tuple((name, "none", f"deep, {name.partition(',')[0]}") for name in DEEP),
        9,
    ),
    "tokens": Question(
        "Do FIRE, KERPLE, PoPE and Transformer-XL's scores beat the sinusoid where there are "
        "thirty tokens or more?",
        sets.THIRTY,
        tuple((n, "sinusoidal", "t5") for n in ("fire", "kerple", "pope", "transformer_xl")),
        12,
    ),
}


def cells() -> dict[tuple[str, str, int], int]:
    """Return {(data set, encoding, layers): trainings} of all questions, each once."""
    found: dict[tuple[str, str, int], int] = {}
    for title, one in QUESTIONS.items():
        names = {name for first, second, _ in one.pairs for name in (first, second)}
        if "chosen" in names:
            names = (names - {"chosen"}) | set(TEN)
        for layers in (2, 4) if title == "depth" else (2,):
            for dataset in one.datasets:
                for name in sorted(names):
                    key = dataset, name, layers
                    found[key] = max(found.get(key, 0), one.resamples)
    return found
