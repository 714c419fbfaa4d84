"""What makes the build of the site quick gives what it stands in for."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import smartquotes

import quick

PAGE = """\
Title
=====

Words with *emphasis* and **strength *not nested*.**

- one
- two

  - three

Part
----

.. note::

   A note with ``code``.
"""
CONDITIONS = [
    None,
    nodes.Text,
    nodes.TextElement,
    nodes.section,
    lambda node: isinstance(node, (nodes.emphasis, nodes.list_item)),
    lambda node: len(node.children) > 1,
]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(
    "options",
    [{}, {"include_self": False}, {"descend": False}, {"siblings": True}, {"ascend": True}],
    ids=str,
)
def test_nodes_are_found_in_the_same_order(condition, options):
    page = publish_doctree(PAGE)
    for start in (page, page[1], page[2]):
        found = list(map(id, quick.find(start, condition, **options)))
        assert found == list(map(id, quick.FIND(start, condition, **options)))
    assert any(quick.FIND(page, condition))


@pytest.mark.parametrize("find", [quick.FIND, quick.find])
def test_what_comes_while_one_looks_is_found(find):
    page = publish_doctree(PAGE)
    for node in find(page, nodes.note):
        node += nodes.note("", nodes.paragraph("", "Within."), ids=["within"])
        if node["ids"]:
            break
    assert node["ids"] == ["within"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("Plain words, one. Two", []),
        ('He said "so"', ["“so”"]),
        ("it's 'so'", ["it’s", "‘so’"]),
        ("from -- to --- on", ["from – to", "— on"]),
        ("and... or . . .", ["and…", "or …"]),
        ("``so''", ["“so”"]),
        ("a &#34; b", ['a " b']),
        ("a \\\\ b", ["a \\ b"]),
    ],
)
def test_quotes_and_dashes_are_set_in_what_has_some(typed, said):
    def educated(tokens):
        return "".join(smartquotes.educate_tokens(tokens, "qDe" if "`" not in typed else "1"))

    assert bool(quick.TYPED.search(typed)) == bool(said)
    whole = educated([("plain", typed)])
    assert (whole != typed) == bool(said)
    assert all(part in whole for part in said)


def test_a_text_that_goes_by_tells_what_stands_before_a_quote(monkeypatch):
    monkeypatch.setattr(quick, "TOKENS", lambda _, texts: (("plain", one) for one in texts))
    texts = ["a word", '"so"', "end ", '"on"']
    found = list(quick.tokens(None, texts))
    assert [kind for kind, _ in found] == ["literal", "plain", "literal", "plain"]
    educate = smartquotes.educate_tokens
    before = list(educate([("plain", one) for one in texts], "qDe"))
    assert list(educate(found, "qDe")) == before
