"""The cards, one file for each encoding; each file holds one `CARD`."""

import difflib
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from posenc_book.atlas.card import Card

DOORS = ("embed", "rotate", "bias", "mix")


@cache
def cards() -> dict[str, Card]:
    """Return every card by the name of its encoding, in the order of doors and years."""
    found = [import_module(f"{__name__}.{module.name}").CARD for module in iter_modules(__path__)]
    return {card.name: card for card in sorted(found, key=_place)}


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
