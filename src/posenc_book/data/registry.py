"""Every data set by name: where it comes from, who reads it, what the survey printed about it.

All of this is data, in `registry.toml`.
"""

from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType

from posenc import _checks
from posenc_book import _stored
from posenc_book.data.download import Source, Url, Zenodo
from posenc_book.data.sets import archive, emg, msl, room, smd, unimib

TSC_TERMS = "no licence is stated with the files; the archive asks to cite it: https://timeseriesclassification.com"

_LAYOUTS = {
    "archive": archive, "emg": emg, "msl": msl, "room": room, "smd": smd, "unimib": unimib,
}  # fmt: skip

# role of a set: what it is here for, in the order in which sets are listed
ROLES = {
    "survey": "the sets of the survey (Irani and Metsis, arXiv 2502.12370v1, Table 3)",
    "anomaly": "the sets of the anomaly paper, cut into windows",
    "stand-in": "sets of the archives in the place of survey sets that could not be had",
    "archive": "further sets of the UCR and UEA archives",
}


@dataclass(frozen=True)
class Printed:
    """One row of the survey's table of data sets, as printed.

    Parameters
    ----------
    train, test : int
        Series of either part.
    length : int
        Steps of a series.
    n_classes, n_channels : int

    Source: Table 3 of Irani and Metsis (2025), arXiv 2502.12370v1.

    Examples
    --------
    >>> from posenc_book import data
    >>> data.recorded_facts("LSST").printed
    Printed(train=2459, test=2466, length=36, n_classes=14, n_channels=6)
    """

    train: int
    test: int
    length: int
    n_classes: int
    n_channels: int


@dataclass(frozen=True)
class Entry:
    """A data set of real recordings."""

    name: str
    role: str  # one of ROLES
    sources: tuple[Source, ...]
    layout: ModuleType = archive
    terms: str = TSC_TERMS
    page: str = "https://timeseriesclassification.com"
    printed: Printed | None = None
    notes: tuple[str, ...] = ()
    official_only: str | None = None  # why its series must not be dealt out anew, or None


def from_archive(name: str, record: int | None, role: str = "archive", **more) -> Entry:
    """Return the entry of a UCR or UEA set: its Zenodo record, then the archive's own page."""
    zenodo = Zenodo(record, (f"{name}_TRAIN.ts", f"{name}_TEST.ts")) if record else None
    page = Url(f"https://timeseriesclassification.com/aeon-toolkit/{name}.zip")
    sources = ((zenodo,), (page,)) if zenodo else ((page,),)
    return Entry(name, role, sources, **more)


@dataclass(frozen=True)
class _Stored:
    """What `registry.toml` says of a set, beside what the survey printed about it.

    Of a set of the archives it gives the number of its record on Zenodo. Any other one has the
    files of one host, each with `#sha256=...` behind it where its sum is known, and a layout: the
    module of `sets` that reads it, whose protocol is the first of the notes.
    """

    role: str = "archive"
    record: int = 0
    layout: str = "archive"
    files: tuple[str, ...] = ()
    page: str = ""
    terms: str = ""
    official_only: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.choice("role", self.role, ROLES)
        _checks.choice("layout", self.layout, _LAYOUTS)

    def entry(self, name: str, printed: Printed | None) -> Entry:
        """Return the entry of the set."""
        only = self.official_only or None
        if self.layout == "archive":
            more = {"notes": self.notes, "printed": printed, "official_only": only}
            return from_archive(name, self.record or None, self.role, **more)
        layout = _LAYOUTS[self.layout]
        notes = (layout.PROTOCOL, *self.notes)
        sources = (tuple(map(_url, self.files)),)
        return Entry(name, self.role, sources, layout, self.terms, self.page, printed, notes, only)


def _url(file: str) -> Url:
    address, _, sha256 = file.partition("#sha256=")
    return Url(address, sha256 or None)


def _entries(path: Traversable) -> dict[str, Entry]:
    """Return the entries that a file holds, by name; an error names the file, set and field."""
    found = {}
    for name, values in _stored.read(path).items():
        place = f"{path}, {name}"
        printed = values.pop("printed", None)
        row = printed and _stored.record(Printed, printed, f"{place}, printed")
        found[name] = _stored.record(_Stored, values, place).entry(name, row)
    return found


ENTRIES = _entries(files(__package__).joinpath("registry.toml"))
