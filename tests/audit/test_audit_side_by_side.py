"""The sources' tables with ours beside them: every printed number is there, and crosses mean it."""

import re
from functools import cache

import numpy as np
import pytest

from posenc_book.audit import printed
from posenc_book.audit.survey import side_by_side, summaries
from posenc_book.command_line import parser
from posenc_book.data.registry import ENTRIES

both = pytest.mark.parametrize("model", printed.TABLES)
BAR, CROSS = side_by_side.BAR, side_by_side.CROSS
accuracies = cache(side_by_side.accuracies)


def said(entry: str) -> str:
    """Return what stands before the bar."""
    return entry.split(BAR)[0]


@both
def test_the_tables_of_accuracies_are_those_of_the_survey(model):
    rows = accuracies(model).rows
    assert [*rows] == [*printed.DATASETS, "average rank"]
    found = [[float(said(row[c])) for c in printed.COLUMNS] for row in rows.values()]
    assert np.array_equal(found[:-1], printed.accuracy(model))
    assert np.array_equal(found[-1], printed.average_ranks(model))


@both
def test_six_rows_are_measured_and_five_name_their_command(model):
    rows = dict(accuracies(model).rows)
    rows.pop("average rank")
    measured = {name for name, row in rows.items() if all(row.values())}
    assert len(measured) == 6
    assert all(BAR in rows[name][c] for name in measured for c in printed.COLUMNS)
    named = [line.split() for line in side_by_side.commands().splitlines()]
    assert {line[-1] for line in named} == set(rows) - measured
    assert len(set(rows) - measured) == 5
    for *command, name in named[::2]:
        assert (command, name in ENTRIES) == (["posenc", "data", "fetch"], True)
    for line in named[1::2]:
        assert line[:2] == ["posenc", "bench"]
        assert parser().parse_args(line[2:]).profile == "protocol"


@pytest.mark.parametrize(
    ("printed_score", "crossed"),
    [("0.500", False), ("0.599", True), ("0.600", False), ("0.700", False), ("0.701", True)],
)
def test_a_score_is_crossed_only_outside_of_the_range_of_ours(printed_score, crossed):
    scores = np.array([0.6, 0.7]) if printed_score != "0.500" else np.array([0.4, 0.6])
    shown = side_by_side._beside_scores(printed_score, scores)
    assert shown.endswith(CROSS) == crossed
    assert shown.startswith(f"{printed_score}{BAR}{scores.mean():.3f}")
    assert side_by_side._beside_scores(printed_score, None) == printed_score


def test_a_printed_score_may_be_rounded():
    assert CROSS not in side_by_side._beside_scores("0.333", np.array([1 / 3, 0.4]))
    assert CROSS not in side_by_side._beside_scores("0.667", np.array([0.6, 2 / 3]))


def test_table_1_crosses_where_the_words_differ():
    for name, row in zip(summaries.TABLE_1, side_by_side.kinds().rows.values(), strict=True):
        assert [*map(said, row.values())] == [*summaries.TABLE_1[name]]
        for entry in row.values():
            theirs, ours = entry.removesuffix(CROSS).split(BAR)
            assert entry.endswith(CROSS) == (theirs != ours)


def test_table_2_counts_what_the_ledger_counts():
    rows = side_by_side.costs().rows
    parameters, times = ([row[key] for row in rows.values()] for key in list(rows["RPE"]))
    assert parameters[0] == f"0{BAR}0"
    assert (
        rows["eRPE"]["number of parameters"].replace("\u00a0", " ")
        == "(L² + L)l = 40,400 | 6,368 ✗"
    )
    assert [n for n, e in zip(rows, parameters, strict=True) if e.endswith(CROSS)] == [
        "tAPE", "eRPE", "TUPE", "ConvSPE", "T-PE",
    ]  # fmt: skip
    assert [n for n, e in zip(rows, times, strict=True) if e.endswith(CROSS)] == ["TUPE"]


def test_table_2_prints_formulas_that_give_the_counted_values():
    """At other sizes, too: a formula that is typed wrongly is found."""
    sizes = {"length": 7, "width": 24, "heads": 3, "layers": 5, "taps": 2}
    letters = dict(zip("LdhlK", sizes.values(), strict=True))
    values = summaries.parameters(**sizes)
    for name, (formula, time) in summaries.TABLE_2.items():
        code = formula.replace("−", "-").replace("²", "**2")
        code = re.sub(r"(?<=[\w)])(?=[dhlK(L])", "*", code)
        assert eval(code, {}, dict(letters)) == values[name], name
        power = 2 if "L²" in time else 1
        assert power == summaries.POWER_OF_LENGTH[name]


def test_table_3_is_crossed_where_counts_differ():
    rows = side_by_side.sizes().rows
    assert [*rows] == [*printed.DATASETS]
    assert rows["LSST"]["test size"] == f"2,466{BAR}2,466"
    assert rows["SharePriceIncrease"]["test size"] == f"965{BAR}966{CROSS}"
    assert rows["Sleep"] == {
        "train size": "478,785", "test size": "90,315", "length": "178", "classes": "5",
        "channels": "1", "type": "EEG",
    }  # fmt: skip


def test_the_other_paper_has_its_three_rows_and_six_columns():
    rows = side_by_side.anomalies().rows
    assert [*rows] == ["Elevator", "SMD", "MSL"]
    for name, row in rows.items():
        printed_scores = [score for half in side_by_side.ANOMALIES[name] for score in half]
        assert [float(said(entry)) for entry in row.values()] == printed_scores
        assert all("[" in entry for entry in row.values()) == (name != "Elevator")


def test_f1_is_the_harmonic_mean_of_what_the_other_paper_prints():
    for pair in side_by_side.ANOMALIES.values():
        for precision, recall, f1 in pair:
            assert 2 / (1 / precision + 1 / recall) == pytest.approx(f1, abs=0.0015)
