"""What programs say of themselves: every option of every program has a help text."""

import argparse
import ast

import pytest
from sitefiles import ROOT

from posenc_book.bench import extrapolation
from posenc_book.command_line import parser

FOLDERS = ("src", "experiments", "course", "peers", "tools", "benchmarks")
PROGRAMS = [
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "add_argument(" in path.read_text(encoding="utf-8")
]


def with_all_below(top):
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from with_all_below(below)


@pytest.mark.parametrize("top", [parser(), extrapolation._parser()], ids=lambda top: top.prog)
def test_the_help_of_every_command_can_be_shown(top):
    for one in with_all_below(top):
        assert one.format_help().startswith("usage: ")


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_option_is_added_without_a_help_text(program):
    calls = [
        node
        for node in ast.walk(ast.parse((ROOT / program).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
    ]
    bare = [node for node in calls if "help" not in {word.arg for word in node.keywords}]
    assert [ast.unparse(node) for node in bare] == []
