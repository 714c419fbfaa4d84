"""The cards, one file for each encoding, which has its name: `rotary.toml` is the card of "rotary".

A file gives the fields of `Card`. But for the code, a line break in a text is a space; a blank line
begins a paragraph, and "- " an item of a list.
"""

import difflib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from posenc_book import _stored
from posenc_book.atlas.card import DOORS, Card


@cache
def cards() -> dict[str, Card]:
    """Return every card by the name of its encoding, in the order of doors and years."""
    stored = [read(path) for path in files(__package__).iterdir() if path.name.endswith(".toml")]
    return {card.name: card for card in sorted(stored, key=_place)}


def read(path: Traversable) -> Card:
    """Return the card that a file holds; an error names the file and the field."""
    name = path.name.removesuffix(".toml")
    return _stored.record(Card, _stored.read(path, verbatim=("code",)) | {"name": name}, path)


def _place(card: Card) -> tuple:
    """Return the sorting key of a card: by doors, by years, and first what learns nothing."""
    doors = tuple(DOORS.index(door) for door in card.doors)
    return doors, card.year, card.parameters != "0", card.name


def card(name: str) -> Card:
    """Return the card of an encoding."""
    known = cards()
    if name not in known:
        near = difflib.get_close_matches(str(name), known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}{hint}")
    return known[name]


def called(name: str) -> str:
    """Return what people call an encoding, as short as a figure needs it; an unknown one's name."""
    return cards()[name].title.split("'")[0] if name in cards() else name
