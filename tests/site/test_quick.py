"""What makes the build of the site quick gives what it stands in for."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from sphinx import addnodes

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


def contents_of_a_page(*below: nodes.Node) -> nodes.bullet_list:
    def entry(anchor):
        link = nodes.reference("", "Title", refuri="page", anchorname=anchor)
        return nodes.list_item("", addnodes.compact_paragraph("", "", link))

    top = entry("")
    top += nodes.bullet_list("", entry("#part"), *below)
    return nodes.bullet_list("", top)


def test_contents_of_titles_hold_no_sections():
    whole = contents_of_a_page()
    (link,) = quick.titles(whole).findall(nodes.reference)
    assert link["anchorname"] == ""
    assert len(list(whole.findall(nodes.reference))) == 2


def test_contents_of_titles_keep_what_lists_other_pages():
    assert any(quick.titles(contents_of_a_page(addnodes.toctree())).findall(addnodes.toctree))
