"""Figures get the numbers that Sphinx gives them, without reading again what did not change."""

import os

import pytest
from sphinx.application import Sphinx
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util.docutils import docutils_namespace, patch_docutils

import figure_numbers

PAGES = {
    "conf.py": 'extensions = ["figure_numbers"]\nnumfig = True\n',
    "index.rst": "Start\n=====\n\n.. toctree::\n   :numbered:\n\n   one\n   two\n",
    "one.rst": """\
One
===

.. figure:: dot.svg

   A caption with *emphasis*.

.. figure:: dot.svg

Part
----

.. note::

   .. table:: A table in a note

      == ==
      a  b
      == ==

.. code-block:: python
   :caption: A program

   pass
""",
    "two.rst": "Two\n===\n\n.. _drawn:\n\n.. figure:: dot.svg\n\n   Another.\n\n:numref:`drawn`\n",
    "dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
}


@pytest.fixture
def folder(tmp_path):
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def built(folder):
    out = folder / "out"
    with patch_docutils(), docutils_namespace():
        app = Sphinx(folder, folder, out, out / "trees", "html", status=None, warning=None)
        app.build()
    return app.env


def edit(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    later = path.stat().st_mtime + 5
    os.utime(path, (later, later))


def numbers_of_sphinx(env):
    figure_numbers.ASSIGN(TocTreeCollector(), env)
    return env.toc_fignumbers


def test_numbers_are_those_of_sphinx(folder):
    env = built(folder)
    found = env.toc_fignumbers
    kinds = {kind: len(ids) for kind, ids in found["one"].items()}
    assert kinds == {"figure": 1, "table": 1, "code-block": 1}
    assert list(found["two"]["figure"].values()) == [(2, 1)]
    assert numbers_of_sphinx(env) == found


def test_a_new_figure_moves_those_behind_and_no_other_page_is_read(folder, monkeypatch):
    built(folder)
    edit(folder, "two.rst", ".. _drawn", ".. figure:: dot.svg\n\n   First.\n\n.. _drawn")
    read, whole = [], figure_numbers.outline
    monkeypatch.setattr(
        figure_numbers, "outline", lambda env, tree: read.append(tree["source"]) or whole(env, tree)
    )
    env = built(folder)
    assert [source.removeprefix(f"{folder}/") for source in read] == ["two.rst"]
    found = env.toc_fignumbers
    assert sorted(found["two"]["figure"].values()) == [(2, 1), (2, 2)]
    assert "Fig. 2.2" in (folder / "out" / "two.html").read_text()
    assert numbers_of_sphinx(env) == found
