"""Whoever follows ADDING.md gets what it promises: its blocks are followed in a copy.

Then style and units of `make test` must pass there, chosen as the Makefile chooses them.
The blocks are taken from the page as they stand there. Notebooks that the steps run whole are run
for their new cells only, the atlas is made without being run, and trainings run without workers,
unless POSENC_WHOLE is set.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
import pytest
from sitefiles import ROOT

import repository

PAGE = (ROOT / ".github" / "ADDING.md").read_text(encoding="utf-8")
WHOLE = bool(os.environ.get("POSENC_WHOLE"))
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LABELS = {
    "write": re.compile(r"New file `([^`]+)`:$"),
    "append": re.compile(r"At the end of `([^`]+)`[^`]*:$"),
    "insert": re.compile(r"In `([^`]+)`:$"),
    "cell": re.compile(r"New cell at the end of `([^`]+)`:$"),
    "change": re.compile(r"Changed cell `(\w+)` in `([^`]+)`:$"),
}
# What commands of the steps write: generated files, which belong to the change.
WRITTEN = {
    "Add an encoding": {
        "src/posenc/README.md",
        "src/posenc/encodings/README.md",
        "tests/torch/README.md",
        "src/posenc_book/bench/fingerprints.json",
        "tools/sizes.toml",
        "book/api/encodings.md",
        "book/atlas.ipynb",
        "book/atlas/distances.ipynb",
        "book/atlas/compared.ipynb",
    },
    "Add a data set": {
        "src/posenc_book/data/checksums.sha256",
        "src/posenc_book/data/measured.json",
        "tools/sizes.toml",
    },
    "Add a chapter": {"README.md", "book/intro.ipynb", "book/two-clocks.ipynb"},
    "Add an explorable": {
        "src/posenc_book/explorables/README.md",
        "src/posenc_book/explorables/scripts/README.md",
        "src/posenc_book/README.md",
        "tools/sizes.toml",
    },
    "Add a claim": {"src/posenc_book/audit/ledger.json"},
}
# Where tests find data and texts: as in any other run of them on this machine.
FOR_TESTS = {"POSENC_DATA", "POSENC_SOURCES", "POSENC_CACHE", "POSENC_OFFLINE"} & os.environ.keys()
NEW_CELLS = """
import sys, nbformat, notebooks
from pathlib import Path

path, n_first = Path(sys.argv[1]), int(sys.argv[2])  # that set up what the new ones use
notebook = nbformat.read(path, 4)
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
new = [cell for cell in code if cell.execution_count is None]
if new:
    notebooks.execute(nbformat.v4.new_notebook(cells=[*code[:n_first], *new]))
for number, cell in enumerate(code, 1):
    cell.execution_count = number
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = number
notebooks.tidy(notebook)
path.write_text(nbformat.writes(notebook) + "\\n", encoding="utf-8")
"""
# The pages with the outputs that they had; `NEW_CELLS` runs the rest.
ATLAS = """
import atlas, nbformat, notebooks
from nbformat.v4 import new_notebook

