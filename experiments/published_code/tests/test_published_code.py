"""Classes of a repository are found without being run, and run without doing harm to the caller."""

import json
import subprocess

import pytest

from experiments.published_code import checkout, definitions
from experiments.published_code.__main__ import main

IMPORTS = "import math, torch\nfrom torch import nn\nimport a_package_that_nobody_has\n"

WAVES = """
def waves(length, width):
    t = torch.arange(length).unsqueeze(1)
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    both = torch.stack([torch.sin(t * rates), torch.cos(t * rates)], dim=-1)
    return both.flatten(1)
"""

# Modules of our own writing: by time, by batch, with a table that shrinks, and four that misbehave.
BY_TIME = """
class AbsolutePositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=50):
        super().__init__()
        self.rows = waves(max_len, d_model)

    def forward(self, x):
        return x + self.rows[: x.shape[1]]
"""
BY_BATCH = BY_TIME.replace("Absolute", "Fixed").replace(
    "self.rows[: x.shape[1]]", "self.rows[: x.shape[0], None]"
)
SHRINKING = """
class DFTEncoding(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.rows = torch.ones(d_model, d_model)

    def forward(self, x):
        self.rows *= 0.5
        return x + self.rows[:, None, :, None]
"""
ENDLESS = """
class PositionalEncoding(nn.Module):
    while True:
        pass
"""
FATAL = """
class LearnedPositionalEncoding(nn.Module):
    def __init__(self, d_model):
        import os
        os._exit(7)
"""
WITHOUT_IMPORT = """
class tAPE(a_package_that_nobody_has.Module):
    pass
"""
WRONG = """
class VanillaEncoding(nn.Module):
    def forward(self, x):
        raise RuntimeError("as expected")
"""
# One message for both: a process that is gone does not say why.
NO_ANSWER = "no answer: it crashed, or took more than 2 seconds"


def harm(mark):
    """Return code that leaves a mark, wherever it is run."""
    return f"open({str(mark)!r}, 'w').close()\nraise SystemExit\n"


def cell(text, kind="code"):
    return {"cell_type": kind, "source": text.splitlines(keepends=True), "outputs": []}


def written(folder, notebook=(), modules=()):
    """Write a git checkout with one notebook and some modules, and return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "all.ipynb").write_text(json.dumps({"cells": [cell(text) for text in notebook]}))
    for name, text in modules:
        (folder / name).write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    return folder


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What is found in a made-up checkout; its classes are run once for all tests."""
    mark = tmp_path_factory.mktemp("harm") / "was_run"
    again = "%pip install x\n" + BY_TIME
    notebook = [IMPORTS, WAVES, BY_TIME, harm(mark), ENDLESS, again, "def (:"]
    modules = [
        ("batch.py", IMPORTS + WAVES + BY_BATCH),
        ("shrinking.py", IMPORTS + SHRINKING),
        ("fatal.py", IMPORTS + FATAL + harm(mark)),
        ("without.py", IMPORTS + WITHOUT_IMPORT),
        ("wrong.py", IMPORTS + WRONG + "\nnet(x, pos_encoding='fixed', n=1)\n"),
    ]
    folder = written(tmp_path_factory.mktemp("checkout") / "made-up", notebook, modules)
    result = checkout.survey(folder, seconds=2)
    return result | {
        "folder": folder,
        "mark": mark,
        "by_name": {one["name"]: one["found"] for one in result["modules"]},
    }


# --- finding


def test_a_class_comes_with_what_it_needs_and_nothing_else(tmp_path):
    folder = written(tmp_path / "a", [IMPORTS, WAVES, "x = 1", BY_TIME])
    (one,), broken = definitions.in_folder(folder)
    assert broken == []
    assert one.name == "AbsolutePositionalEncoding"
    assert one.place == "all.ipynb, cell 3"
    assert [need.split("(")[0] for need in one.needs] == ["def waves"]
    assert "x = 1" not in "".join((one.source, *one.needs, *one.imports))


def test_a_class_takes_the_last_definition_above_it(tmp_path):
    first, second = (f"class Config:\n    size = {n}\n" for n in (1, 2))
    use = "class Layer:\n    def f(self, c: Config):\n        return helper(c)\n"
    helper = "def helper(c):\n    return Config.size\n"
    folder = written(tmp_path / "a", [first, helper + use, second, use])
    layers = [d for d in definitions.in_folder(folder)[0] if d.name == "Layer"]
    assert [("size = 1" in "".join(d.needs), "size = 2" in "".join(d.needs)) for d in layers] == [
        (True, False),
        (False, True),
    ]
    assert layers[0].digest != layers[1].digest
    assert all(any("def helper" in need for need in d.needs) for d in layers)


def test_comments_and_places_make_no_difference_but_code_does(tmp_path):
    other = BY_TIME.replace("max_len=50", "max_len=51")
    folder = written(tmp_path / "a", [WAVES + BY_TIME, "# so\n" + BY_TIME, other])
    digests = [d.digest for d in definitions.in_folder(folder)[0]]
    assert digests[0] == digests[1] != digests[2]


def test_finding_runs_nothing(tmp_path):
    mark = tmp_path / "was_run"
    folder = written(tmp_path / "a", [harm(mark), ENDLESS], [("harm.py", harm(mark))])
    assert [d.name for d in definitions.in_folder(folder)[0]] == ["PositionalEncoding"]
    assert not mark.exists()


