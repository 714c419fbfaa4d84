"""The form of the notebooks. That their outputs are right is for nbval to say."""

import re
import subprocess
import sys
from importlib.util import find_spec
from statistics import median

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from sitefiles import ROOT, notebook_paths

import notebooks

MOST_LINES = 20  # of a code cell
MEDIAN_LINES = 7  # over the cells of the whole book that the site shows open
HIDDEN = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
OPT_OUT = {"nbval-ignore-output", "nbval-skip"}
N_OPT_OUTS = 14  # data not shipped, a time, a training; raise it only with a reason in the metadata
PATHS = notebook_paths()
BOOK = {path.stem: nbformat.read(path, as_version=4) for path in PATHS}

every_notebook = pytest.mark.parametrize("name", BOOK)


def code(name: str) -> list:
    return [cell for cell in BOOK[name].cells if cell.cell_type == "code"]


def lines(cell) -> int:
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def images(cell) -> list:
    kinds = ("image/png", "image/svg+xml", "image/jpeg")
    return [o for o in cell.outputs if any(kind in o.get("data", {}) for kind in kinds)]


def listed(pattern: str, text: str) -> set[str]:
    """Return the notebooks that the globs in a piece of a file name."""
    globs = re.search(pattern, text)[1].split()
    return {p.relative_to(ROOT).as_posix() for glob in globs for p in ROOT.glob(glob)}


def test_every_notebook_that_git_tracks_is_run_again():
    """What a glob leaves out goes untested without a word."""
    command = ["git", "-C", str(ROOT), "ls-files", "--", "*.ipynb"]
    tracked = {*subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()}
    assert tracked == {path.relative_to(ROOT).as_posix() for path in PATHS}
    assert len(BOOK) == len(PATHS), "no two of one name"
    make, workflows = (ROOT / "Makefile").read_text(), ROOT / ".github" / "workflows"
    assert listed(r"NOTEBOOKS := \$\(wildcard (.*)\)", make) == tracked
    assert "--nbval $(NOTEBOOKS)" in make
    running = [p.read_text() for p in sorted(workflows.glob("*.yml")) if "--nbval" in p.read_text()]
    assert len(running) == 1  # the one for Colab asks its tool for all of them
    assert "python tools/colab.py run'\n" in (workflows / "colab.yml").read_text()
    for text in running:
        assert listed(r"--nbval\S* (.*?) -n", text) == tracked
    assert set(notebooks.chosen(None)) == {*PATHS}


@every_notebook
def test_first_code_cell_is_the_set_up_cell(name):
    first, *rest = code(name)
    assert first.source == notebooks.setup_source()
    assert first.metadata["tags"] == notebooks.SETUP_TAGS
    assert not any(notebooks.is_setup(cell) for cell in rest)


class Computer:
    """Runs the set-up cell where pip does as told, and the package is where `spec` says."""

    def __init__(self, monkeypatch, specs):
        self.specs, self.installed, others = iter(specs), [], find_spec
        monkeypatch.setattr(
            "importlib.util.find_spec",
            lambda name, *rest: next(self.specs) if name == "posenc_book" else others(name, *rest),
        )
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # IPython warns of one that it is not in
        self.shell = InteractiveShell()
        self.shell.register_magic_function(self.installed.append, "line", "pip")

    def run(self):
        return self.shell.run_cell(notebooks.setup_source()).error_in_exec


@pytest.mark.parametrize(("platform", "n_installs"), [(sys.platform, 1), ("emscripten", 0)])
def test_set_up_says_what_to_do_where_the_package_cannot_be_had(
    monkeypatch, capsys, platform, n_installs
):
    """Without a network pip only prints; that of a browser knows no git, and is not asked."""
    monkeypatch.setattr("sys.platform", platform)
    computer = Computer(monkeypatch, [None, None])
    error = computer.run()
    assert isinstance(error, ModuleNotFoundError)
    assert f"'pip install ./src .' in a copy of {notebooks.address()}" in str(error)
    assert len(computer.installed) == n_installs
    capsys.readouterr()


@pytest.mark.parametrize(("specs", "n_installs"), [(["here", "here"], 0), ([None, "here"], 1)])
def test_set_up_adds_the_package_only_where_it_is_missing(monkeypatch, specs, n_installs):
    computer = Computer(monkeypatch, specs)
    assert computer.run() is None
    assert len(computer.installed) == n_installs