pages = atlas.pages()
for page in atlas.outdated():
    path, notebook = atlas.path(page), new_notebook(cells=pages[page])
    stored = {cell.source: cell for cell in nbformat.read(path, 4).cells}
    notebooks.with_setup(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source in stored:
            cell.update(outputs=stored[cell.source].outputs, execution_count=1)
    nbformat.write(notebook, path)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    setting = atlas.SETTING.strip("\\n")
    print(path, 1 + sources.index(setting) if setting in sources else len(sources))
"""


ROW = "import json; from posenc_book.audit import ledger; print(json.dumps(ledger.row('B900')))"


@dataclass(frozen=True)
class Step:
    """One block of the page: what is to be done, with which file, and the block's text."""

    kind: str
    file: str
    text: str
    language: str
    cell: str = ""


def section(title: str) -> str:
    """Return the text below a heading of the second order."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def steps(title: str) -> list[Step]:
    """Return what a section says is to be done, in its order."""
    found, end, text = [], 0, section(title)
    for fence in FENCE.finditer(text):
        before, block = text[end : fence.start()], textwrap.dedent(fence[3])
        found.append(step(" ".join(before.split()), fence[2], block))
        end = fence.end()
    return found


def step(before: str, language: str, block: str) -> Step:
    """Return the step of one block, which the words before it explain."""
    if language == "bash":
        return Step("run", "", block, language)
    for kind, label in LABELS.items():
        if said := label.search(before):
            return Step(kind, said.groups()[-1], block, language, said[1])
    raise AssertionError(f"the page does not say what to do with this block: {block}")


class Copy:
    """A copy of the repository in which the steps are followed."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("POSENC_", "PYTEST"))}
        plain |= {
            "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder / "tools")]),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "OMP_NUM_THREADS": "1",
        }
        self.environment = {**plain, "POSENC_OFFLINE": "1", **environment}
        self.of_tests = {**plain, **{k: os.environ[k] for k in FOR_TESTS}, **environment}
        self.followed: list[str] = []
        repository.copy_to(folder)
        self._git("init", "--quiet")
        self._git("add", "--all")
        self._git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "Copy")

    def _git(self, *arguments: str) -> None:
        command = ["git", "-C", str(self.folder), *arguments]
        subprocess.run(command, capture_output=True, check=True)

    def contents(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in repository.files(self.folder)}

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def run(self, *command: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=env or self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def python(self, code: str, *arguments: str) -> str:
        return self.run(sys.executable, "-c", code, *arguments).strip()

    def make_test(self) -> int:
        """Run style and units of `make test` in the copy; return how many tests passed."""
        return passed(
            [self.run(*line, env=self.of_tests) for line in style_and_units(self.folder)][-1]
        )

    def tests(self, *arguments: str) -> int:
        options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
        return passed(self.run(sys.executable, "-m", "pytest", *options, *arguments))

    def follow(self, title: str) -> list[str]:
        """Do all steps of a section, which change what it promises; return what commands print."""
        before = self.contents()
        said = [line for one in steps(title) for line in self._do(one)]
        after = self.contents()
        changed = {name for name in after if before.get(name) != after[name]}
        named = {one.file for one in steps(title) if one.file}
        assert named <= changed <= named | WRITTEN.get(title, changed)
        self.followed.append(title)
        return said

    def _do(self, one: Step) -> list[str]:
        if one.kind == "run":
            return [self._command(line) for line in one.text.splitlines()]
        path = self.folder / one.file
        if one.kind == "write":
            assert not path.exists(), f"{one.file} is there already"
            path.write_text(one.text, encoding="utf-8")
        elif one.kind == "append":
            assert path.read_text(encoding="utf-8").endswith("\n")
            path.write_text(path.read_text(encoding="utf-8") + one.text, encoding="utf-8")
        elif one.kind == "insert":
            path.write_text(inserted(path.read_text(encoding="utf-8"), one.text), encoding="utf-8")
        else:
            with_cell(path, one)
        return []

    def _command(self, line: str) -> str:
        """Run a line of a block, long notebooks for their new cells only."""
        if not WHOLE and (only := re.fullmatch(r"python tools/notebooks.py --only (\S+)", line)):
            [path] = (self.folder / "book").rglob(f"{only[1]}.ipynb")
            return self.python(NEW_CELLS, str(path), "2")
        if not WHOLE and line == "python tools/atlas.py":
            made = self.python(ATLAS).splitlines()
            return "\n".join(self.python(NEW_CELLS, *page.split()) for page in made)
        if not WHOLE and line.startswith("posenc bench run "):
            line += " --engine serial"
        return self.run("bash", "-c", line)


def passed(said: str) -> int:
    return int(re.search(r"(\d+) passed", said)[1])


def style_and_units(folder: Path) -> list[list[str]]:
    """Return the commands of `make test` up to the units, as its Makefile writes them."""
    own = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "SLOW")}
    bin_ = Path(sys.executable).parent
    make = ["make", "--dry-run", "--directory", str(folder), "test", f"BIN={bin_}"]
    said = subprocess.run(make, env=own, capture_output=True, text=True, check=True).stdout
    begin, end = said.index('echo "== style"'), said.index('echo "== notebooks')
    lines = [line for line in said[begin:end].splitlines() if line.startswith(f"{bin_}/")]
    return [shlex.split(line) for line in lines]


def inserted(text: str, block: str) -> str:
    """Return a file's text with the lines of a block that have a `+`, each below its neighbour.

    A line with a `-` goes, and the next one takes its place.
    """
    lines, below = text.splitlines(), None
    for line in block.splitlines():
        if line.startswith("+"):
            assert below is not None, f"no line stands above {line!r}"
            below += 1
            lines.insert(below, line[1:])
        else:
            old = line.removeprefix("-").strip()
            places = [i for i, other in enumerate(lines) if other.strip() == old]
            assert len(places) == 1, f"{old!r} stands {len(places)} times in the file"
            [below] = places
            if line.startswith("-"):
                del lines[below]
                below -= 1
    return "\n".join(lines) + "\n"


def with_cell(path: Path, one: Step) -> None:
    """Put a new cell at the end of a notebook, or change the one that judges a claim."""
    notebook, source = nbformat.read(path, 4), one.text.strip("\n")
    if one.kind == "change":
        [cell] = [c for c in notebook.cells if c.cell_type == "code" and one.cell in c.source]
        cell.update(source=source, outputs=[], execution_count=None)
    elif one.language == "markdown":
        notebook.cells.append(nbformat.v4.new_markdown_cell(source))
    else:
        notebook.cells.append(nbformat.v4.new_code_cell(source))
    nbformat.write(notebook, path)


