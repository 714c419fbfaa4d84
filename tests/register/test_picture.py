"""The drawing of a model's layers holds each of them, and what is said of it is true."""

import re
from xml.etree import ElementTree

import pytest

from posenc import register
from posenc.register import picture


def readable():
    """Names whose defaults are whole: of some families only released configurations are."""
    for name in (*register.names(), *register.released()):
        try:
            register.read(name)
        except register.ConfigError:
            continue
        yield name


def drawn(name):
    return ElementTree.fromstring(picture.svg(register.read(name), name))


def rows(tree, kind):
    found = [one.get("d") for one in tree.iter() if one.get("class") == kind]
    return sum(len(re.findall("z" if kind in ("bar", "open") else "M", d)) for d in found)


@pytest.mark.parametrize("name", list(readable()))
def test_each_layer_is_drawn_once(name):
    layers, tree = register.read(name).layers, drawn(name)
    attend = sum(one.kind != "none" for one in layers)
    assert rows(tree, "open") == attend
    assert rows(tree, "order") == sum(one.mixer is not None for one in layers)
    counts = re.findall(r"(\d+) ×", tree.get("aria-label"))
    assert sum(map(int, counts)) == len(layers)


def test_a_bar_is_filled_as_far_as_a_head_turns():
    tree = drawn("glm4")  # half of its heads turn
    wide = {c: float(re.search(r"h([\d.]+)", one.get("d"))[1]) for one in tree.iter()
            if (c := one.get("class")) in ("open", "bar")}  # fmt: skip
    assert wide["bar"] == pytest.approx(wide["open"] / 2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama", ()),
        ("gemma3_text", ("windows", "two bases")),
        ("smollm3", ("layers without positions",)),
        ("qwen3_next", ("a part of a head turns", "hybrids")),
        ("gpt_oss", ("windows", "slowed hands")),
    ],
)
def test_models_are_found_by_what_they_do(name, expected):
    assert picture.signs(register.read(name)) == expected


def test_a_title_may_hold_anything():
    tree = ElementTree.fromstring(picture.svg(register.read("llama"), '<"a" & b>'))
    assert tree.get("aria-label").startswith('<"a" & b>: 32 layers')
