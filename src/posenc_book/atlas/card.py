"""The form of a card: what the atlas says about every encoding, in the same order."""

from dataclasses import dataclass

NEVER_EMPTY = ("name", "title", "sentence", "formula", "parameters", "beyond", "use", "code")
DOORS = ("embed", "rotate", "bias", "mix", "carry", "deliver")
LONGER = ("as it is", "rebuilt", "refuses")
FAMILIES = {
    "added": (
        "Added to the tokens",
        "Each token gets a row of numbers for its place before the first layer: waves, a learned "
        "vector, or nothing at all.",
    ),
    "signal": (
        "Read from the signal",
        "The series itself decides: from its values follows what is added to each token, or which "
        "tokens listen to one another.",
    ),
    "turned": (
        "Queries and keys that turn",
        "Queries and keys are turned by their place, as the hands of a clock, before they are "
        "compared. RoPE and its kin.",
    ),
    "distances": (
        "A number for each distance",
        "A number is added to the score, by how far apart query and key are. ALiBi and its kin.",
    ),
    "offsets": (
        "Vectors and codes for places",
        "Each place, or each offset of two places, has a vector, a number or a random code of its "
        "own, kept apart from the words. Shaw's relative positions and their kin.",
    ),
}
"""Each family's title, and what its encodings have in common."""


@dataclass(frozen=True)
class Card:
    """What the atlas says about one encoding.

    Doors, parameters, longer inputs, real times and caches can be computed, and a test computes
    them; everything else is judgement, for which `verdicts` and `papers` give the grounds.

    Attributes
    ----------
    name : str
        The name in the code, such as "rotary".
    title : str
        The name that people use, such as "RoPE".
    year : int
        When it was published.
    family : str
        Whose kin it is: one of `FAMILIES`. Each family has a page of the atlas.
    sentence : str
        What it does, in one sentence.
    formula : str
        What it adds, in LaTeX without dollar signs.
    doors : tuple of str
        The doors that it uses, in the order of use.
    parameters : str
        The numbers that a model learns for it, as an expression in d_model, n_heads, d_head,
        n_layers and L, the number of tokens; "0" where there are none.
    longer : {"as it is", "rebuilt", "refuses"}
        What the library does with an input longer than the encoding was made for: serve it, serve
        it once the encoding is made anew for that length with the same weights, or refuse.
    beyond : str
        What happens beyond the training length, in words.
    real_times : bool
        Whether positions may be any real numbers.
    causal : bool
        Whether it works where a token sees earlier ones only.
    cached : bool
        Whether such a layer may read one token at a time.
    use : str
        When to use it, and when not.
    code : str
        Five lines or so that compute what it adds, and compare with the library; they may use
        what `SETTING` defines.
    papers : tuple of str
        Keys of the bibliography.
    verdicts : tuple of str
        Claims of the ledger that speak of it.
    chapter : str
        The page that explains it, such as "rotations"; empty where the card itself does.
    more : str
        A paragraph of explanation where no chapter gives one, or of options.
    """

    name: str
    title: str
    year: int
    family: str
    sentence: str
    formula: str
    doors: tuple[str, ...]
    parameters: str
    longer: str
    beyond: str
    real_times: bool
    causal: bool
    cached: bool
    use: str
    code: str
    papers: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    chapter: str = ""
    more: str = ""

    def __post_init__(self) -> None:
        for field in NEVER_EMPTY:
            if not getattr(self, field).strip():
                raise ValueError(f"{field} must say something on the card {self.name!r}")
        if self.longer not in LONGER:
            raise ValueError(f"longer must be one of {', '.join(LONGER)}, got {self.longer!r}")
        if unknown := [door for door in self.doors if door not in DOORS]:
            raise ValueError(f"doors must be among {', '.join(DOORS)}, got {unknown[0]!r}")
        if self.family not in FAMILIES:
            raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {self.family!r}")

    @property
    def anchor(self) -> str:
        """The card's place on the page of its family, such as "card-rotary"."""
        return "card-" + self.name.replace("_", "-")

    def count(self, **sizes: int) -> int:
        """Return the number of parameters for sizes d_model, n_heads, n_layers and L."""
        wanted = {"d_model", "n_heads", "n_layers", "L"}
        if sizes.keys() != wanted:
            raise ValueError(f"sizes must be {', '.join(sorted(wanted))}, got {sorted(sizes)}")
        known = {**sizes, "d_head": sizes["d_model"] // sizes["n_heads"]}
        return int(eval(self.parameters, {"__builtins__": {}}, known))


SETTING = """\
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
length, d_model, n_heads = 48, 64, 4
d_head = d_model // n_heads
t = torch.arange(length)  # positions
x = torch.randn(1, length, d_model)  # tokens
q, k = torch.randn(2, 1, n_heads, length, d_head)  # queries and keys


def make(name, **options):
    return encodings.make(name, d_model, n_heads, length, **options).eval()"""
