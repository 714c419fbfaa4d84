"""What encodings are called: here, elsewhere, and by people who bring their own."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest

from posenc import encodings, models
from posenc.attention import DOORS, Position, words
from posenc.encodings import stretching
from posenc_book.bench import build, grid


def test_words_of_elsewhere_lead_to_what_is_here():
    """Each stands for one thing, which is there, and none of them is a name here."""
    every = {option for name in encodings.names("all") for option in options_of(name)}
    known = {
        "ENCODINGS": encodings.names("all"),
        "OPTIONS": every,
        "SCALINGS": stretching.SCALINGS,
        "PAIRINGS": ("interleaved", "half"),
    }
    for table, names in known.items():
        for word, here in getattr(words, table).items():
            assert set(here.split("' or '")) <= set(names), word
            assert word not in names


def options_of(name):
    return inspect.signature(encodings.get(name)).parameters


LIBRARY = Path(encodings.__file__).parents[1]


def test_the_librarys_page_lists_every_encoding_by_its_doors():
    page = (LIBRARY / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", page, re.M))
    listed = {door: set(re.findall(r"`(\w+)`", row)) for door, row in rows.items()}
    known = encodings.names("all")
    assert listed == {d: {n for n in known if d in encodings.get(n).doors()} for d in DOORS}


def test_the_picture_of_the_doors_names_them_in_their_order_to_everybody():
    text = (LIBRARY / "four-doors.svg").read_text(encoding="utf-8")
    picture = ElementTree.fromstring(text)
    shown = [one.text for one in picture.iter() if one.get("class") == "name"]
    said = picture.find("{http://www.w3.org/2000/svg}desc").text
    assert tuple(shown) == tuple(re.findall(r"(\w+): ", said.partition("door.")[2])) == DOORS
    assert "prefers-color-scheme: dark" in text


NEARBY = """
from posenc.encodings import ALiBi


class Nearby(ALiBi):
    def bias(self, x, q, k, places=None):
        return 2 * super().bias(x, q, k, places)
"""


@pytest.fixture
def nearby(tmp_path, monkeypatch):
    """Return a class of one's own that stands in a file."""
    (tmp_path / "nearby_h.py").write_text(NEARBY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("nearby_h").Nearby
    del sys.modules["nearby_h"]


def test_a_registered_class_is_known_to_make_models_and_the_benchmark(nearby):
    assert encodings.register("nearby", nearby) is nearby
    assert encodings.names("own") == ["nearby"]
    assert "nearby" not in encodings.names("all")
    assert type(encodings.make("nearby", 8, 2, 5)) is nearby
    model = models.TimeSeriesTransformer(2, 3, 5, "nearby", 8, 2, 1, 8)
    assert type(model.position) is nearby
    assert build.find_class("nearby") is nearby
    cells = [
        cell
        for group in grid.make(["range_probe"], ["nearby"], ["patch"], [0]).groups()
        for cell in group
    ]
    assert [cell.encoding for cell in cells] == ["nearby_h:Nearby"]
    assert cells[0].encoding_source == build.encoding_fingerprint("nearby")
    with pytest.raises(ValueError, match=r"position must be one of none, .*nearby, got 'nearbi'"):
        encodings.get("nearbi")
    encodings.register("nearby", nearby)  # a cell that runs again


def test_a_registered_class_without_a_file_is_not_stored(nearby):
    here = type("Here", (nearby,), {})
    encodings.register("here", here)
    assert build.find_class("here") is here
    with pytest.raises(ValueError, match="encoding 'here' must have its class at the top of a fi"):
        grid.make(["range_probe"], ["here"], ["patch"], [0])


class Doorless(Position):
    pass


class Turned(encodings.ALiBi):
    def __init__(self, n_heads, d_model, max_length):
        super().__init__(d_model, n_heads, max_length)


class Wanting(encodings.ALiBi):
    def __init__(self, d_model, n_heads, max_length, *, slope):
        super().__init__(d_model, n_heads, max_length)
        self.slope = slope


@pytest.mark.parametrize(
    ("name", "cls", "message"),
    [
        ("rotary", None, "name 'rotary' belongs to 'rotary'; take another one"),
        ("rope", None, "name 'rope' belongs to 'rotary'"),
        ("axial_rotary", None, "name 'axial_rotary' belongs to"),
        ("a:b", None, "name must be a word of letters, digits and underscores, got 'a:b'"),
        (3, None, "name must be a word"),
        *((no_word, None, "name must be a word") for no_word in ("class", "two words", "")),
        ("wanting", Wanting, "Wanting has none for slope"),
        ("mine", 3, "cls must be a class derived from posenc.attention.Position, got 3"),
        ("mine", dict, "cls must be a class derived from posenc.attention.Position, got <class"),
        ("mine", encodings.NoPosition(8, 2, 5), "cls must be a class derived from"),
        ("mine", Doorless, r"must override a door \(embed, .*, deliver\), got Doorless"),
        ("mine", Turned, r"cls must be made from \(d_model, n_heads, max_length, ...\), got Tur"),
        ("taken", encodings.ALiBi, "name 'taken' belongs to nearby_h.Nearby; take another one"),
    ],
)
def test_a_class_that_cannot_be_registered_is_told_why(nearby, name, cls, message):
    encodings.register("taken", nearby)
    with pytest.raises(ValueError, match=message):
        encodings.register(name, nearby if cls is None else cls)
    assert encodings.names("own") == ["taken"]


def test_checkers_of_types_know_the_names_that_the_library_knows():
    assert get_args(encodings.Name) == tuple(encodings.names("all"))


def test_an_encoding_is_made_of_its_class_as_of_its_name():
    assert type(encodings.make(encodings.Rotary, 8, 2, 5, base=100.0)).__name__ == "Rotary"
    with pytest.raises(ValueError, match=r"options of 'Rotary' are: .*; got bass"):
        encodings.make(encodings.Rotary, 8, 2, 5, bass=100.0)
