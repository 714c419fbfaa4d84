"""Student numbers of submissions, and grades for a learning platform."""

import csv
import io
import re
import sys

import pytest
from course import grades, journal, mark, students

MOODLE = "Ada Lovelace_1234567_assignsubmission_file"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("1234567/work", "1234567"),
        ("ada_01234567/01_raw_indices", "01234567"),
        ("01_raw_indices-7654321", "7654321"),
        ("1234567/1234567_work", "1234567"),
        ("ada/work", ""),
        ("ada/01_raw_indices", ""),
        (f"{MOODLE}/work", ""),
        (f"{MOODLE}/work 7654321", "7654321"),
        ("handed-in-20270114/work", ""),
        ("1234567 and 7654321/work", ""),
        ("1234567890123/work", ""),
    ],
)
def test_a_number_is_read_from_a_name_where_there_is_exactly_one(name, number):
    assert students.number_of(name) == number


def table(folder, text, encoding="utf-8"):
    path = folder / "class.csv"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_says_whose_a_submission_is(tmp_path, separator):
    text = "name,Submission,Number\nAda,ada lovelace,00123\nBo,bo,b-7\nCy,cy/late,9\n,,\n"
    path = table(tmp_path, text.replace(",", separator), "utf-8-sig")
    found = students.read(path)
    assert students.number_of(f"{MOODLE}/work", found) == "00123"
    assert students.number_of("bo", found) == "b-7"
    assert students.number_of("Bo/work", found) == "b-7"
    assert students.number_of("cy/late", found) == "9"
    assert students.number_of("cy/early", found) == ""
    assert students.number_of("1234567/work", found) == "", "with a table nothing is guessed"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs the columns submission and number"),
        ("name,number\nada,1\n", r"\['submission'\] is not among \['name', 'number'\]"),
        ("submission,number\nada,=1+1\n", "line 2: a number must have letters.*got '=1.1' for"),
        ("submission,number\nada,\n", "line 2: .*got '' for 'ada'"),
        ("submission,number\n,77\n", "line 2: .*got '77' for ''"),
        ("submission,number\nada,1\nAda,2\n", "line 3: 'Ada' has two numbers, 1 and 2"),
    ],
)
def test_what_is_no_table_of_students_is_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        students.read(table(tmp_path, text))


def test_a_table_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"none\.csv cannot be read as a table"):
        students.read(tmp_path / "none.csv")
    path = tmp_path / "class.csv"
    path.write_bytes("submission,number\nZoë,1\n".encode("latin-1"))
    with pytest.raises(ValueError, match="in UTF-8"):
        students.read(path)
    monkeypatch.setenv(mark.SEED, "a throw-away seed of the tests")
    monkeypatch.setattr(sys, "argv", ["mark", str(tmp_path), "--students", str(path)])
    with pytest.raises(SystemExit, match=r"Nothing was run: .*class\.csv"):
        mark.main()


def marks_of(*names, table=None):
    """Return a table of marks as marking writes it, where everybody has six points by checks."""
    first = mark.Mark("", got={"1": 4, "2": 2}, assignment="01_raw_indices", answers={"6": "So."})
    found = [(name.replace("/", "_"), mark.Mark(**{**vars(first), "name": name})) for name in names]
    found.append(("damaged", mark.Mark("damaged", refused="this is not a notebook")))
    return mark.table_of(found, mark.Prepared(), table)


def test_the_table_of_marks_has_a_column_for_the_number():
    rows = list(csv.DictReader(marks_of("1234567/work", "ada/work").splitlines()))
    assert [row["student number"] for row in rows] == ["1234567", "", ""]
    assert [row["by hand"] for row in rows] == ["", "", ""]
    assert rows[0]["by checks"] == "6"
    assert rows[2]["remarks"] == "not marked: this is not a notebook"
    rows = list(csv.DictReader(marks_of("ada/work", table={"ada": "77"}).splitlines()))
    assert [row["student number"] for row in rows] == ["77", ""]


def with_hand(text, *points):
    """Return a table of marks with points by hand, as a teacher writes them."""
    rows = list(csv.reader(text.splitlines()))
    place = rows[0].index("by hand")
    for row, said in zip(rows[1:], points, strict=False):
        row[place] = said
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows) + "\n"


