"""Released models as clock hands: the map's data are the register's, and so is "Used by"."""

import numpy as np
import pytest

from posenc import register, schedules
from posenc.register import Layer
from posenc_book.atlas import cards, used
from posenc_book.explorables import released_models as the_map
from posenc_book.teaching import released

LLAMA_4 = "meta-llama/Llama-4-Maverick-17B-128E"
LENGTHS = (1024, 4096, 2**15, 2**17, 2**20)


@pytest.mark.parametrize("name", released.MODELS)
def test_the_map_draws_what_the_register_says(name):
    found, packed = register.read(name), the_map.models()[name]
    assert packed["made"] == found.made_for
    assert len(packed["layers"]) == len(found.layers)
    for i, layer in enumerate(found.layers):
        kind = packed["kinds"]["abcdefgh".index(packed["layers"][i])]
        assert kind["n"] == layer.head_dim // 2
        assert kind.get("window") == layer.window
        for length in LENGTHS:
            if layer.door != "rotate":
                assert the_map.turned(kind, length) == [0] * kind["n"]
                continue
            turning = np.array([one for one in the_map.speeds(kind, length) if one])
            assert np.allclose(turning, found.inv_freq(i, length), rtol=1e-5)


@pytest.mark.parametrize("name", released.MODELS)
def test_the_map_and_the_chapter_mark_the_same_hands(name):
    model, found = the_map.models()[name], register.read(name)
    for i, letter in enumerate(model["layers"]):
        kind = model["kinds"]["abcdefgh".index(letter)]
        for length in LENGTHS:
            new = released.hands(found, i, length).new
            assert the_map.fresh(kind, model["made"], length) == new.tolist()


def test_new_are_hands_that_made_less_than_a_turn_and_go_on():
    model = register.read("meta-llama/Llama-2-7b-hf")
    slow = schedules.turns(model.inv_freq(0), 4096) < 1
    assert not released.hands(model, 0, 4096).new.any()
    assert (released.hands(model, 0, 4097).new == slow).all()
    assert 0 < slow.sum() < 64


def test_a_window_bounds_every_angle_and_a_layer_without_clocks_has_none():
    gemma, llama = (register.read(name) for name in ("google/gemma-3-12b-it", LLAMA_4))
    near, far = (released.hands(gemma, 0, length) for length in (1024, 10**9))
    assert (near.reached == far.reached).all()
    assert not far.new.any()
    assert released.hands(gemma, 5, 2**20).new.any()
    assert (released.hands(llama, 3, 2**20).reached == 0).all()
    assert llama.layers[0].kind == "chunk"
    assert not any(released.hands(llama, i, 2**20).new.any() for i in range(48))


def test_pairs_stand_where_their_dimensions_do():
    decoupled, partial = (
        register.read(name) for name in ("mlc-llm/deepseek_v2_lite", "EleutherAI/pythia-1.4b")
    )
    assert np.flatnonzero(released.omega(decoupled, 0, 1)).tolist() == [*range(64, 96)]
    assert np.flatnonzero(released.omega(partial, 0, 1)).tolist() == [*range(16)]


def test_a_title_says_where_no_release_stands_behind_the_numbers():
    for name in released.MODELS:
        assert ("class default" in released.title(name)) == (name in register.names())
    assert "class default" in the_map.models()["cohere2"]["title"]


def test_a_model_whose_length_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="whose length the register knows, got 'bloom'"):
        released.read("bloom")


def test_the_words_for_who_cannot_see_the_map_are_true():
    figure = the_map.ReleasedModels()
    seen = np.array(the_map.turned(the_map.chosen(figure.first())[2], 4096)) / released.TURN
    in_row = the_map.columns(len(seen))
    first = int(np.argmax(seen < 1))
    assert (len(seen), in_row, divmod(first, in_row)) == (64, 12, (3, 10))
    assert "64 dials in six rows" in figure.alt
    assert "the eleventh dial of the fourth row" in figure.alt
    assert the_map.dials(figure.first())["new"] == ""
    assert the_map.dials(figure.first())["hands"].count("M") == (seen < 1).sum()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"power": 15}, "at 32,768, 18 hands enter new angles"),
        ({"model": "google/gemma-3-12b-it", "power": 20}, "A token sees the last 1,024 tokens"),
        ({"model": LLAMA_4}, "its own chunk of 8,192"),
        ({"model": "HuggingFaceTB/SmolLM3-3B-Base", "layer": 4}, "layer 4 of 36, has no positions"),
        ({"model": "cohere2", "layer": 4}, "(class default), layer 4 of 40, has no positions"),
        ({"model": "mlc-llm/phi-3_5"}, "schedule longrope"),
        ({"layer": 48}, "layer 32 of 32"),
    ],
)
def test_the_sentence_below_says_what_is_drawn(state, said):
    figure = the_map.ReleasedModels()
    assert said in figure.summary(figure.first() | state)


def test_a_slider_of_lengths_says_them_as_people_do():
    html = the_map.ReleasedModels().html()
    assert 'data-said="1k 2k 4k 8k 16k 32k 64k 128k 256k 512k 1M" aria-valuetext="4k"' in html
    assert '<output for="explorable-released-models-power">4k</output>' in html


def test_each_layer_belongs_to_a_card():
    assert used.encodings_of(Layer(door="rotate")) == {"rotary"}
    assert used.encodings_of(Layer(door="rotate", sections={"time": (0,)})) == {"mrope"}
    assert used.encodings_of(Layer(door="none")) == {"none"}
    assert used.encodings_of(Layer(door="none", kind="none")) == set()
    assert used.encodings_of(Layer(door="bias", slopes={"n_heads": 2})) == {"alibi"}
    assert used.users().keys() <= cards().keys()


def test_who_uses_an_encoding_is_what_the_register_says():
    for name in ("meta-llama/Llama-2-7b-hf", "Qwen/Qwen3-8B"):
        assert name in used.users()["rotary"].released
    assert used.users()["alibi"] == used.Users((), ("bloom", "mpt"), ())
    assert "smollm3" in used.users()["none"].partly
    assert "kimi_linear" not in used.users()["none"].partly  # its other layers have no attention
    assert {"t5", "mt5"} <= {*used.users()["t5"].families}
    counted = {one for users in used.users().values() for one in users.released}
    assert counted == register.released().keys()


def test_a_line_counts_and_names_a_few():
    line = used.line("rotary")
    n = len(used.users()["rotary"].released)
    assert line.startswith(f"{n} of the {len(register.released())} released models")
    assert line.count("`") == 4 * used.SHOWN
    assert used.line("fire") == ""
