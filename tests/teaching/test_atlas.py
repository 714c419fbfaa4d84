"""The cards say what the library does: computed fields agree, the five lines run, links lead on."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from posenc import encodings, tables
from posenc.attention import Places
from posenc_book.atlas import additions, card, cards
from posenc_book.atlas.card import SETTING
from posenc_book.atlas.cards import read
from posenc_book.atlas.elsewhere import elsewhere
from posenc_book.atlas.facts import SIZE, facts, parameters
from posenc_book.audit import ledger
from posenc_book.guide import measured
from posenc_book.read import costs

ROOT = Path(__file__).parents[2]
NAMES = encodings.names("all")
TIED = (
    "sinusoidal", "dft", "learnable", "tape", "learnable_frequency", "sine_linear", "tupe", "tpe",
)  # fmt: skip
MORE = 'more = """\nOne\nline.\n\n- An\n  item.\n- Another.\n\nThe\nend.\n"""'
OTHER_SIZE = {"d_model": 24, "n_heads": 3, "n_layers": 5, "L": 17}


def run(code: str) -> None:
    """Run the lines of a card in the setting of the page."""
    namespace = {"torch": torch, "nn": nn, "encodings": encodings, "Places": Places}
    try:
        exec(f"{SETTING}\n{code}", namespace)
    finally:
        torch.set_default_dtype(torch.float32)


def test_every_encoding_has_a_card_and_every_card_an_encoding():
    assert set(cards()) == set(NAMES)
    assert all(name == one.name for name, one in cards().items())
    assert len({one.anchor for one in cards().values()}) == len(cards())


@pytest.mark.parametrize("name", NAMES)
def test_what_a_card_says_is_what_the_library_does(name):
    said, known = card(name), facts(name)
    assert said.doors == known.doors
    assert said.longer == known.longer
    answers = {"real_times": said.real_times, "causal": said.causal, "cached": said.cached}
    assert answers == {question: question not in known.refusals for question in answers}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [SIZE, OTHER_SIZE])
def test_the_formula_counts_the_parameters(name, size):
    assert card(name).count(**size) == parameters(name, **size)


@pytest.mark.parametrize("name", NAMES)
def test_the_five_lines_run_and_compare_with_the_library(name):
    code = card(name).code
    assert len(code.splitlines()) <= 6
    assert "assert " in code
    assert f'"{name}"' in code
    run(code)


def test_a_wrong_formula_does_not_pass():
    wrong = card("alibi").code.replace("-8 *", "-4 *")
    assert wrong != card("alibi").code
    with pytest.raises(AssertionError):
        run(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_papers_verdicts_and_chapters_exist(name):
    one = card(name)
    keys = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    assert [key for key in one.papers if f"{{{key}," not in keys] == []
    assert one.papers
    assert all(ledger.row(claim)["verdict"] for claim in one.verdicts)
    assert not one.chapter or (ROOT / "book" / f"{one.chapter}.ipynb").is_file()
    assert one.chapter or one.more, "a card that no chapter explains explains itself"


def test_encodings_without_a_card_have_a_sentence_and_a_paper():
    keys = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    titles = {one.title.lower() for one in cards().values()}
    assert len({one.paper for one in elsewhere()}) == len(elsewhere()) == 5
    for one in elsewhere():
        assert f"{{{one.paper}," in keys
        assert one.title.lower() not in titles
        assert one.idea.endswith(".")
        assert 2017 <= one.year <= 2026


def test_cards_need_neither_torch_nor_matplotlib():
    code = "import sys; from posenc_book.atlas import cards; cards(); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "matplotlib", "pandas"} & {*out.stdout.split()}


def test_a_wrong_name_or_size_is_named():
    with pytest.raises(ValueError, match="did you mean 'rotary'"):
        card("rotery")
    with pytest.raises(ValueError, match="sizes must be L, d_model, n_heads, n_layers, got"):
        card("t5").count(d_model=8)
    with pytest.raises(ValueError, match=r"family must be one of added, .*, got 'kin'"):
        replace(card("t5"), family="kin")
    with pytest.raises(ValueError, match="formula must say something on the card 't5'"):
        replace(card("t5"), formula=" ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('longer = "as it is"', 'longer = "maybe"', "longer must be one of as it is, rebuilt, ref"),
        ('doors = ["bias"]', 'doors = ["gate"]', "doors must be among embed, .*, got 'gate'"),
        ('doors = ["bias"]', 'doors = "bias"', "doors must be a list of texts, got 'bias'"),
        ("year = 2022", 'year = "2022"', "year must be a whole number, got '2022'"),
        ("causal = true", "causal = 1", "causal must be true or false, got 1"),
        ("year = 2022", "", "year is missing"),
        ("causal = ", "casual = ", "casual is none of its fields, which are name, title, year"),
        ("year = 2022", "year = ", r"Invalid value \(at line 3, column 8\)"),
    ],
)
def test_an_error_in_a_card_names_file_and_field(tmp_path, old, new, message):
    stored = (ROOT / "src/posenc_book/atlas/cards/alibi.toml").read_text(encoding="utf-8")
    assert old in stored
    path = tmp_path / "mine.toml"
    path.write_text(stored.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"mine\.toml: {message}"):
        read(path)


def test_texts_of_a_card_flow_and_its_code_stays(tmp_path):
    path = tmp_path / "mine.toml"
    stored = (ROOT / "src/posenc_book/atlas/cards/alibi.toml").read_text(encoding="utf-8")
    path.write_text(re.sub(r'more = """.*?"""', MORE, stored, flags=re.DOTALL), encoding="utf-8")
    assert read(path) == replace(
        card("alibi"), name="mine", more="One line.\n\n- An item.\n- Another.\n\nThe end."
    )
    assert len(card("alibi").code.splitlines()) == 3


def test_the_picture_of_a_table_is_the_table():
    expected = tables.sinusoidal(additions.LENGTH, additions.D_MODEL)
    np.testing.assert_allclose(additions.added_rows("sinusoidal"), expected, atol=1e-12)
    assert additions.by_offset("sinusoidal") is None
    assert additions.added_rows("rotary") is None


def test_the_picture_of_a_score_is_the_formula():
    offset = np.arange(-additions.REACH, additions.REACH + 1)
    for row in additions.by_offset("alibi"):
        np.testing.assert_allclose(row, -(2.0**-2) * np.abs(offset), atol=1e-12)
    omega = 10_000.0 ** (-np.arange(0, 16, 2) / 16)
    turned = 2 * (np.cos(np.outer(offset, omega)) - 1).sum(1) / 4  # 8 pairs of ones, over sqrt(16)
    for row in additions.by_offset("rotary"):
        np.testing.assert_allclose(row, turned, atol=1e-12)
    rows = tables.sinusoidal(additions.LENGTH, additions.D_MODEL)
    squared = np.square(rows[:, None] - rows).sum(-1)
    query = additions.QUERIES[0]
    kernel = np.exp(-squared[query, query + offset] / (2 * additions.D_MODEL))
    np.testing.assert_allclose(additions.by_offset("tpe")[0], kernel, atol=1e-9)


def test_behind_the_softmax_weights_are_added():
    assert [name for name in NAMES if additions.unit(name) == "weight"] == ["erpe"]
    values = additions.make("erpe").values.detach().numpy()[0]
    middle = additions.LENGTH - 1
    seen = values[middle - additions.REACH : middle + additions.REACH + 1]
    np.testing.assert_allclose(additions.by_offset("erpe"), np.tile(seen, (2, 1)), atol=1e-12)


def test_who_sees_whom():
    assert np.allclose(additions.who_sees_whom("none"), 1 / additions.LENGTH)
    relative = {name for name in NAMES if additions.offset_only(name)}
    modern = {"transformer_xl", "deberta", "kerple", "xpos", "pope", "cope", "fire"}
    signal = {"dywpe", "window_statistics"}  # equal tokens are a constant series
    assert relative >= {"none", "rotary", "relative", "t5", "alibi", "erpe"} | modern | signal
    assert not relative & {*TIED, "sine_spe", "conv_spe", "fope", "axial_rotary", "mrope", "swin"}
    assert all(np.allclose(additions.who_sees_whom(name), 1 / 48) for name in signal)


def test_on_a_grid_a_weight_depends_on_rows_and_columns_apart():
    n_columns = additions.LENGTH // additions.ROWS
    seen = additions.who_sees_whom("axial_rotary")
    grid = np.log(seen).reshape(2 * [additions.ROWS, n_columns])
    apart = grid - grid[..., :1, :1]  # without the normalisation of the row
    here = apart[1, 2, 3, 4] - apart[1, 2, 0, 1]
    assert apart[3, 4, 5, 6] - apart[3, 4, 2, 3] == pytest.approx(here, abs=1e-12)
    assert abs(apart[1, 2, 3, 4] - apart[1, 2, 4, 3]) > 1e-3


def test_added_tables_cost_nothing_that_counts():
    for name in ("sinusoidal", "learnable", "dft", "tape"):
        assert measured.measured()[name].cost == pytest.approx(1, abs=0.05), name


def test_measurements_are_the_stored_ones():
    found = measured.measured()
    assert found["none"].low == found["none"].cost == found["none"].high == 1
    assert all(0 < one.low <= one.cost <= one.high for one in found.values() if one.tokens)
    assert found["rotary"].n_learned == found["rotary"].n_seeds == 10
    assert np.isnan(found["erpe"].longer)
    assert list(measured.measured_table().index) == list(cards())


def test_what_cards_say_of_prices_is_measured():
    cost = {name: one.cost for name, one in measured.measured().items() if one.tokens}
    of_conv = costs.step_costs()["conv_spe"].values()
    assert "about three times as long" in card("conv_spe").use
    assert np.median(list(of_conv)) == pytest.approx(3, abs=0.5)
    most = max(next(iter(costs.step_costs().values())))
    assert "with many tokens, beside PaTH's, the dearest" in " ".join(card("cope").use.split())
    assert {*sorted(cost, key=lambda n: costs.step_costs()[n][most])[-2:]} == {"cope", "path"}
    assert "lower price" in card("sine_spe").use
    assert cost["rotary"] < cost["sine_spe"]
