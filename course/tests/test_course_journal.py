"""The folder of marks: nothing is lost or shares a file, and what cannot be marked says so."""

import csv
import itertools
import json
import os
import re
import subprocess
import sys

import pytest
from course import build, journal, mark

SEED = "a throw-away seed of the tests"
FIRST = "01_raw_indices"

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def quick(monkeypatch):
    """Return the names that were marked; each gets two points, and nothing runs."""
    seen = []

    def marked(*arguments):
        name = arguments[-1]
        seen.append(name)
        return mark.Mark(name, {"1": 2}, ["Question 1: 2/2"], assignment=FIRST)

    monkeypatch.setattr(mark, "self_test", lambda: None)
    monkeypatch.setattr(mark, "mark", marked)
    return seen


def hand_in(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"the file {name}")


def rows(out) -> dict[str, dict]:
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def run(folder, out, monkeypatch) -> int:
    monkeypatch.setenv(mark.SEED, SEED)
    monkeypatch.setattr(sys, "argv", ["mark", str(folder), "--out", str(out)])
    return mark.main()


# --- written at once, and gone on with


def test_each_mark_is_on_disk_before_the_next_one_begins(tmp_path, quick, monkeypatch):
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, "a.ipynb", "b.ipynb", "c.ipynb")
    usual = mark.mark

    def interrupted(path, *rest):
        if path.stem == "c":
            raise KeyboardInterrupt
        return usual(path, *rest)

    monkeypatch.setattr(mark, "mark", interrupted)
    with pytest.raises(SystemExit, match="What was marked is kept"):
        run(folder, out, monkeypatch)
    assert {*rows(out)} == {"a", "b"}
    assert (out / "a.md").read_text().startswith("# a\n")
    assert not (out / "c.md").exists()

    monkeypatch.setattr(mark, "mark", usual)
    quick.clear()
    assert run(folder, out, monkeypatch) == 0
    assert quick == ["c"], "only what was not marked before"
    assert [*rows(out)] == ["a", "b", "c"]


def test_a_killed_process_leaves_whole_files(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, *(f"{i}.ipynb" for i in range(5)))
    program = f"""
import os
from course import mark
mark.self_test = lambda: None
def marked(path, seed, prepared, name):
    if path.stem == "3":
        os.kill(os.getpid(), 9)
    return mark.Mark(name, {{"1": 2}}, assignment={FIRST!r})
mark.mark = marked
mark.mark_all(mark.Path({str(folder)!r}), mark.Path({str(out)!r}), "a seed of twelve")
"""
    subprocess.run([sys.executable, "-c", program], cwd=build.HERE.parent, check=False)
    assert [*rows(out)] == ["0", "1", "2"]
    assert {path.name for path in out.glob("*.md")} == {"0.md", "1.md", "2.md"}
    for record in out.glob("journal/*.json"):
        assert json.loads(record.read_text())["mark"]["got"] == {"1": 2}


@pytest.mark.parametrize("what", ["file", "seed", "marker"])
def test_what_changed_is_marked_again(tmp_path, quick, monkeypatch, what):
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, "a.ipynb", "b.ipynb")
    mark.mark_all(folder, out, SEED)
    quick.clear()
    mark.mark_all(folder, out, SEED)
    assert quick == []
    if what == "file":
        (folder / "b.ipynb").write_text("handed in again")
    if what == "marker":
        (tmp_path / "marker.py").write_text("another one")
        monkeypatch.setattr(mark, "_marker", lambda: [tmp_path / "marker.py"])
    mark.mark_all(folder, out, f"{SEED}, a new one" if what == "seed" else SEED)
    assert quick == (["b"] if what == "file" else ["a", "b"])


def test_a_damaged_record_or_a_lost_page_is_made_again(tmp_path, quick):
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, "a.ipynb", "b.ipynb", "c.ipynb")
    mark.mark_all(folder, out, SEED)
    quick.clear()
    (out / "journal" / "a.json").write_text('{"key": ')
    (out / "b.md").unlink()
    mark.mark_all(folder, out, SEED)
    assert quick == ["a", "b"]
    assert (out / "b.md").is_file()


@pytest.mark.usefixtures("quick")
def test_a_table_that_the_teacher_has_edited_is_kept(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, "a.ipynb")
    mark.mark_all(folder, out, SEED)
    mark.mark_all(folder, out, SEED)
    assert not list(out.glob("marks-edited-*")), "ours needs no copy"
    edited = (out / "marks.csv").read_text() + "a, plus 3 points by hand\n"
    (out / "marks.csv").write_text(edited)
    mark.mark_all(folder, out, SEED)
    assert (out / "marks-edited-1.csv").read_text() == edited
    assert [*rows(out)] == ["a"]


