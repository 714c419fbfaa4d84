"""Every entry that a class takes changes the description, or was seen to change nothing."""

import dataclasses
import json
from pathlib import Path

import pytest

from posenc import register

STORED = json.loads((Path(__file__).parents[2] / "results/register-entries.json").read_text())
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


def test_what_moves_a_layer_in_a_way_that_is_not_read_is_refused():
    config = {"model_type": "gemma3_text", "use_bidirectional_attention": True}
    with pytest.raises(register.ConfigError, match="use_bidirectional_attention = True changes"):
        register.read(config)
    assert register.read(config | {"use_bidirectional_attention": False}).layers
