"""What a stranger installs: the files of the wheel and of the source archive, and its errors."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import release
from posenc_book import _extras

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns("*.egg-info", "__pycache__")  # which tests write at any moment
KEPT = ("src", "results", "tests", "tools", "benchmarks", "peers", "experiments")
LOOSE = ("*.toml", "*.py", "*.md", "*.in", "*.txt", "*.cff", "*.yml", "LICENSE*", "Makefile")


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    for name in KEPT:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    for path in (path for pattern in LOOSE for path in ROOT.glob(pattern)):
        shutil.copy(path, folder)
    (folder / "dist").mkdir()
    release.make_distributions(folder, folder / "dist")
    return folder / "dist"


def content_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def wheel(archives):
    return content_of(next(archives.glob("posenc_book-*.whl")))


@pytest.fixture(scope="module")
def wheel_of_the_library(archives):
    return content_of(next(archives.glob("posenc-*.whl")))


@pytest.fixture(scope="module")
def sdist(archives):
    with tarfile.open(next(archives.glob("posenc_book-*.tar.gz"))) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_wheel_holds_types_licences_and_results_but_no_loose_script(wheel):
    assert "posenc_book/py.typed" in wheel
    licences = {Path(name).name for name in wheel if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "LICENSE-text"}
    for name in ("costs", "edition", "peers", "published-modules"):
        assert f"posenc_book/results/{name}.json" in wheel
    stored = {path.relative_to(ROOT).as_posix() for path in (ROOT / "results").rglob("*.json*")}
    assert {f"posenc_book/{name}" for name in stored} <= {*wheel}
    assert not [name for name in wheel if name.startswith("posenc_book/results/") and ".py" in name]
    assert not [name for name in wheel if name.startswith(("tests/", "tools/"))]


def test_wheel_holds_every_module_and_every_data_file_of_the_package(wheel):
    for_github = {name for name in of_source("posenc_book") if name.endswith("README.md")}
    assert of_source("posenc_book") - for_github <= set(wheel)
    assert "posenc_book/plans/README.md" not in wheel


def of_source(house):
    return {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / house).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_librarys_wheel_holds_the_library_and_nothing_else(wheel_of_the_library):
    held = {name for name in wheel_of_the_library if ".dist-info/" not in name}
    assert held == of_source("posenc")
    licences = [name for name in wheel_of_the_library if name.endswith("/licenses/LICENSE")]
    assert [wheel_of_the_library[name] for name in licences] == [(ROOT / "LICENSE").read_bytes()]


@pytest.mark.parametrize("house", ["wheel", "wheel_of_the_library"])
def test_readme_of_a_wheel_shows_its_pictures_anywhere(house, request):
    files = request.getfixturevalue(house)
    metadata = next(text for name, text in files.items() if name.endswith("METADATA")).decode()
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", metadata)
    assert pictures
    assert all(address.startswith("https://") for address in pictures)
    assert "Classifier: Typing :: Typed" in metadata


def test_source_archive_holds_what_the_tests_need(sdist):
    wanted = {"tests/core/test_packaging.py", "tools/ledger.py", "results/edition.json", "Makefile"}
    wanted |= {"src/posenc/README.md", "src/posenc/four-doors.svg"}
    assert wanted | {"CHANGELOG.md", "SECURITY.md", "LICENSE", "LICENSE-text"} <= sdist


# --- the library without the rest

MATHEMATICS = """
import sys
import posenc
from posenc import faithfulness, fourier, frequencies, rotation, schedules, tables
assert posenc.__file__.startswith(sys.argv[1]), posenc.__file__
omega = frequencies.geometric(8)
table = tables.encode(range(12), omega)
assert faithfulness.decode(table, (rotation.shift_matrix(omega, 3) @ table[5])[None]) == [8]
assert abs(fourier.analyse(table[:, 0])).max() > 0
assert (schedules.yarn(omega, 4.0, 12) <= omega).all()
assert "torch" not in sys.modules
"""
ATTENTION = """
import importlib, pkgutil, sys
import torch
import posenc
from posenc import attention, encodings, models
assert posenc.__file__.startswith(sys.argv[1]), posenc.__file__
for module in pkgutil.walk_packages(posenc.__path__, "posenc."):
    importlib.import_module(module.name)
for name in encodings.names("all"):
    position = encodings.make(name, 16, 2, 8)
    places = torch.arange(8 * position.n_axes).view(8, -1) if position.n_axes > 1 else None
    layer = attention.SelfAttention(16, 2, position)
    assert layer(torch.randn(3, 8, 16), positions=places).shape == (3, 8, 16), name
size = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32}
series = models.TimeSeriesTransformer(4, 5, 8, "rotary", **size)
assert series(torch.randn(3, 8, 4)).shape == (3, 5)
text = models.LanguageModel(11, position="alibi", max_length=8, **size)
assert text(torch.randint(11, (3, 8))).shape == (3, 8, 11)
print("all stood")
"""


@pytest.fixture(scope="module")
def library(wheel_of_the_library, tmp_path_factory):
    """Return a folder with what `pip install posenc` brings."""
    folder = tmp_path_factory.mktemp("library")
    for name, content in wheel_of_the_library.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_the_mathematics_stands_alone_without_torch(library, bare):
    run = run_bare(bare, "-c", MATHEMATICS, str(library), source=library)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def alone(library):
    """Return what runs code where torch is installed and no other copy of `posenc` is found."""
    installed = importlib.metadata.distribution("torch").locate_file("")

    def printed(code):
        arguments = ("-S", "-W", "error", "-c", code, str(library))  # -S: no editable install
        run = run_python(*arguments, path=[library, installed])
        assert run.returncode == 0, run.stderr
        return run.stdout

    return printed


PAGE = ROOT / "src" / "posenc" / "README.md"
SHOWN = [*release.lines(), *release.lines(PAGE)]


@pytest.mark.parametrize(("block", "shown"), SHOWN)
def test_what_readme_and_the_librarys_page_show_runs_and_prints_what_it_says(block, shown, alone):
    assert alone(block) == shown


def test_distributions_are_those_of_one_version_and_the_librarys_wheel_is_small(
    archives, monkeypatch
):
    release.check_distributions(archives, release.version_of())
    with pytest.raises(ValueError, match=r"the distributions must be .*posenc-9\.9\.9"):
        release.check_distributions(archives, "9.9.9")
    monkeypatch.setattr(release, "MOST", 100_000)
    with pytest.raises(ValueError, match=r"none-any\.whl must be below 100,000 bytes, it has "):
        release.check_distributions(archives, release.version_of())


def test_attention_encodings_and_models_stand_alone(alone):
    assert alone(ATTENTION) == "all stood\n"


# --- a package that is missing

OLD_NAME = "from posenc.data import load"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return a folder that holds numpy and scipy and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    for name in ("numpy", "scipy"):
        for entry in {file.parts[0] for file in importlib.metadata.files(name)} - {".."}:
            place = Path(importlib.metadata.distribution(name).locate_file(entry))
            (folder / entry).symlink_to(place)
    return folder


def run_bare(bare, *arguments, source=ROOT / "src"):
    return run_python("-S", *arguments, path=[source, bare])


def run_python(*arguments, path):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        timeout=600,
    )


def modules():
    found = (ROOT / "src").rglob("*.py")
    names = (".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in found)
    return sorted(name.removesuffix(".__init__") for name in names if "__main__" not in name)


def test_every_module_imports_or_names_the_extra_that_it_needs(bare):
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try: importlib.import_module(name)\n"
        "    except ImportError as error: print(name, '|', error)\n"
    )
    run = run_bare(bare, "-c", code, *modules())
    assert run.returncode == 0, run.stderr
    said = dict(line.split(" | ") for line in run.stdout.splitlines())
    assert "posenc.attention" in said
    assert "posenc.tables" not in said
    asks = {"posenc": "pip install 'posenc[", "posenc_book": "pip install 'posenc-book["}
    unhelpful = {name: text for name, text in said.items() if asks[name.split(".")[0]] not in text}
    assert not unhelpful


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["data", "fetch", "Epilepsy"], "pip install 'posenc-book[data]'"),
        (["bench", "run", "--datasets", "range_probe"], "pip install 'posenc-book[bench]'"),
    ],
)
def test_commands_say_what_to_install_in_one_line(bare, tmp_path, monkeypatch, arguments, wanted):
    monkeypatch.setenv("POSENC_CACHE", str(tmp_path))
    monkeypatch.delenv("POSENC_DATA", raising=False)
    monkeypatch.delenv("POSENC_OFFLINE", raising=False)
    run = run_bare(bare, "-m", "posenc", *arguments)
    assert run.returncode in (1, 2)
    assert wanted in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    "arguments", [["-m", "posenc", "bench", "run"], ["-m", "posenc", "data"], ["-c", OLD_NAME]]
)
def test_without_the_books_code_its_commands_say_which_installation_brings_it(
    bare, library, arguments
):
    run = run_bare(bare, *arguments, source=library)
    assert run.returncode
    assert "book's code: pip install posenc-book" in run.stderr


def test_a_name_that_has_moved_warns_and_is_the_same_module(bare):
    code = "import posenc.data.load as old, posenc_book.data.load as new; print(old is new)"
    run = run_bare(bare, "-W", "always", "-c", code)
    assert run.stdout == "True\n"
    assert "posenc.data.load is now posenc_book.data.load; the old name goes in" in run.stderr


def test_figures_say_what_shows_them(bare):
    """Without IPython a figure is made, and cannot be shown."""
    code = "from posenc_book import explorables\nexplorables.show('clock-hands')"
    run = run_bare(bare, "-c", code)
    assert "needs IPython: pip install 'posenc-book[plots]'" in run.stderr


def test_whoever_asks_whether_a_package_is_there_gets_an_answer(bare):
    probe = "import posenc, importlib.util as u; print(u.find_spec('torch'))\nimport torch"
    run = run_bare(bare, "-c", probe)
    assert run.stdout == "None\n"
    assert "posenc[" not in run.stderr  # somebody else's import stays Python's own error


def test_extras_named_in_errors_are_those_of_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(_extras.EXTRAS.values()) <= set(extras)
    named = " ".join(line for lines in extras.values() for line in lines)
    renamed = {"bs4": "beautifulsoup4", "sklearn": "scikit-learn", "requests": "pooch"}
    renamed["IPython"] = "ipython"
    for package in _extras.EXTRAS:
        assert renamed.get(package, package) in named
