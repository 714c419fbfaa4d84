"""The trial with a class: two forms that share nothing, and a gain that is computed right."""

import csv
import re

import numpy as np
import pytest
from course.exam import draw
from course.trial import __main__ as command
from course.trial import evaluate

KEY = {"A": list("ABC"), "B": list("CCD")}


@pytest.fixture
def written(tmp_path):
    """Return a folder with a key, and what writes answers into it as a spreadsheet would."""
    lines = [
        f"{form},{n},x,{right}" for form, all_ in KEY.items() for n, right in enumerate(all_, 1)
    ]
    (tmp_path / "key.csv").write_text("\n".join(["form,question,from,right", *lines]))

    def write(*rows, delimiter=",", encoding="utf-8"):
        path = tmp_path / "answers.csv"
        with path.open("w", encoding=encoding, newline="") as file:
            table = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
            table.writerows([("code", "time", "form", "1", "2", "3"), *rows])
        return path

    return write


TWO = [
    ("ada1", "before", "A", "A", "", "D"),
    ("bob2", "before", "B", "A", "B", "A"),
    ("ada1", "after", "B", "C", "C", "A"),
    ("bob2", "after", "A", "A", "B", "C"),
]


# --- forms


def drawn(folder, *words):
    seed = folder / "seed"
    seed.write_text("a throw-away seed of the tests")
    out = folder / "out"
    command.main(["draw", "--seed-file", str(seed), "--out", str(out), *words])
    return out


def test_two_forms_ask_each_chapter_alike_and_share_nothing(tmp_path):
    out = drawn(tmp_path, "--chapters", "rotary,rotations")
    with (out / "key.csv").open() as file:
        key = list(csv.DictReader(file))
    of = {form: [row["from"] for row in key if row["form"] == form] for form in "AB"}
    assert len(key) == len({row["from"] for row in key}) == 8
    for asked in of.values():
        assert [one.rpartition("-")[0] for one in asked] == ["rotary"] * 2 + ["rotations"] * 2
    for form in "AB":
        page = (out / f"form-{form}.html").read_text()
        lists = re.findall(r'<ol class="options">(.*?)</ol>', page, re.DOTALL)
        rights = [row["right"] for row in key if row["form"] == form]
        for place, (items, right) in enumerate(zip(lists, rights, strict=True)):
            chapter, _, number = of[form][place].rpartition("-")
            entry = draw._entries(chapter)[int(number) - 1]
            texts = re.findall(r"<li><span>(.*?)</span></li>", items, re.DOTALL)
            asked = next(one["right"] for one in entry["options"] if "right" in one)
            assert texts["ABCD".index(right)] == command.paper.markdown(str(asked))
        assert "Name" not in page
        assert 'class="right"' not in page
    assert (out / "consent.md").read_text().startswith("# Taking part")


def test_answers_that_are_there_are_not_written_over(tmp_path):
    out = drawn(tmp_path)
    assert len((out / "answers.csv").read_text().split(",")) == 3 + 2 * len(draw.usual())
    (out / "answers.csv").write_text("mine")
    drawn(tmp_path)
    assert (out / "answers.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--chapters", "cooking"], "not on"), (["--each", "3"], "6 were asked for")],
)
def test_what_cannot_be_drawn_is_said(tmp_path, words, said):
    with pytest.raises(SystemExit, match=said):
        drawn(tmp_path, *words)


# --- the gain


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_gain_is_that_of_the_class(written, delimiter, encoding):
    said = evaluate.report(written(*TWO, delimiter=delimiter, encoding=encoding))
    # right before: 1/3 and 0, after: 2/3 and 1, so (5/6 - 1/6) / (1 - 1/6) = 0.8
    assert "2 students" in said
    assert "Right before: 17%. Right after: 83%." in said
    assert "Normalised gain: 0.80, 95 % interval 0.50 to 1.00." in said
    assert "counted as not right: 1" in said
    assert "fewer than 10" in said


def test_who_was_there_once_is_left_out_and_said_so(written):
    said = evaluate.report(written(*TWO, ("eve3", "after", "A", "A", "B", "C"), ("",) * 6))
    assert "2 students" in said
    assert "only once: 1" in said


def test_the_same_form_first_for_all_is_said(written):
    rows = [
        (code, time, {"before": "A", "after": "B"}[time], *rest) for code, time, _, *rest in TWO
    ]
    assert "same form first" in evaluate.report(written(*rows))
    assert "same form first" not in evaluate.report(written(*TWO))


def test_codes_and_letters_may_be_small(written):
    small = [tuple(cell.lower() for cell in row) for row in TWO[:2]]
    assert evaluate.report(written(*small, *TWO[2:])) == evaluate.report(written(*TWO))


def test_intervals_cover_the_gain_of_classes_as_often_as_they_say():
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(60):
        before = rng.binomial(20, 0.4, size=40) / 20
        after = rng.binomial(20, 0.7, size=40) / 20
        low, high = evaluate.interval(np.stack([before, after], 1))
        covered.append(low <= 0.5 <= high)  # (0.7 - 0.4) / (1 - 0.4)
    assert 0.85 <= np.mean(covered) <= 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("eve3", "during", "A", "A", "B", "C"), "row 6 must have a code, a time"),
        (("eve3", "before", "Z", "A", "B", "C"), "'Z'"),
        (("", "before", "A", "A", "B", "C"), "must have a code"),
        (("eve3", "before", "A", "A", "BC", "C"), "question 2: an answer is one letter"),
        (("eve3", "before", "A", "A", "E", "C"), "got 'E'"),
        (("ADA1", "before", "A", "A", "B", "C"), "ada1 has two rows 'before'"),
    ],
)
def test_a_row_that_is_wrong_is_named(written, row, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        evaluate.report(written(*TWO, row))


def test_what_leaves_nothing_to_say_is_refused(written, tmp_path):
    with pytest.raises(ValueError, match="two students or more"):
        evaluate.report(written(*TWO[:2]))
    known = [(code, time, "A", "A", "B", "C") for code, time, *_ in TWO]
    with pytest.raises(ValueError, match="nothing to gain"):
        evaluate.report(written(*known))
    (tmp_path / "answers.csv").write_text("code,time\n")
    with pytest.raises(ValueError, match="no column 'form'"):
        evaluate.report(tmp_path / "answers.csv")
    with pytest.raises(SystemExit, match="cannot be read"):
        command.main(["evaluate", str(tmp_path / "gone.csv"), "--key", str(tmp_path / "key.csv")])