def graded(tmp_path, text):
    path = tmp_path / "marks.csv"
    path.write_text(text, encoding="utf-8")
    return grades.grades(grades.read(path))


def test_grades_have_a_row_for_each_number_with_all_points(tmp_path):
    text, notes = graded(tmp_path, with_hand(marks_of("1234567/a", "0007654/b", "cy"), "2,5", ""))
    assert text.splitlines() == [
        "ID number,From raw indices to sinusoids",
        "0007654,6",
        "1234567,8.5",
    ]
    assert notes == [
        "damaged was not marked",
        "cy is left out, as it has no student number",
        "0007654/b has answers to read, and no points by hand yet",
        "cy has answers to read, and no points by hand yet",
    ]


@pytest.mark.parametrize("said", ["4", "-1", "two"])
def test_points_by_hand_that_cannot_be_are_named(tmp_path, said):
    with pytest.raises(ValueError, match=f"1234567/a: by hand must be .* 0 to 3, got '{said}'"):
        graded(tmp_path, with_hand(marks_of("1234567/a"), said))


def test_who_handed_in_twice_is_named(tmp_path):
    with pytest.raises(ValueError, match="1234567/a and 1234567/b are both of student 1234567"):
        graded(tmp_path, marks_of("1234567/a", "1234567/b"))