@pytest.mark.usefixtures("quick")
def test_points_by_hand_outlive_the_next_marking(tmp_path, monkeypatch, capsys):
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, "a.ipynb", "b.ipynb")
    run(folder, out, monkeypatch)
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        head, *table = csv.reader(file)
    for row in table:
        row[head.index("by hand")], row[head.index("student number")] = "1,5", "b-7"
    with (out / "marks.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([head, *table])
    hand_in(folder, "c.ipynb")
    (folder / "b.ipynb").write_text("handed in again")
    for _ in range(2):
        run(folder, out, monkeypatch)
        found = rows(out)
        assert [row["by hand"] for row in found.values()] == ["1,5", "1,5", ""]
        assert [row["student number"] for row in found.values()] == ["b-7", "b-7", ""]
        assert [row["remarks"] for row in found.values()] == ["", mark.BEFORE, ""]
    assert "kept as marks-edited-1.csv; its points by hand" in capsys.readouterr().out
    assert not (out / "marks-edited-2.csv").exists()


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "page.md"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        journal.write(path, "new")
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


# --- where the marks go is looked at first


def test_a_place_where_nothing_can_be_written_is_refused_first(tmp_path, quick, monkeypatch):
    folder = tmp_path / "in"
    hand_in(folder, "a.ipynb")
    (tmp_path / "file").write_text("precious")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SystemExit, match=r"Nothing was run: marks cannot be written to .*file"):
            run(folder, out, monkeypatch)
    assert quick == []
    assert (tmp_path / "file").read_text() == "precious"


def test_the_marks_of_another_folder_are_not_written_over(tmp_path, quick, monkeypatch):
    out = tmp_path / "out"
    for week in ("week1", "week2"):
        hand_in(tmp_path / week, "ada.ipynb")
    run(tmp_path / "week1", out, monkeypatch)
    with pytest.raises(SystemExit, match=r"holds the marks of .*week1.*--out"):
        run(tmp_path / "week2", out, monkeypatch)
    assert len(quick) == 1


@pytest.mark.usefixtures("quick")
def test_marks_may_lie_in_the_folder_of_submissions(tmp_path):
    hand_in(tmp_path, "a.ipynb")
    mark.mark_all(tmp_path, tmp_path / "marks", SEED)
    mark.mark_all(tmp_path, tmp_path / "marks", SEED)
    assert [*rows(tmp_path / "marks")] == ["a"]