def test_every_block_of_the_page_says_what_to_do_with_it():
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert titles == [*WRITTEN, "Contest a claim"]
    assert all(len(steps(title)) >= 3 for title in titles)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy in which the sections are followed, one after the other, by the tests below."""
    data, cache = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("cache")
    olive_oil(data)
    return Copy(tmp_path_factory.mktemp("copy"), POSENC_DATA=str(data), POSENC_CACHE=str(cache))


def olive_oil(folder: Path) -> None:
    """Write files of the sizes of OliveOil into a folder of data, beside the sets that are here."""
    if "POSENC_DATA" in os.environ:
        for path in Path(os.environ["POSENC_DATA"]).iterdir():
            if path.name != "OliveOil":
                (folder / path.name).symlink_to(path.resolve())
    rng = np.random.default_rng(0)
    (folder / "OliveOil").mkdir(parents=True)  # new: what is linked is nobody's to write into
    for part in ("TRAIN", "TEST"):
        rows = [",".join(f"{x:.3f}" for x in row) for row in rng.normal(size=(30, 570))]
        head = (
            "@problemName OliveOil\n@univariate true\n@equalLength true\n@classLabel true 0 1 2 3\n"
        )
        cases = "".join(f"{row}:{i % 4}\n" for i, row in enumerate(rows))
        (folder / "OliveOil" / f"OliveOil_{part}.ts").write_text(f"{head}@data\n{cases}")


@pytest.mark.slow
def test_an_encoding(copy):
    copy.follow("Add an encoding")
    code = "from posenc import encodings; print(encodings.names('modern')[-1])"
    assert copy.python(code) == "parabola"
    assert "(card-parabola)=" in copy.read("book/atlas/distances.ipynb")
    assert "[Parabola](#card-parabola)" in copy.read("book/atlas.ipynb")
    assert "Parabola" in copy.read("book/api/encodings.md")
    lines = copy.read("_build/mine.jsonl").splitlines()
    records = {one["encoding"]: one for one in map(json.loads, lines)}
    assert records.keys() == {"none", "parabola"}
    assert 0 <= records["parabola"]["metrics"]["accuracy"] <= 1


@pytest.mark.slow
def test_a_data_set(copy):
    _, new, _, verified, told, *_ = copy.follow("Add a data set")
    assert new == "OliveOil: 2 new checksums\n"
    assert "2 agree, 0 unknown, 0 differ" in verified
    assert "note: a note on what a reader should know" in told
    code = "from posenc_book import data; print('OliveOil' in data.names('archive'))"
    assert copy.python(code) == "True"
    counted = json.loads(copy.read("src/posenc_book/data/measured.json"))
    before = json.loads((ROOT / "src/posenc_book/data/measured.json").read_text())
    sizes = [[8, 8], [8, 8], [7, 7], [7, 7]]
    assert list(counted["sets"].pop("OliveOil")["class_counts"].values()) == sizes
    assert counted == before


@pytest.mark.slow
def test_a_chapter(copy):
    *_, shapes, _ = copy.follow("Add a chapter")
    assert "two-clocks" in shapes
    assert "two-clocks: states" not in shapes


@pytest.mark.slow
def test_an_explorable(copy):
    copy.follow("Add an explorable")
    gallery = nbformat.reads(copy.read("book/explorables.ipynb"), 4).cells[-1]
    assert 'data-name="one-wave"' in gallery.outputs[0].data["text/html"]
    compared = "test_every_figure_has_its_mathematics_compared"
    assert copy.tests("tests/site/test_explorables_browser.py", "-k", compared) == 1


@pytest.mark.slow
def test_a_claim(copy):
    copy.follow("Add a claim")
    found = json.loads(copy.python(ROW))
    assert found["verdict"] == "confirmed"
    assert found["anchor"] == "audit/first-principles.ipynb#claim-B900"


@pytest.mark.slow
def test_all_of_this_passes_make_test(copy):
    assert copy.followed == [*WRITTEN], "the tests above follow the sections"
    assert copy.make_test() > 5000


@pytest.mark.slow
def test_a_contest(copy):
    chapter = copy.folder / "book" / "oscillations.ipynb"
    notebook = nbformat.read(chapter, 4)
    notebook.cells[-1].source += " <sup>[B900]()</sup>"
    nbformat.write(notebook, chapter)
    [anchor, *_] = copy.follow("Contest a claim")
    assert anchor.strip() == "audit/first-principles.ipynb#claim-B900"
    contested = json.loads(copy.python(ROW))
    assert contested["verdict"] == "refuted"
    assert contested["condition"].startswith("It holds up to ")
    assert "<sup>[✗ B900](" in nbformat.read(chapter, 4).cells[-1].source
