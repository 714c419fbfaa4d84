"""Encodings that papers propose and the library does not have, as `elsewhere.toml` names them."""

from dataclasses import dataclass
from importlib.resources import files

from posenc_book import _stored


@dataclass(frozen=True)
class Elsewhere:
    """What the atlas says about an encoding without a card.

    Attributes
    ----------
    title : str
        The name that people use.
    year : int
        When it was first public.
    idea : str
        What it does, in one sentence.
    paper : str
        Key of the bibliography.
    """

    title: str
    year: int
    idea: str
    paper: str


def elsewhere() -> list[Elsewhere]:
    """Return all of them, the oldest first."""
    path = files(__package__).joinpath("elsewhere.toml")
    return [
        _stored.record(Elsewhere, values | {"title": title}, f"{path}, {title}")
        for title, values in _stored.read(path).items()
    ]
