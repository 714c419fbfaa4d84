"""The comparison with other people's code: the stored table, and the suite that makes it."""

import dataclasses
import json
import re
import subprocess
from datetime import date

import pytest
import torch
from peers import __main__ as suite
from peers import compare, has, modules, references, rotary
from walking import each_passes

from posenc import encodings
from posenc.attention import SelfAttention
from posenc.encodings import NoPosition
from posenc.encodings.stretching import SCALINGS
from posenc_book.read import libraries, peers
from posenc_book.read.classification import protocol as protocols

STORED = peers.load_comparisons()
COMPARISONS = STORED["comparisons"]
HERE = [one for one in compare.CASES if one.reference in ("NumPy", "PyTorch", "pandas")]


def label(one):
    return "-".join(suite.key(one))


def own(run, **about):
    """Return a comparison of our own, with PyTorch's name on it."""
    return compare.Case("none", "PyTorch", "ours", run, **about)


# --- what is stored

NAMED = [(label(one), one) for one in COMPARISONS]


def test_every_comparison_says_with_what_and_when():
    def check(one):
        assert one["reference"] in references.REFERENCES
        assert one["version"]
        assert "changes" not in one["version"] + one["posenc"]
        assert date.fromisoformat(one["date"]) <= date.today()
        assert one["unit"] in peers.UNITS
        measured = {(row["quantity"], row["dtype"]) for row in one["measured"]}
        quantities = {quantity for quantity, _ in measured}
        assert "output" in quantities <= {"output", "gradient"}
        assert measured == {(quantity, dtype) for quantity in quantities for dtype in peers.EPSILON}
        for row in one["measured"]:
            assert row["entries"] > 0
            assert row["difference"] >= 0
            errors = {"posenc_error", "reference_error"} & row.keys()
            assert bool(errors) == (row["dtype"] == "float32" and one["unit"] == "absolute")

    each_passes(check, NAMED)


def test_every_difference_is_rounding_or_explained():
    def check(one):
        for row in one["measured"]:
            allowed = peers.tolerance(row["dtype"], row["size"], one["precision"], one["unit"])
            assert row["tolerance"] == allowed
        assert suite.faults(one) == []
        if one["explanation"]:
            assert any(row["difference"] > row["tolerance"] for row in one["measured"])
        else:
            assert all(row["difference"] <= row["tolerance"] for row in one["measured"])

    each_passes(check, NAMED)


def test_every_encoding_is_compared_with_somebody():
    compared = {one["encoding"] for one in COMPARISONS if not one["explanation"]}
    without = STORED["not_compared"].keys()
    # what joined later waits for `make peers`, which has an environment of its own
    everything = {*encodings.names(), *protocols.LATER, *encodings.names("axes")}
    assert everything - compared == without & everything
    assert not compared & without


def test_encodings_with_something_to_learn_are_compared_by_their_gradients():
    learn = {
        name
        for name in encodings.names()
        if [*encodings.make(name, 8, 2, 8).parameters()] and name != "none"
    }
    compared = {
        one["encoding"]
        for one in COMPARISONS
        if not one["explanation"] and any(r["quantity"] == "gradient" for r in one["measured"])
    }
    assert learn <= compared


def test_the_table_is_that_of_the_suite():
    skipped = STORED["skipped"]
    assert all(skipped.values())
    expected = [
        (one.encoding, one.reference, one.part)
        for one in compare.CASES
        if one.reference not in skipped
    ]
    assert [suite.key(one) for one in COMPARISONS] == expected
    assert len(set(expected)) == len(expected)
    about = [(one["note"], one["explanation"], one["precision"]) for one in COMPARISONS]
    assert about == [
        (one.note, one.explanation, one.precision)
        for one in compare.CASES
        if one.reference not in skipped
    ]
    assert STORED["repositories"].items() <= references.CHECKOUTS.items()


def of_rotary(part):
    """Return the comparisons of rotary encoding with transformers of which a part is named so."""
    wanted = "rotary", "transformers"
    return [
        one
        for one in COMPARISONS
        if (one["encoding"], one["reference"]) == wanted and part in one["part"]
    ]


def test_frequencies_of_every_schedule_are_those_of_transformers_to_a_millionth():
    shared = {options.get("scaling") for options in rotary.SCALED.values()} - {None}
    assert shared == {*SCALINGS} - {"none", "ntk"}  # transformers has no fixed NTK
    assert rotary.SCHEDULES.keys() == rotary.SCALED.keys()
    rows = of_rotary("ROPE_INIT_FUNCTIONS")
    assert [one["part"].split(", ")[1] for one in rows] == [*rotary.SCHEDULES]
    for one in rows:
        assert all(row["difference"] < 1e-6 for row in one["measured"])


@pytest.mark.parametrize("kind", rotary.SCHEDULES)
def test_compared_schedules_slow_pairs_down_beyond_the_trained_length(kind):
    slowed = []
    for one in rotary.SCHEDULES[kind]:
        kept = rotary.our_schedule(kind, one).omega / one.omega
        assert ((kept >= 0) & (kept <= 1 + 1e-12)).all()
        slowed.append(kept.min() < 0.6)
    # up to the trained length, these two leave frequencies nearly as they are
    assert slowed.count(False) == (kind in ("dynamic", "longrope"))


