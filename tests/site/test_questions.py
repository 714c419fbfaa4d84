"""Each question of the page has an address, an answer that leads on, and a cell that proves it."""

import ast
import builtins
import re

import nbformat
import pytest
from sitefiles import ROOT

CELLS = nbformat.read(ROOT / "book" / "questions.ipynb", as_version=4).cells
FIRST = next(n for n, cell in enumerate(CELLS) if re.search(r"^\(q-", cell.source, re.MULTILINE))
QUESTION = re.compile(
    r"(?:## [^\n]+\n\n)?\((?P<place>q-[\w-]+)\)=\n### (?P<asked>[^\n]+)\n\n(?P<answer>.+?)"
    r"(?:\n\n\*(?:Asked|Met) in (?P<threads>[^\n]+)\.\*)?",
    re.DOTALL,
)
THREAD = re.compile(r"\[([\w.-]+/[\w.-]+) #(\d+)\]\(https://github\.com/\1/(?:issues|pull)/\2\)")
ASKED = [QUESTION.fullmatch(cell.source) for cell in CELLS[FIRST::2]]
PROOFS = CELLS[FIRST + 1 :: 2]
every_question = pytest.mark.parametrize(
    ("asked", "proof"),
    [pytest.param(a, p, id=a["place"]) for a, p in zip(ASKED, PROOFS, strict=True) if a],
)


def names(code: str, context: type) -> set[str]:
    """Return the names that a piece of code reads, or those that it makes."""
    found = [*ast.walk(ast.parse(code))]
    made = {one.id for one in found if isinstance(one, ast.Name) and isinstance(one.ctx, context)}
    if context is ast.Load:
        return made
    others = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)
    made |= {one.name for one in found if isinstance(one, others)}
    made |= {one.arg for one in found if isinstance(one, ast.arg)}
    imported = [
        a for one in found if isinstance(one, ast.Import | ast.ImportFrom) for a in one.names
    ]
    return made | {alias.asname or alias.name for alias in imported}


def test_each_question_has_its_form_and_is_followed_by_one_cell():
    broken = [c.source[:80] for c, a in zip(CELLS[FIRST::2], ASKED, strict=True) if a is None]
    assert broken == []
    assert {cell.cell_type for cell in PROOFS} == {"code"}
    assert len({a["place"] for a in ASKED}) == len(ASKED) >= 40


def test_the_list_on_top_has_every_question_in_order():
    listed = re.findall(r"^- \[(.+)\]\(#(q-[\w-]+)\)$", CELLS[0].source, re.MULTILINE)
    assert listed == [(a["asked"], a["place"]) for a in ASKED]


@every_question
def test_an_answer_leads_on_and_names_threads_in_one_way(asked, proof):  # noqa: ARG001
    assert re.search(r"\]\([^)]+\)", asked["answer"])
    assert not re.search(r"Asked in|Met in", asked["answer"])
    if asked["threads"]:
        assert re.fullmatch(rf"{THREAD.pattern}(?:, \[.+\))?", asked["threads"])
        assert len(THREAD.findall(asked["threads"])) == asked["threads"].count("](")


@every_question
def test_a_cell_is_short_and_needs_the_first_one_only(asked, proof):  # noqa: ARG001
    imports = next(cell for cell in CELLS[2:FIRST] if cell.cell_type == "code").source
    known = names(imports, ast.Store) | names(proof.source, ast.Store) | {*dir(builtins)}
    assert names(proof.source, ast.Load) - known == set()
    assert sum(bool(line.strip()) for line in proof.source.splitlines()) <= 8
    assert "assert" in proof.source or proof.outputs
