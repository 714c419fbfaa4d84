"""The plan of the range probe: which encodings are trained at which distances.

In `range_probe` a class is a relation of two positions, a number of steps apart. Small models learn
it at several distances, with encodings of several sizes, and each is then tested on series that are
longer, and at places that come later, than those of its training. `PROTOCOL` is the stored plan,
experiments/range_probe/plan.json; its hash stands in every record.
"""

from dataclasses import dataclass

from posenc_book.read import plans
from posenc_book.records.hashes import hashed


@dataclass(frozen=True)
class Variant:
    """An encoding of the probe: its name, the size of its rows, and its options.

    Parameters
    ----------
    encoding : str
        One of `posenc.encodings.names("series")`, or "module:Class".
    scale : str
        As in `posenc_book.records.settings.Settings`.
    options : tuple of (str, object)
        Those of the encoding, in pairs.
    """

    encoding: str
    scale: str = "paper"
    options: tuple[tuple[str, object], ...] = ()

    @property
    def label(self) -> str:
        """The name as tables show it."""
        options = (str(value) for _, value in self.options)
        changes = [*([self.scale] if self.scale != "paper" else []), *options]
        return f"{self.encoding} ({', '.join(changes)})" if changes else self.encoding


def _variants(rows: list[list]) -> tuple[Variant, ...]:
    """Return the encodings that rows of the plan name."""
    return tuple(
        Variant(encoding, scale, tuple((name, value) for name, value in options))
        for encoding, scale, options in rows
    )


PROTOCOL = plans.load("range_probe")
HASH = hashed(PROTOCOL)
ONE_HOT = "posenc.audit.one_hot:OneHot"
SIZED = _variants(PROTOCOL["sized"])  # size and shape apart, at every distance
OTHERS = _variants(PROTOCOL["others"])  # at one of them, for the tests beyond the trained length
DISTANCES = tuple(PROTOCOL["distances"])
TESTED_AT = PROTOCOL["others_at"]


def places() -> list[tuple[Variant, int]]:
    """Return the encodings of the protocol with the distances at which they are trained."""
    at_all = [(variant, distance) for distance in DISTANCES for variant in SIZED]
    return at_all + [(variant, TESTED_AT) for variant in OTHERS]