def test_partial_rotation_is_compared_in_a_layer_and_exactly():
    for share in (0.25, 0.5):
        layer, turned = of_rotary(f"partial_rotary_factor {share}")
        assert "gradient" in {row["quantity"] for row in layer["measured"]}
        assert turned["precision"] == "own"
        exact = [row for row in turned["measured"] if row["dtype"] == "float64"]
        assert all(row["difference"] < 1e-14 for row in exact)


# --- how it is read


def test_the_table_holds_the_largest_difference_of_all_parts():
    largest = max(
        row["difference"]
        for one in COMPARISONS
        for row in one["measured"]
        if (one["encoding"], one["reference"]) == ("rotary", "transformers")
        and not one["explanation"]
        and (row["quantity"], row["dtype"]) == ("output", "float32")
    )
    assert peers.comparison_table().loc[("rotary", "transformers"), "output, float32"] == largest


def test_tolerances_grow_with_the_size_and_refuse_what_they_do_not_know():
    assert peers.tolerance("float64", 2.0) == 2 * 64 * torch.finfo(torch.float64).eps
    assert peers.tolerance("float32", 1.0) == 64 * torch.finfo(torch.float32).eps
    assert peers.tolerance("float64", 1.0, "float32") == peers.tolerance("float32", 1.0)
    for wrong in (("half", 1.0), ("float32", 1.0, "half"), ("float32", 1.0, "own", "mile")):
        with pytest.raises(ValueError, match=r"dtype must be one of float32, float64"):
            peers.tolerance(*wrong)


# --- how it is made


@pytest.mark.parametrize("one", HERE, ids=lambda one: f"{one.encoding}-{one.part}")
def test_comparisons_that_need_nothing_else_hold_here(one):
    assert suite.faults(suite.entry(one, references.version(one.reference))) == []


def product(numbers):
    return numbers("a", 3, 4) @ numbers("b", 4, 5)


def test_a_wrong_output_is_a_fault():
    def wrong(numbers):
        return product(numbers), product(numbers) + 1e-6

    found = suite.entry(own(wrong), "1")
    assert [text.split(" in ")[1][:7] for text in suite.faults(found)] == ["float64"]
    rows = {(r["quantity"], r["dtype"]): r for r in found["measured"]}
    assert rows["output", "float64"]["difference"] == pytest.approx(1e-6, rel=1e-6)
    assert rows["gradient", "float64"]["difference"] == 0
    assert rows["gradient", "float64"]["entries"] == 12 + 20


def test_a_wrong_gradient_behind_a_right_output_is_a_fault():
    def wrong(numbers):
        a, b = numbers("a", 3, 4), numbers("b", 4, 5)
        return product(numbers), a @ b.detach()

    rows = {(r["quantity"], r["dtype"]): r for r in suite.entry(own(wrong), "1")["measured"]}
    assert rows["output", "float32"]["difference"] == 0
    for dtype in peers.EPSILON:
        assert rows["gradient", dtype]["difference"] > 0.1


def test_errors_in_float32_are_those_of_each_side():
    def halved(numbers):
        x = product(numbers)
        coarse = x.half().to(x.dtype) if x.dtype == torch.float32 else x
        return x, coarse

    row = next(r for r in suite.entry(own(halved), "1")["measured"] if "posenc_error" in r)
    assert row["posenc_error"] < 1e-6 < 1e-4 < row["reference_error"]


@pytest.mark.parametrize(
    ("factor", "explanation", "faults"),
    [
        (1.0, "", []),
        (1.0, "Somehow.", ["none, PyTorch, ours: explained, but there is no difference"]),
        (2.0, "Twice.", []),
    ],
)
def test_an_explanation_that_is_not_needed_is_a_fault(factor, explanation, faults):
    def multiplied(numbers):
        return product(numbers), factor * product(numbers)

    found = suite.faults(suite.entry(own(multiplied, explanation=explanation), "1"))
    assert found == faults


@pytest.mark.parametrize("factor", [2.0, float("nan")])
def test_a_difference_without_an_explanation_is_a_fault(factor):
    def multiplied(numbers):
        return product(numbers), factor * product(numbers)

    assert suite.faults(suite.entry(own(multiplied), "1"))


def test_results_of_other_shapes_are_no_comparison():
    with pytest.raises(ValueError, match=r"ours: shapes differ"):
        compare.measure(own(lambda numbers: (product(numbers), product(numbers)[0])))


def test_no_parameter_is_left_as_it_was_made():
    layer = SelfAttention(8, 2, NoPosition(8, 2, 4))
    with pytest.raises(ValueError, match=r"parameters of SelfAttention must be .*out\.bias"):
        modules.call(layer, {"qkv.weight": layer.qkv.weight}, torch.zeros(1, 4, 8))


# --- references that are there or not


def checkout(folder, text, *, commit=True):
    folder.mkdir(parents=True)
    (folder / "code.py").write_text(text)
    if commit:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
        for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "one"]):
            subprocess.run(["git", "-C", folder, *arguments], check=True)


