"""What no layer's record can describe is refused by name, with what is missing."""

import numpy as np
import pytest

from posenc import register

REFUSED = register.reading._held("refused.json")


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("dory", "a description has one entry for each layer, run once"),
        ("inkling2_loop_text", "a description has one entry for each layer, run once"),
    ],
)
def test_an_architecture_without_a_record_says_what_is_missing(name, missing):
    for config in (name, {"model_type": name, "hidden_size": 64}):
        with pytest.raises(
            register.ConfigError, match=f"model_type '{name}' is not read here: "
        ) as (refused):
            register.read(config)
        assert missing in str(refused.value)


def test_nothing_is_refused_that_is_read():
    assert len(REFUSED) == 2
    assert not REFUSED.keys() & set(register.names())


def test_a_refused_tower_is_named_beside_what_is_read():
    found = register.read(
        {"model_type": "llama", "vision_config": {"model_type": "dory", "hidden_size": 64}}
    )
    assert found.others == ("vision_config (dory)",)


def test_a_value_that_switches_to_what_is_not_read_is_refused_with_the_reason():
    config = {"model_type": "wav2vec2-conformer", "position_embeddings_type": "rotary"}
    with pytest.raises(register.ConfigError, match="before they become queries and keys") as error:
        register.read(config)
    assert "known are null, relative" in str(error.value)
    with pytest.raises(register.ConfigError, match="'relative_key' is not read here: known are"):
        register.read({"model_type": "esm", "position_embedding_type": "relative_key"})


def test_a_value_of_an_entry_chooses_what_a_layer_does():
    table, turning = (
        register.read({"model_type": "esm", "position_embedding_type": kind, "pad_token_id": 1})
        for kind in ("absolute", "rotary")
    )
    assert (table.layers[0].door, turning.layers[0].door) == ("embed", "rotate")
    assert table.layers[0].table["offset"] == 2
    assert (turning.layers[0].table, turning.layers[0].base) == (None, 10_000)
    with pytest.raises(
        register.ConfigError, match="rope_type must be one of default, got 'linear'"
    ):
        register.read(
            {"model_type": "esm", "position_embedding_type": "rotary",
             "rope_scaling": {"rope_type": "linear", "factor": 4.0}}
        )  # fmt: skip


def test_convolutions_outside_attention_are_said():
    found = register.read("wav2vec2-conformer")
    assert [(one["over"], one["where"]) for one in found.outside] == [
        (128, "before the layers"), (31, "in each layer"),
    ]  # fmt: skip
    assert "A convolution over 128 tokens before the layers tells their order, too." in (
        found.explain()
    )
    alone = register.read({"model_type": "wav2vec2-conformer", "position_embeddings_type": None})
    assert alone.layers[0].door == "none"
    assert "tells their order." in alone.explain()
    assert "Order comes from nowhere" not in alone.explain()


@pytest.mark.parametrize(
    ("entries", "window"),
    [
        ({}, 64),
        ({"local_attention": 7}, 3),
        ({"sliding_window": 9}, 9),
        ({"sliding_window": 9, "local_attention": 100}, 9),
    ],
)
def test_a_window_of_both_sides_is_halved(entries, window):
    for name, itself in (("modernbert-decoder", 0), ("modernbert", 1)):
        layers = register.read({"model_type": name, "num_hidden_layers": 3, **entries}).layers
        assert [one.window for one in layers] == [None, window + itself, window + itself]


def test_an_encoder_with_a_window_sees_both_sides_and_has_no_cache():
    said = register.read("modernbert").explain()
    assert "a query sees itself, 64 tokens before it and 64 behind it." in said
    assert "cache" not in said
    assert "A cache stays valid" in register.read("modernbert-decoder").explain()


def test_the_first_layer_of_each_period_sees_everything():
    for name in ("modernbert", "modernbert-decoder"):
        for every, kinds in ((1, "ffff"), (2, "fwfw"), (3, "fwwf")):
            config = {"model_type": name, "num_hidden_layers": 4}
            found = register.read(config | {"global_attn_every_n_layers": every})
            assert "".join(one.kind[0] for one in found.layers) == kinds


def test_a_schedule_of_earlier_modernberts_holds_in_all_layers():
    config = {"model_type": "modernbert", "local_rope_theta": 7.0, "global_rope_theta": 9.0}
    linear = {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}
    for one in register.read(config | linear).layers:
        assert one.base == (7 if one.kind == "window" else 9)
        assert one.scaling["factor"] == 4
    with pytest.raises(register.ConfigError, match="type = 'linear', which the class of this"):
        register.read(config | {"rope_scaling": {"type": "linear", "factor": 4.0}})


def test_axes_of_a_picture_take_frequencies_in_turn():
    found = register.read({"model_type": "pixtral", "hidden_size": 32, "num_attention_heads": 2})
    layer = found.layers[0]
    assert layer.sections == {"height": (0, 1, 2, 3), "width": (4, 5, 6, 7)}
    order = 10_000.0 ** -(2 * np.array([0, 2, 4, 6, 1, 3, 5, 7]) / 16)
    np.testing.assert_allclose(found.inv_freq(0), order)
    assert "Positions have two axes: height turns pairs 0 to 3" in found.explain(1000)
    assert "every patch of its picture" in found.explain()
    with pytest.raises(ValueError, match="no encoding for axes that take frequencies in turn"):
        found.make(0)


def test_patches_of_dinov3_turn_by_their_share_of_the_picture():
    found = register.read({"model_type": "dinov3_vit", "num_register_tokens": 4})
    layer = found.layers[0]
    assert (layer.alike, layer.of_sides, layer.prefix) == (True, True, 5)
    assert layer.sections == {"height": tuple(range(16)), "width": tuple(range(16, 32))}
    np.testing.assert_allclose(found.inv_freq(0), np.tile(100.0 ** -(np.arange(16) / 16), 2))
    said = found.explain()
    assert "a query sees every patch of its picture." in said
    assert "Each axis has all frequencies, those of RoPE over 32 dimensions." in said
    assert "in a picture of more patches neighbours turn by less." in said
    assert "The first 5 tokens do not turn." in said
    with pytest.raises(ValueError, match="no encoding for places that are shares of a picture"):
        found.make(0)
    with pytest.raises(register.ConfigError, match="66 dimensions must be a multiple of 4"):
        register.read({"model_type": "dinov3_vit", "hidden_size": 396})


def test_pairs_of_vjepa2_take_two_angles_which_is_no_turn():
    found = register.read("vjepa2")
    layer = found.layers[0]
    assert (layer.alike, layer.uneven, layer.turning, layer.head_dim) == (True, True, 60, 64)
    np.testing.assert_allclose(found.inv_freq(0), np.tile(10_000.0 ** -(np.arange(10) / 10), 3))
    assert "That is no turn: scores depend on both places" in found.explain()
    with pytest.raises(ValueError, match="no encoding for pairs whose dimensions take two angles"):
        found.make(0)


def test_numbers_behind_the_turn_of_timesfm_are_said():
    layer = register.read("timesfm2_5").layers[0]
    assert layer.weighed
    assert layer.scale == pytest.approx(1.442695041 / 80**0.5)
    assert "Behind the turn learned numbers weigh each dimension." in (
        register.read("timesfm2_5").explain()
    )