@every_notebook
def test_is_valid_starts_with_one_title_and_ran_from_top_to_bottom(name):
    nbformat.validate(BOOK[name])
    titles = [c for c in BOOK[name].cells if c.cell_type == "markdown" and c.source[:2] == "# "]
    assert titles == [BOOK[name].cells[0]]
    counts = [cell.execution_count for cell in code(name)]
    assert counts == list(range(1, len(counts) + 1))
    assert not [o for cell in code(name) for o in cell.outputs if o.output_type == "error"]


@every_notebook
def test_stored_form_is_that_of_the_tool(name):
    stored = nbformat.writes(BOOK[name])
    notebook = nbformat.reads(stored, as_version=4)
    notebooks.tidy(notebook)
    assert nbformat.writes(notebook) == stored


def test_cells_are_short_and_shorter_in_the_median():
    cells = [cell for name in BOOK for cell in code(name)]
    assert [cell.source for cell in cells if lines(cell) > MOST_LINES] == []
    shown = [cell for cell in cells if not HIDDEN & {*cell.metadata.get("tags", [])}]
    assert median(map(lines, shown)) <= MEDIAN_LINES


@every_notebook
def test_every_image_is_described(name):
    for cell in code(name):
        for output in images(cell):
            figure = output.metadata.get("posenc", {})
            assert len(figure.get("alt", "").split()) >= 3, cell.source
            assert figure["caption"], cell.source
            assert cell.metadata["mystnb"]["image"]["alt"] == figure["alt"]
            assert cell.metadata["mystnb"]["figure"]["caption"] == figure["caption"]
            assert cell.metadata["mystnb"]["figure"]["name"] == figure["name"]


@every_notebook
def test_outputs_hold_no_path_of_a_machine_no_warning_and_no_long_line(name):
    for cell in code(name):
        for output in cell.outputs:
            text = str(output)
            assert output.get("name") != "stderr", text
            assert "Warning" not in text
            assert "site-packages" not in text
            shown = output.get("data", {})
            plain = shown.get("text/plain", "") if set(shown) == {"text/plain"} else ""
            printed = (output.get("text", "") + plain).splitlines()
            assert [line for line in printed if len(line) > 100] == []


def test_cells_that_opt_out_of_comparison_are_counted_and_say_why():
    cells = [c for name in BOOK for c in code(name) if OPT_OUT & set(c.metadata.get("tags", []))]
    assert [c.source for c in cells if len(c.metadata.get("reason", "").split()) < 4] == []
    assert len(cells) == N_OPT_OUTS


def test_two_figures_in_one_cell_are_refused():
    kinds = [{"posenc": {"name": name}} for name in ("fig-one", "fig-two")]
    outputs = [nbformat.v4.new_output("display_data", metadata=kind) for kind in kinds]
    with pytest.raises(ValueError, match="fig-two"):
        notebooks.figure_metadata(nbformat.v4.new_code_cell("", outputs=outputs))


def test_running_a_notebook_twice_gives_the_same_bytes(tmp_path):
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        nbformat.v4.new_code_cell("print('one')\nprint('two')"),
        nbformat.v4.new_code_cell("1 + 1"),
    ]
    path = tmp_path / "notebook.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    notebooks.store(path)
    once = path.read_bytes()
    notebooks.store(path)
    assert path.read_bytes() == once
    assert "two" in once.decode()


def test_a_cell_that_fails_is_reported_and_nothing_is_written(tmp_path):
    path = tmp_path / "notebook.ipynb"
    cells = [nbformat.v4.new_code_cell("raise RuntimeError('as expected')")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    before = path.read_bytes()
    with pytest.raises(notebooks.CellExecutionError, match="as expected"):
        notebooks.store(path)
    assert path.read_bytes() == before


@every_notebook
def test_a_hidden_mark_leaves_no_space_before_a_full_stop(name):
    prose = "\n".join(cell.source for cell in BOOK[name].cells if cell.cell_type == "markdown")
    prose = re.sub(r"^- \*\*Verdicts:\*\*.*$", "", prose, flags=re.MULTILINE)  # marks alone
    assert re.findall(r"(\S+) <sup>\[\S (?:(?!</sup>).)*</sup>[.,;:]", prose) == []
