"""The decision record holds together: names, code, commands, evidence and its numbers."""

import re
import shlex
from pathlib import Path

import pytest

from posenc import encodings
from posenc.testing.command_line import promise
from posenc.testing.promises import Promises
from posenc_book import command_line
from posenc_book.bench import extrapolation
from posenc_book.guide import record

ROOT = Path(__file__).parents[2]
FILE = ROOT / "src/posenc_book/guide/record.toml"
every_case = pytest.mark.parametrize("case", record.cases().values(), ids=record.cases())


@every_case
def test_the_line_of_code_makes_what_is_recommended(case):
    made, *use = case.code.split("; ")
    given = {"encodings": encodings, "d_model": 64, "n_heads": 4, "length": 32}
    assert type(eval(made, given)) is encodings.get(case.take)
    assert encodings.get(case.runner_up)
    assert all(one.startswith("layer(x, positions=") for one in use)


@every_case
def test_its_command_is_one_that_the_project_understands(case):
    program, command, *rest = shlex.split(case.test)
    if program == "python":
        module, *rest = rest
        assert (command, module) == ("-m", extrapolation.__name__)
        assert extrapolation._parser().parse_args(rest).encodings
    elif command == "bench":
        assert command_line.parser().parse_args(rest)
    elif command == "check":
        assert Promises.of(dict(promise(one) for one in rest[1:])).made()
    else:
        assert (program, command, rest[0]) == ("posenc", "explain", "config.json")


@every_case
def test_its_evidence_is_a_page_of_the_book(case):
    page, _, _ = case.see.partition("#")
    assert (ROOT / "book" / page).is_file()


def test_no_measured_number_of_the_record_is_typed():
    told = re.sub(r"<data [^>]*>.*?</data>", "", FILE.read_text(encoding="utf-8"), flags=re.DOTALL)
    measured = re.findall(r'^(?:effect|interval|units) = ("""\n.*?"""|[^\n]*)', told, re.M | re.S)
    assert len(measured) > 2 * len(record.cases())
    sure = {"50 %", "change by 0", "Llama 3", "Qwen2-VL"}  # a coin, what a formula gives, names
    assert [one for one in measured if re.search(r"\d", re.sub("|".join(sure), "", one))] == []


def test_a_case_without_a_known_firmness_or_key_is_named():
    with pytest.raises(ValueError, match="firm of steps must be one of"):
        record.Case(**{**vars(record.case("steps")), "firm": "sure"})
    with pytest.raises(ValueError, match=r"key must be one of steps, few, .*, got 'step'"):
        record.case("step")