def test_what_cannot_be_parsed_is_named(tmp_path):
    folder = written(tmp_path / "a", ["def (:"], [("bad.py", "if:\n")])
    (folder / "no.ipynb").write_text("[1, 2]")
    assert definitions.in_folder(folder)[1] == [
        "all.ipynb, cell 0",
        "bad.py",
        "no.ipynb, unreadable",
    ]


def test_files_of_hidden_folders_and_links_are_left_out(tmp_path):
    folder = written(tmp_path / "a", [BY_TIME])
    (folder / ".venv").mkdir()
    (folder / ".venv" / "x.py").write_text("class X: pass")
    (folder / "link.py").symlink_to(folder / ".venv" / "x.py")
    assert [path.name for path in definitions.files(folder)] == ["all.ipynb"]


def test_texts_of_a_keyword_are_counted_by_calls(tmp_path):
    text = "f(kind='a')\ng(1, kind='a')\nf(kind='b')\nf(kind=c)\ndef h(kind='z'): pass\n"
    folder = written(tmp_path / "a", [text])
    assert definitions.named(folder, "kind") == {"a": 2, "b": 1}


# --- running


def test_along_which_axis_an_encoding_varies(found):
    by_time = found["by_name"]["AbsolutePositionalEncoding"]
    by_batch = found["by_name"]["FixedPositionalEncoding"]
    assert (by_time["batch_first"], by_time["length_first"]) == ("time", "batch")
    assert (by_batch["batch_first"], by_batch["length_first"]) == ("batch", "time")
    assert by_time["steady"]
    assert by_batch["is_sinusoid"]


def test_the_sinusoid_and_the_re_enactments_are_recognised(found):
    assert found["by_name"]["AbsolutePositionalEncoding"]["is_sinusoid"]
    assert found["by_name"]["AbsolutePositionalEncoding"]["from_sinusoid"] < 1e-5
    assert found["by_name"]["FixedPositionalEncoding"]["from_re_enactment"] < 1e-5


def test_a_table_that_shrinks_is_measured_pass_by_pass(found):
    measured = found["by_name"]["DFTEncoding"]
    norms = [240**0.5 / 2**n for n in range(1, 5)]
    assert measured["inner_norms"] == pytest.approx(norms)
    assert measured["rank"] == 1
    assert not measured["steady"]
    assert measured["from_re_enactment"] > 0.1  # ours decays in another way


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("PositionalEncoding", NO_ANSWER),
        ("LearnedPositionalEncoding", NO_ANSWER),
        ("tAPE", "NameError"),
        ("VanillaEncoding", "RuntimeError: as expected"),
    ],
)
def test_a_class_that_misbehaves_has_an_error_and_stops_no_other(found, name, reason):
    assert reason in found["by_name"][name]["error"]


def test_what_stands_at_several_places_is_counted_once_and_absent_classes_are_named(found):
    (one,) = (m for m in found["modules"] if m["name"] == "AbsolutePositionalEncoding")
    assert (one["places"], one["in_notebooks"], one["first"]) == (2, 2, "all.ipynb, cell 2")
    assert "ConvSPE" in found["missing"]
    assert "tAPE" not in found["missing"]
    assert found["unreadable"] == ["all.ipynb, cell 6"]
    assert found["named"]["pos_encoding"] == {"fixed": 1}


def test_nothing_but_the_definitions_ran_and_the_checkout_is_as_it_was(found):
    status = ["git", "-C", str(found["folder"]), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""
    assert not found["mark"].exists()


def test_no_code_of_the_checkout_is_kept(found):
    kept = json.dumps({k: v for k, v in found.items() if k not in ("folder", "mark", "by_name")})
    assert "def " not in kept
    assert "return" not in kept
    assert "self." not in kept


def test_the_commit_is_known_or_the_folder_is_refused(found, tmp_path):
    command = ["git", "-C", str(found["folder"]), "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert found["commit"] == commit
    assert found["repository"] == "made-up"
    with pytest.raises(ValueError, match=rf"^folder must be that of a git checkout.*{tmp_path}$"):
        checkout.survey(tmp_path)
    with pytest.raises(ValueError, match="seconds must"):
        checkout.survey(found["folder"], seconds=0)


def test_changes_and_the_address_of_a_checkout_are_seen(tmp_path):
    folder = written(tmp_path / "a", ["x = 1"])
    git = ["git", "-C", str(folder)]
    address = "git@github.com:someone/something.git"
    subprocess.run([*git, "remote", "add", "origin", address], check=True)
    assert checkout.repository_of(folder) == "someone/something"
    (folder / "all.ipynb").write_text("{}")
    assert checkout.commit_of(folder).endswith(" with changes")


# --- the command


def test_the_command_replaces_what_it_knew_of_a_repository(tmp_path):
    out, commits = tmp_path / "modules.json", []
    for name, text in (("b", "x = 1"), ("a", "x = 1"), ("b", "x = 2")):
        folder = written(tmp_path / name, [], [("module.py", text)])
        commits.append(checkout.commit_of(folder))
        main(["modules", "--checkout", str(folder), "--out", str(out)])
    stored = json.loads(out.read_text())
    found = [(one["repository"], one["commit"]) for one in stored]
    assert found == [("a", commits[1]), ("b", commits[2])]
    assert commits[0] != commits[2]
    assert {"date", "torch", "python", "missing"} <= stored[0].keys()
