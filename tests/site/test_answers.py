"""Each check of an exercise takes right answers of several forms, and tells wrong ones why.

`answers/<chapter>.yml` has three or more of both for each check, as code that is run where the
check stands in its notebook. An answer is an expression, or ends with what it defines; for a check
that takes two things it is a pair.
"""

import ast
import contextlib
import io
import re
import symtable
from functools import cache
from inspect import signature
from pathlib import Path

import nbformat
import pytest
import yaml
from sitefiles import ROOT

FOLDER = Path(__file__).parent / "answers"
TRIED = sorted(path.stem for path in FOLDER.glob("*.yml"))
SLOW = {  # page -> checks that train
    "beyond-training-length": {"check_foretold"},
    "forecasting": {"check_masked", "check_bare"},
    "your-gpt": {"check_foretold"},
}
FEWEST = 3  # answers of each kind
WORDS = 4  # that a sentence to a wrong answer has at least
CHECK = re.compile(r"^def (check_\w+)", re.MULTILINE)


@cache
def answers(page: str) -> dict[str, dict[str, list[str]]]:
    """Return check -> right and wrong -> answers."""
    return yaml.safe_load((FOLDER / f"{page}.yml").read_text(encoding="utf-8"))


@cache
def statements(page: str) -> list[str]:
    """Return the code of a chapter, without the cell that fetches the package and any magic."""
    notebook = nbformat.read(ROOT / "book" / f"{page}.ipynb", as_version=4)
    code = "\n".join(
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and "setup" not in cell.metadata.get("tags", [])
    )
    plain = re.sub(r"^(\s*)%.*$", r"\1pass", code, flags=re.MULTILINE)
    return [ast.unparse(node) for node in ast.parse(plain).body]


def defined(code: str) -> set[str]:
    """Return the names that a statement binds."""
    symbols = symtable.symtable(code, "code", "exec").get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def used(code: str) -> set[str]:
    """Return the names of the notebook that code reads, at once or in its functions."""
    names, waiting = set(), [symtable.symtable(code, "code", "exec")]
    while waiting:
        table = waiting.pop()
        whole = table.get_type() == "module"
        names |= {
            s.get_name()
            for s in table.get_symbols()
            if s.is_referenced() and (whole or s.is_global())
        }
        waiting += table.get_children()
    return names


def needed(code: list[str], tried: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return the statements on which checks and answers rest, in their order.

    One reads what was bound last above it, and its functions what was bound last above a check.
    """
    reads = [used(one) for one in code]
    binds = [defined(one) for one in code]
    waiting, kept = [], set()
    for name, kinds in tried.items():
        place = max(i for i, names in enumerate(binds) if name in names)
        words = set().union({name}, *(used(one) for kind in kinds.values() for one in kind))
        waiting += [(word, place + 1) for word in words]
    seen = set()
    while waiting:
        name, place = waiting.pop()
        last = max((i for i in range(place) if name in binds[i]), default=None)
        if last is None or (last, place) in seen:
            continue
        seen.add((last, place))
        kept.add(last)
        waiting += [(word, at) for word in reads[last] for at in {last, place}]
    return [code[i] for i in sorted(kept)]


def made(answer: str, names: dict) -> object:
    """Return what an answer stands for, among the names of its notebook."""
    tree, names = ast.parse(answer), dict(names)
    if isinstance(tree.body[-1], ast.Expr):
        return eval(answer, names)
    exec(answer, names)
    return names[tree.body[-1].name]


def reply(check, answer: str, names: dict) -> str:
    """Return what a check says to an answer, "" where it takes it."""
    thing = made(answer, names)
    try:
        check(*thing) if len(signature(check).parameters) > 1 else check(thing)
    except AssertionError as error:
        return str(error) or "(an assertion without a word)"
    except Exception as error:
        return f"({type(error).__name__})"
    return ""


def faults(name: str, names: dict, right: list[str], wrong: list[str]) -> list[str]:
    """Say what is wrong with a check: a right answer refused, a wrong one taken or left alone."""
    said = {one: reply(names[name], one, names) for one in [*right, *wrong]}
    refused = [f"{name} refuses {one!r}: {said[one]}" for one in right if said[one]]
    taken = [f"{name} takes {one!r}" for one in wrong if not said[one]]
    mute = [
        f"{name} says {said[one]!r} to {one!r}"
        for one in wrong
        if said[one]
        and (said[one].startswith("(") or len(re.findall(r"[a-z]{2,}", said[one])) < WORDS)
    ]
    return refused + taken + mute


def found(page: str, tried: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return the faults of the checks of a chapter, each tried where it stands."""
    names: dict = {"__name__": "__main__"}
    out: list[str] = []
    with contextlib.redirect_stdout(io.StringIO()):
        for statement in needed(statements(page), tried):
            exec(statement, names)
            for name in set(CHECK.findall(statement)) & tried.keys():
                out += faults(name, names, **tried[name])
    return out


@pytest.mark.parametrize("page", TRIED)
def test_each_check_takes_right_answers_and_tells_wrong_ones_why(page):
    quick = {name: kinds for name, kinds in answers(page).items() if name not in SLOW.get(page, ())}
    assert not (wrong := found(page, quick)), "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW)
def test_checks_that_train_do_so_too(page):
    slow = {name: answers(page)[name] for name in SLOW[page]}
    assert not (wrong := found(page, slow)), "\n".join(wrong)


@pytest.mark.parametrize("page", TRIED)
def test_each_check_of_a_chapter_is_tried_with_three_answers_of_each_kind(page):
    checks = CHECK.findall("\n".join(statements(page)))
    assert checks == list(answers(page))
    kinds = [len(set(kind)) for tried in answers(page).values() for kind in tried.values()]
    assert len(kinds) == 2 * len(checks)
    assert min(kinds) >= FEWEST


def test_a_chapter_with_checks_has_answers_to_them():
    pages = {path.stem for path in (ROOT / "book").glob("*.ipynb")}
    assert {page for page in pages if CHECK.search("\n".join(statements(page)))} == {*TRIED}