def test_a_checkout_gives_its_definitions_and_its_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_CHECKOUTS", str(tmp_path))
    text = (
        "import math\nimport no_such_library\nfrom no_such_library import Base\n"
        "raise RuntimeError('loads data')\n"
        "class Unknown(Base):\n    pass\n"
        "def area(r):\n    return math.pi * r * r\n"
    )
    checkout(tmp_path / "spe", text)
    theirs = references.code("spe", "code.py")
    assert theirs.area(1) == pytest.approx(3.14159, abs=1e-5)
    assert not hasattr(theirs, "Unknown")
    commit = references.version("spe")
    assert len(commit) == 12
    (tmp_path / "spe" / "code.py").write_text("def area(r):\n    return 3 * r * r\n")
    assert references.version("spe") == f"{commit} + changes"


def test_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("POSENC_CHECKOUTS", raising=False)
    with pytest.raises(references.Missing, match="make peers CHECKOUTS=folder"):
        references.version("spe")
    monkeypatch.setenv("POSENC_CHECKOUTS", str(tmp_path))
    with pytest.raises(references.Missing, match="the folder of checkouts has no spe"):
        references.version("spe")
    checkout(tmp_path / "spe", "", commit=False)
    with pytest.raises(references.Missing, match="spe is no git checkout"):
        references.version("spe")
    monkeypatch.setitem(references.PACKAGES, "PyTorch", "no-such-package")
    with pytest.raises(references.Missing, match="no-such-package is not installed"):
        references.version("PyTorch")


def test_a_run_replaces_what_it_can_and_keeps_the_rest(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("POSENC_CHECKOUTS", raising=False)
    out = tmp_path / "peers.json"
    old = [dict(one, date="2001-01-01") for one in COMPARISONS]
    gone = dict(old[0], part="no longer compared")
    out.write_text(json.dumps({"comparisons": [gone, *old]}))
    assert suite.main(["--out", str(out), "--only", "NumPy", "spe", "TUPE"]) == 0
    table = json.loads(out.read_text())
    assert [suite.key(one) for one in table["comparisons"]] == [suite.key(one) for one in old]
    new = {one["reference"] for one in table["comparisons"] if one["date"] != "2001-01-01"}
    assert new == {"NumPy"}
    assert table["skipped"] == {}
    assert "skipped: spe: no folder with checkouts is named" in capsys.readouterr().out
    out.unlink()
    assert suite.main(["--out", str(out), "--only", "NumPy", "spe"]) == 0
    table = json.loads(out.read_text())
    assert {one["reference"] for one in table["comparisons"]} == {"NumPy"}
    assert [*table["skipped"]] == ["spe"]


def test_a_comparison_that_does_not_run_hides_no_other(tmp_path, monkeypatch, capsys):
    def broken(_):
        raise KeyError("renamed")

    cases = [one for one in compare.CASES if one.reference == "NumPy"]
    wrong = dataclasses.replace(cases[0], part="broken", run=broken)
    monkeypatch.setattr(suite, "CASES", [wrong, *cases])
    out = tmp_path / "peers.json"
    assert suite.main(["--out", str(out), "--only", "NumPy"]) == 1
    assert "NumPy, broken: KeyError: 'renamed'" in capsys.readouterr().out
    parts = [one["part"] for one in json.loads(out.read_text())["comparisons"]]
    assert parts == [one.part for one in cases]


# --- what each library has


def test_what_was_looked_up_is_what_the_list_names():
    assert libraries.load_libraries()["rows"] == has.rows()
    compared = {one["reference"]: one["version"] for one in COMPARISONS}
    assert libraries.load_libraries()["versions"] == {
        name: compared[name] for name in has.LIBRARIES
    }


def test_every_name_of_ours_is_there():
    assert (
        has.faults(
            [{"what": r["what"], "posenc": r["posenc"]} for r in has.rows() if "posenc" in r]
        )
        == []
    )


@pytest.mark.parametrize(
    "wrong",
    ["posenc.encodings:Rotatory", "posenc.encodings:Rotary(pears)", "posenc.gone:Rotary", "?"],
)
def test_a_name_that_is_gone_is_a_fault(wrong):
    assert len(has.faults([{"what": "RoPE", "posenc": wrong}])) == 1


def test_measured_times_are_told_with_their_quartiles(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    assert libraries.COMMAND in libraries.turning()
    about = {"tokens": 4096, "training": False, "pairing": "half"}
    ratios = {"slow": [1.1, 1.2, 1.3], "even": [0.9, 1.0, 1.1], "fast": [0.7, 0.8, 0.9]}
    rows = [about | {"whose": name, "over ours": ratio} for name, ratio in ratios.items()]
    (tmp_path / "turning.json").write_text(json.dumps({"busy": True, "rows": rows}))
    told = libraries.turning()
    for name, said in {"slow": "quicker", "even": "level", "fast": "slower"}.items():
        assert re.search(rf"\| {name} \| 4,096 \| forth \| half \| [^|]+ \| [a-z ]*{said} \|", told)
    assert "busy" in told
