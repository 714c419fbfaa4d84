"""What is behind the button that runs a page: its cells, our package, and how cells run."""

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import matplotlib.pyplot as plt
import nbformat
import pytest
import yaml
from sitefiles import ROOT

import pyodide_folder
import run_page

PAGE = "book/order-blindness"
PAGES = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["run_pages"]


@pytest.fixture(scope="module")
def wheel():
    return run_page.wheel()


@pytest.fixture
def cells(monkeypatch):
    """Return a function that runs a cell: what it told, and its outputs."""
    plt.close("all")  # what another test left open would be shown
    for name in ("IPython", "IPython.display"):
        monkeypatch.setitem(sys.modules, name, None)
    sent = []
    kernel = run_page.notebook_module().Kernel(lambda output: sent.append(json.loads(output)))

    def run(code):
        sent.clear()
        return json.loads(kernel.run(code, "cell 1")), list(sent)

    run.kernel = kernel
    return run


def fake(tmp_path, pages=PAGES, source="_static/pyodide"):
    """Return what the extension needs to know of Sphinx."""
    environment = SimpleNamespace(
        doc2path=lambda name: str(ROOT / f"{name}.ipynb"), posenc_run="abc", found_docs=set(pages)
    )
    linked = []
    return SimpleNamespace(
        config=SimpleNamespace(run_pages=pages, run_source=source, book_edition="full"),
        env=environment,
        outdir=str(tmp_path),
        builder=SimpleNamespace(format="html"),
        linked=linked,
        add_css_file=lambda name: linked.append(name),
        add_js_file=lambda name, **_: linked.append(name),
    )


def body(page):
    """Return as much of a page as the extension looks at."""
    n = len(run_page.cells((ROOT / f"{page}.ipynb").read_text()))
    return "<h1>A</h1><p><strong>Time:</strong> about 1 minute.</p>" + '<div class="cell x">' * n


# --- our package


def test_the_same_package_gives_the_same_wheel_and_its_record_is_true(wheel):
    assert run_page.wheel() == wheel
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
        lines = archive.read(record).decode().splitlines()
        assert {line.split(",")[0] for line in lines} == set(archive.namelist())
        for line in lines[:-1]:
            name, checksum, size = line.split(",")
            content = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert (f"sha256={found.decode()}", str(len(content))) == (checksum, size)


def test_the_wheel_has_every_module_and_no_results(wheel):
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        names = set(archive.namelist())
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in modules if "/quantities/" not in name} <= names
    assert not [name for name in names if name.startswith("posenc_book/results/")]
    assert len(wheel) < 1.35e6  # beside some 14 MB of Python and NumPy that a page loads