def test_names_that_the_terminal_lacks_do_not_end_it(tmp_path):
    folder = tmp_path / "in"
    hand_in(folder, "Zoë.ipynb", "小明/work.ipynb")
    (folder / os.fsdecode(b"\xff.ipynb")).write_text("no UTF-8")
    program = (
        "import sys\nfrom course import mark\nmark.self_test = lambda: None\n"
        f"mark.mark = lambda p, s, d, name: mark.Mark(name, {{'1': 2}}, assignment={FIRST!r})\n"
        "sys.exit(mark.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), "--out", str(tmp_path / "out")],
        cwd=build.HERE.parent,
        env={**os.environ, mark.SEED: SEED, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Zo\\xeb: 2 points" in done.stdout
    assert {"Zoë", "小明/work"} < {*rows(tmp_path / "out")}
    assert (tmp_path / "out" / "Zoë.md").read_text().startswith("# Zoë\n")


# --- a row and a page for each thing


def test_each_thing_gets_a_row_and_a_page(tmp_path, quick, monkeypatch, capsys):
    folder, out = tmp_path / "in", tmp_path / "out"
    good = "dup/a.ipynb", "dup_a.ipynb", "dup a.ipynb", "Zoë/01_raw_indices.ipynb", "b.ipynb"
    odd = {
        "a/b/x.ipynb": "lies too deep; move it into a",
        "c/x.IPYNB": "rename it to x.ipynb",
        "work.zip": "unpack it",
        "d/work.tar.gz": "unpack it",
        "e/work.pdf": "ends in .ipynb",
        "names.csv": "ends in .ipynb",
    }
    hand_in(folder, *good, *odd)
    hand_in(folder, "dup/data.csv", ".DS_Store", "b/.ipynb_checkpoints/x-checkpoint.ipynb")
    hand_in(folder, "__MACOSX/._x.ipynb", ".ipynb_checkpoints/b-checkpoint.ipynb")
    hand_in(tmp_path, "elsewhere/secret.ipynb")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "link.ipynb").symlink_to(tmp_path / "elsewhere" / "secret.ipynb")
    (folder / "empty").mkdir()
    odd |= {"linked": "link is not followed", "link.ipynb": "link is not followed"}
    odd |= {"empty": "nothing in this folder", "b": "nothing in this folder"}
    assert run(folder, out, monkeypatch) == mark.SOME_REFUSED == 3
    assert {*quick} == {name.removesuffix(".ipynb") for name in good}
    with (out / "marks.csv").open(encoding="utf-8", newline="") as file:
        table = [*csv.DictReader(file)]
    remarks = {row["submission"]: row["remarks"] for row in table if not row["by checks"]}
    assert remarks.keys() == odd.keys()
    for name, why in odd.items():
        assert remarks[name].startswith("not marked: ")
        assert why in remarks[name]
    pages = [row["page"] for row in table]
    assert len({*pages}) == len(table) == len(good) + len(odd)
    assert {path.name for path in out.glob("*.md")} == {*pages}
    assert f"15 submissions, {len(odd)} of them not marked" in capsys.readouterr().out


def test_pages_never_share_a_name():
    paths = ["dup/a", "dup_a", "dup a", "dup.a", "dup/a_", "x" * 200, "x" * 201, "=", "+", "a", "ä"]
    paths = [f"{path}.ipynb" for path in paths] + ["a", "a.IPYNB", "a.ipynb.ipynb", "\udcff.ipynb"]
    names = {journal.page_name(path) for path in paths}
    assert len(names) == len(paths)
    assert all(len(os.fsencode(f"{name}.json")) < 255 and "/" not in name for name in names)
    assert journal.page_name("ada/work.ipynb") == "ada_work"
    taken = journal.page_name("dup_a.ipynb")
    assert journal.page_name(f"{taken}.ipynb") != taken


@pytest.mark.usefixtures("quick")
def test_one_that_breaks_the_marker_does_not_stop_it(tmp_path, monkeypatch):
    hand_in(tmp_path / "in", "a.ipynb", "b.ipynb")
    usual = mark.mark

    def fails(path, *rest):
        return usual(path, *rest) if path.stem == "b" else 1 / 0

    monkeypatch.setattr(mark, "mark", fails)
    first, second = mark.mark_all(tmp_path / "in", tmp_path / "out", SEED)
    assert "the marker failed on it: ZeroDivisionError" in first.refused
    assert second.got == {"1": 2}
    monkeypatch.setattr(mark, "mark", usual)
    first, _ = mark.mark_all(tmp_path / "in", tmp_path / "out", SEED)
    assert first.got == {"1": 2}, "it is tried again"


# --- what a page and a table may hold

HOSTILE = (
    '<script>alert(1)</script> <img src="https://evil.example/a.png"> ![x](https://evil.example/b) '
    "![y][z] [click](javascript:alert(2)) <IMG SRC=x onerror=alert(3)> <svg/onload=alert(4)>"
)


def test_a_page_holds_no_markup_of_others():
    found = mark.Mark(f"a{HOSTILE}", {"1": 0}, [f"Question 1: {HOSTILE}"], {"6": HOSTILE})
    found.remarks, found.answers["7"] = [f"Cell 3: {HOSTILE}"], f"</pre>\n\n{HOSTILE}\n[z]: //e"
    for m in (found, mark.Mark("x", refused=HOSTILE)):
        page = mark._page(m).replace("<pre>\n", "").replace("\n</pre>\n", "\n")
        assert "<" not in page
        assert ">" not in page
        assert "[" not in page, "neither a link nor an image"
        assert "&lt;script&gt;" in page
        assert "evil.example" not in page
    assert "1 &lt; 2" in mark._page(mark.Mark("x", answers={"6": "1 < 2"}))


FORMULAS = ("=1+1", "+1", "-1", "@SUM(1)", "＝1+1", "＋1", "－1", "＠x", "﹦1")
WAYS_IN = ("", " ", "\t", "\r", "\n", "x;", "x; ", "x,", "x\t", "x\n", "x|", 'x"', "x'")


def test_no_entry_begins_a_formula():
    """However a spreadsheet cuts the line: at semicolons, commas, tabs, quotes or ends of lines."""
    for begin, way in itertools.product(FORMULAS, WAYS_IN):
        entry = mark._no_formula(f"{way}{begin}")
        for cell in re.split(r"[;,\t\r\n|\"]", entry):
            assert not cell.strip().startswith(tuple(f[0] for f in FORMULAS)), (way, begin, entry)
    assert mark._no_formula(3) == 3
    assert mark._no_formula("2 of 3; well-formed = yes") == "2 of 3; well-formed = yes"
