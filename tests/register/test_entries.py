"""Entries change what is read or were seen to change nothing; layers answer as transformers'."""

import dataclasses
import json
from pathlib import Path

import pytest

from posenc import register

RESULTS = Path(__file__).parents[2] / "results"
STORED = json.loads((RESULTS / "register-entries.json").read_text())
CLASSES = STORED["architectures"]


def said(kind, entries):
    """Return what is read of a small configuration, sources apart; None where it is refused."""
    config = {"model_type": kind} | CLASSES[kind]["base"] | entries
    try:
        found = register.read(config)
    except register.ConfigError:
        return None
    layers = [dataclasses.replace(layer, sources={}) for layer in found.layers]
    return layers, found.length, found.outside


def test_each_architecture_was_asked():
    assert CLASSES.keys() == set(register.names())


@pytest.mark.parametrize("kind", CLASSES)
def test_each_entry_changes_what_is_read_or_nothing_at_all(kind):
    parts = CLASSES[kind]
    for name, value in parts["reads"].items():
        beside = STORED["beside"].get(name, {})
        before, after = (said(kind, entries) for entries in (beside, beside | {name: value}))
        assert before is not None, name
        assert before != after, f"{name} = {value} changes nothing of what is read"
    for name, value in parts["nothing"].items():
        beside = STORED["beside"].get(name, {})
        before, after = (said(kind, entries) for entries in (beside, beside | {name: value}))
        assert before == after, f"{name} = {value} is read, and the layer was compared without it"


@pytest.mark.parametrize("kind", CLASSES)
def test_no_layer_is_another_than_is_read(kind):
    parts = CLASSES[kind]
    assert parts["differs"] == {}
    assert all(reason for reason in parts["unbuilt"].values())
    assert len(parts["reads"]) + len(parts["nothing"]) >= 10 > len(parts["unbuilt"])


def test_what_a_class_ignores_though_others_read_it_is_named():
    families = register.reading.families()
    ignored = [(kind, name) for kind, one in families.items() for name in one.get("ignores", ())]
    assert ("llama", "partial_rotary_factor") in ignored
    for kind, name in ignored:
        if name in CLASSES[kind]["nothing"] and register.reading.SOUNDS.search(name):
            entries = {name: CLASSES[kind]["nothing"][name]}
            found = register.read({"model_type": kind} | CLASSES[kind]["base"] | entries)
            assert [one.split(" = ")[0] for one in found.unread] == [name]
            assert not found.proved


# --- layers of ours with transformers' weights

LAYERS = json.loads((RESULTS / "layers.json").read_text())
ROWS = LAYERS["architectures"]
OPTIONAL = {"beams", "cropped", "packed"}  # not every cache of theirs moves, nor every mask packs


def test_there_are_thirty_architectures_and_reasons_for_the_others():
    assert len(ROWS) >= 30
    assert ROWS.keys() | LAYERS["not_compared"].keys() == set(register.names())
    assert all(LAYERS["not_compared"].values())


@pytest.mark.parametrize("kind", ROWS)
def test_outputs_are_equal_as_far_as_float32_goes(kind):
    row = ROWS[kind]
    asked = LAYERS["tolerances"].keys() - (set() if "sections" in str(row["what"]) else {"axes"})
    assert row["differences"].keys() == asked
    for name, size in row["differences"].items():
        if isinstance(size, str):
            assert name in OPTIONAL
        else:
            assert size <= LAYERS["tolerances"][name]


def test_the_comparison_would_see_that_nothing_turns():
    turned = {kind: row["unturned"] for kind, row in ROWS.items() if row["unturned"] is not None}
    assert len(turned) >= 30
    assert min(turned.values()) > 1000 * max(LAYERS["tolerances"].values())