def test_the_package_works_from_the_wheel_alone(wheel, tmp_path):
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        archive.extractall(tmp_path)
    code = (
        "import sys, posenc; from posenc_book.audit.claims import show\n"
        "from posenc_book import explorables\n"
        "from importlib.metadata import version; show('B1'), explorables.make('shuffle').html()\n"
        "print(posenc.__file__, version('posenc') == posenc.__version__, 'scipy' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert run.stdout.split() == [str(tmp_path / "posenc" / "__init__.py"), "True", "False"]


# --- pages


def test_the_button_stands_below_the_time_and_the_cells_lie_beside_the_site(tmp_path):
    app, context = fake(tmp_path), {"body": body(PAGE)}
    run_page.button(app, PAGE, "", context, None)
    assert context["body"].index("about 1 minute") < context["body"].index("posenc-run")
    assert context["body"].index("posenc-run") < context["body"].index('class="cell')
    assert 'data-folder="../_static/run/"' in context["body"]
    assert app.linked == ["run/run.css", "run/run.js"]
    plan = json.loads((tmp_path / "_static" / "run" / "pages" / f"{PAGE}.json").read_text())
    assert plan["source"] == "_static/pyodide/"
    assert plan["cells"][1]["code"].startswith("import numpy as np\n\n\ndef softmax")
    assert not any("find_spec" in cell["code"] for cell in plan["cells"])
    assert [cell["shown"] for cell in plan["cells"][:2]] == [False, True]
    wheels = [file.split("-")[0] for file in plan["wheels"]]
    assert "numpy" in wheels
    assert "scipy" not in wheels


def test_the_student_edition_runs_no_solutions(tmp_path):
    app, context = fake(tmp_path), {"body": body(PAGE)}
    app.config.book_edition = "student"
    run_page.button(app, PAGE, "", context, None)
    plan = json.loads((tmp_path / "_static" / "run" / "pages" / f"{PAGE}.json").read_text())
    code = "\n".join(cell["code"] for cell in plan["cells"])
    assert "def check_pooling" in code
    assert "check_pooling(lambda rows: rows[0])" not in code


def test_pages_are_written_again_when_what_is_behind_the_button_changes(tmp_path):
    app = fake(tmp_path)
    assert sorted(run_page.pages_again(app, app.env)) == sorted(PAGES)
    assert run_page.pages_again(app, app.env) == []
    app.config.run_source = "_static/elsewhere"
    assert sorted(run_page.pages_again(app, app.env)) == sorted(PAGES)


def test_a_package_without_a_checksum_is_refused():
    with pytest.raises(ValueError, match="pandas"):
        run_page.files(["numpy", "pandas"])


def test_pages_with_the_button_exist_and_need_no_torch():
    assert len(PAGES) >= 5
    for page in PAGES:
        cells = run_page.cells((ROOT / f"{page}.ipynb").read_text())
        assert cells
        assert not [c for c in cells if re.search(r"\b(?:import|from) torch\b", c["code"])]


def test_another_wheel_than_the_lock_file_names_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(pyodide_folder, "CACHE", tmp_path)
    monkeypatch.setattr(pyodide_folder, "_official", lambda file: b"something else")
    with pytest.raises(SystemExit, match="is not what Pyodide's lock file names"):
        pyodide_folder.wheel("a.whl", "0" * 64)


# --- cells


def test_a_chapter_gives_its_stored_outputs_in_this_python(cells):
    """The browser is tested elsewhere; this says that cells run here as notebooks run them."""
    text = (ROOT / f"{PAGE}.ipynb").read_text()
    for cell in run_page.cells(text):
        told, outputs = cells(cell["code"])
        assert told["ok"], outputs[-1]["text"]
        assert told["digest"] == cell["stored"], cell["code"]


def test_the_last_expression_is_shown_unless_a_semicolon_ends_it(cells):
    told, outputs = cells("a = 2\na + 1")
    assert told["ok"]
    assert outputs[0]["data"] == {"text/plain": "3"}
    assert cells("a + 1;")[1] == []
    assert cells("None")[1] == []


def test_prints_come_in_order_and_what_is_too_much_is_cut(cells):
    _, outputs = cells("import sys\nprint('one')\nprint('two', file=sys.stderr)")
    assert {o["name"] for o in outputs} == {"stdout", "stderr"}
    _, outputs = cells("for i in range(10):\n    print('x' * 50_000)")
    text = "".join(output["text"] for output in outputs)
    assert len(text) < 201_000
    assert text.endswith("[the rest is left out]\n")


def test_an_error_is_told_with_the_lines_of_the_cell_only(cells):
    told, outputs = cells("def f(x):\n    return 1 / x\n\nf(0)")
    assert not told["ok"]
    text = outputs[-1]["text"]
    assert "return 1 / x" in text
    assert "f(0)" in text
    assert text.endswith("ZeroDivisionError: division by zero")
    assert "notebook.py" not in text
    told, outputs = cells("from posenc import tables\ntables.sinusoidal(3, -1)")
    assert outputs[-1]["ename"] == "ValueError"
    assert len(outputs[-1]["text"].splitlines()) < 12


@pytest.mark.parametrize(
    ("code", "name"),
    [("1 +", "SyntaxError"), ("raise SystemExit(3)", "SystemExit"), ("%pip list", "SyntaxError")],
)
def test_no_cell_ends_the_program(cells, code, name):
    told, outputs = cells(code)
    assert not told["ok"]
    assert outputs[-1]["ename"] == name
    assert cells("1 + 1")[0]["ok"]


def test_figures_of_the_reader_are_shown_and_closed(cells):
    pytest.importorskip("matplotlib")
    _, outputs = cells("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    shown = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(shown) == 1
    assert cells("1")[1][0]["data"] == {"text/plain": "1"}


def test_imports_of_a_cell_are_known_before_it_runs(cells):
    code = "import numpy.linalg\nfrom scipy import stats\nfrom . import x"
    assert json.loads(cells.kernel.imports(code)) == ["numpy", "scipy"]
    assert json.loads(cells.kernel.imports("1 +")) == []


def test_a_digest_sees_every_digit_and_no_pixel():
    digest = run_page.notebook_module().digest

    def stream(text):
        return nbformat.v4.new_output("stream", name="stdout", text=text)

    def data(**kinds):
        return nbformat.v4.new_output("display_data", data=kinds)

    assert digest([stream("0.12\n"), stream("b")]) == digest([stream("0.12\nb")])
    assert digest([stream("0.12")]) != digest([stream("0.13")])
    plain = {"text/plain": "[figure: a]"}
    assert digest([data(**plain, **{"image/png": "x"})]) == digest(
        [data(**plain, **{"image/png": "y"})]
    )
    assert digest([data(**plain)]) != digest([data(**plain, **{"image/png": "y"})])
    assert digest([data(**{"application/javascript": "a()"})]) == digest([])