def test_what_is_no_table_of_marks_is_named(tmp_path, monkeypatch):
    (tmp_path / "marks.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr(sys, "argv", ["grades", str(tmp_path / "marks.csv")])
    with pytest.raises(SystemExit, match=r"No grades were written: .* no column 'submission'"):
        grades.main()
    assert not (tmp_path / "grades.csv").exists()


def test_grades_are_written_beside_the_marks(tmp_path, monkeypatch, capsys):
    (tmp_path / "marks.csv").write_text(marks_of("1234567/a"), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["grades", str(tmp_path / "marks.csv")])
    grades.main()
    assert "1 student in" in capsys.readouterr().out
    assert (tmp_path / "grades.csv").read_text().splitlines()[1] == "1234567,6"


def test_who_handed_in_nothing_is_named():
    table = {"ada": "1", "bo/work.ipynb": "2", "cy": "3"}
    assert students.number_of("bo/work", table) == "2"
    assert students.unused(["Ada_12345_assignsubmission_file/work", "bo/work"], table) == ["cy"]


def test_one_of_another_assignment_is_named(tmp_path):
    found = [(n, mark.Mark(n, {"1": 2}, assignment="02_rotations")) for n in "abcd"]
    found.append(("e", mark.Mark("e", {"1": 0}, assignment="01_raw_indices")))
    text = mark.table_of(found, mark.Prepared())
    assert [row["remarks"] for row in csv.DictReader(text.splitlines())] == [""] * 4 + [mark.OTHER]
    _, notes = graded(tmp_path, text)
    assert "e is of 01_raw_indices, unlike most" in " ".join(notes)


# --- what a spreadsheet does to a table


def saved_by_a_spreadsheet(text: str, decimal: str = ".") -> str:
    """Return a table as a spreadsheet saves it: what looks like a number has become one.

    It keeps fifteen digits, and writes numbers of more than eleven with six of them. No spreadsheet
    runs here; these are the rules of the usual ones for a column of the format "General".
    """

    def seen(cell: str) -> str:
        try:
            value = float(cell)
        except ValueError:
            return cell
        shown = f"{value:.5E}" if value >= 1e11 else f"{value:g}" if value % 1 else f"{value:.0f}"
        return shown.replace(".", decimal)

    table = io.StringIO()
    separator = ";" if decimal == "," else ","
    csv.writer(table, delimiter=separator).writerows(
        [[seen(cell) for cell in row] for row in csv.reader(text.splitlines())]
    )
    return "\ufeff" + table.getvalue()


def journalled(tmp_path, text, edited):
    """Return the grades of an edited table beside the journal of the one that marking wrote."""
    (tmp_path / grades.KEPT).parent.mkdir()
    (tmp_path / grades.KEPT).write_text(text, encoding="utf-8")
    return graded(tmp_path, edited)[0].splitlines()[1:]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("front", ["", "sep=;\r\n", '"sep=;"\r\n'])
def test_a_table_is_read_in_each_form_that_spreadsheets_save(tmp_path, encoding, front):
    text = marks_of("0012345/Zoë").replace("\n", "\r\n")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    quoted = "\r\n".join(
        ";".join(f'"{cell}"' for cell in row) for row in [*rows, [""] * len(rows[0])]
    )
    path = tmp_path / "marks.csv"
    path.write_bytes(f"{front}{quoted}\r\n".encode(encoding))
    assert grades.grades(grades.read(path))[0].splitlines()[1:] == ["0012345,6"]


LONG = "123456789012"


@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_come_back_from_a_spreadsheet_as_they_were(tmp_path, decimal):
    text = marks_of("0012345/a", f"{LONG}/b", "1234567/c")
    edited = saved_by_a_spreadsheet(with_hand(text, "2.5", "1", "0.25"), decimal)
    assert ";12345;" in edited or (",12345," in edited and ",1.23457E+11," in edited)
    assert journalled(tmp_path, text, edited) == ["0012345,8.5", "1234567,6.25", f"{LONG},7"]


def test_points_in_a_table_that_a_spreadsheet_saved_stay_when_marking_goes_on(tmp_path):
    text = marks_of("0012345/a", "0012345/0012346")
    journal.Journal(tmp_path / "marks", tmp_path).tabulate(text)
    edited = saved_by_a_spreadsheet(with_hand(text, "2.5", "1"))
    (tmp_path / "marks" / "marks.csv").write_text(edited, encoding="utf-8")
    again = journal.Journal(tmp_path / "marks", tmp_path)
    assert again.hand["0012345/a"] == {"student number": "0012345", "by hand": "2.5"}
    assert again.said.endswith("; its points by hand stand in the new one too.")


def test_a_number_that_a_teacher_writes_is_taken(tmp_path):
    text = marks_of("1234567/a", "bo")
    edited = text.replace("1234567/a,1234567", "1234567/a,1234568").replace("bo,,", "bo, 0007 ,")
    assert journalled(tmp_path, text, edited) == ["0007,6", "1234568,6"]


NUMBER = "/a,1234567,"


@pytest.mark.parametrize(
    ("read", "old", "new", "said"),
    [
        (journalled, ",6,13,", ",502,13,", "'by checks' is '502', and marking gave '6'"),
        (journalled, ",6,13,", ",6,1300,", "'of' is '1300', and marking gave '13'"),
        (journalled, NUMBER, "/a,=cmd|' /C calc'!A0,", "is no student number; it was '1234567'"),
        (journalled, "01_raw_indices", "=1+1", "is '=1+1', and marking gave '01_raw_indices'"),
        (journalled, ".md", ".mp", "the journal knows no page"),
        (graded, ",6,13,", ",502,13,", "by checks must be a number from 0 to 13, got '502'"),
        (graded, ",6,13,", ",,13,", "by checks must be a number from 0 to 13, got ''"),
        (graded, NUMBER, "/a,1.23457E+11,", "'1.23457E+11' is no student number; where a"),
        (graded, NUMBER, "/a,-2+3,", "'-2+3' is no student number"),
        (graded, "01_raw_indices", "=1+1", "there is no assignment '=1+1'"),
    ],
)
def test_what_marking_has_settled_is_not_changed_by_the_way(tmp_path, read, old, new, said):
    text = marks_of("1234567/a")
    assert old in text
    with pytest.raises(ValueError, match=re.escape(said)):
        read(tmp_path, *([text] if read is journalled else []), text.replace(old, new))


def test_one_student_stays_one_whatever_stands_around_the_number(tmp_path):
    text = marks_of("0012345/a", "0012345/b").replace("0012345/b,0012345", "0012345/b, 0012345")
    with pytest.raises(ValueError, match="are both of student 0012345"):
        graded(tmp_path, text)
    with pytest.raises(ValueError, match="0012345 and 12345 differ in leading zeros only"):
        graded(tmp_path, text.replace(", 0012345", ",12345"))


def test_a_row_that_is_cut_off_is_named(tmp_path):
    head, row, _ = marks_of("1234567/a").splitlines()
    said = r"row 1 of marks\.csv must have 12 fields, has fewer: '1234567/a'"
    with pytest.raises(ValueError, match=said):
        graded(tmp_path, f"{head}\n{','.join(row.split(',')[:3])}\n")
