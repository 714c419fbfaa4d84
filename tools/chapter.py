"""Begin a chapter: a notebook in the book's shape, which runs and passes the tests as it is.

    python tools/chapter.py two-clocks "Two clocks"

Every part that a chapter has is there, with a small example of its kind to write over.
"""

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import notebooks
from repository import ROOT

NAME = re.compile(r"[a-z]+(?:-[a-z]+)*")

QUESTION = """\
# {title}

Ask the question of this chapter here, in two sentences that somebody would really ask. The first
picture shows the answer before it is understood.

**After this chapter you can**

- do something that can be checked,
- do something else.

**You need** [oscillations](oscillations). **Time:** about 5 minutes to read, 40
for the exercises."""

IMPORTS = """\
import numpy as np

from posenc import frequencies, tables
from posenc_book.teaching import plots"""

FIGURE = """\
table = tables.sinusoidal(32, 16)
figure, ax = plots.new(height=2.4)
plots.heatmap(ax, table, label="value")
plots.show(
    figure,
    name="fig-{name}",
    caption="Say what to look for.",
    alt="Say in a sentence what a reader who cannot see the figure needs to know.",
)"""

DERIVATION = """\
## One step of the derivation

Each step is followed by the cell that runs it. A pair of sine and cosine has norm one:

$$
\\sin^2 \\omega t + \\cos^2 \\omega t = 1 .
$$ (eq-{name})"""

CHECK = """\
squares = tables.sinusoidal(32, 16) ** 2
assert np.allclose(squares[:, 0::2] + squares[:, 1::2], 1)"""

MEANING = """\
## What it means for a model

One small experiment, and its result in a sentence with a number that the cell shows."""

EXPERIMENT = """\
print(f"every row has norm {np.linalg.norm(table[0]):.2f}")"""

HINTS = """
:::{{admonition}} Hint 1
:class: dropdown

Say where to look.
:::

:::{{admonition}} Hint 2
:class: dropdown

Say nearly all of it.
:::"""

EXERCISE = (
    """\
## Exercises

:::{{exercise}} The norm of a row
:label: ex-{name}

**A small study.** Write `norm(d_model)`, which returns the norm of every row of a sinusoidal table.
:::
"""
    + HINTS
)

CHECK_ANSWER = """\
def check_norm(norm):
    for d_model in (2, 16, 64):
        rows = tables.encode(np.arange(9), frequencies.geometric(d_model))
        assert np.allclose(np.linalg.norm(rows, axis=1), norm(d_model))
    print("correct")"""

SOLUTION = """\
:::{{solution}} ex-{name}
:class: dropdown

Each of the `d_model / 2` pairs adds one to the square of the norm.
:::"""

ANSWER = "check_norm(lambda d_model: np.sqrt(d_model / 2))"

IN_WORDS = (
    """\
:::{{exercise}} {task}
:label: ex-{name}-{number}

**{kind}.** Say what to do.
:::
"""
    + HINTS
    + """

:::{{solution}} ex-{name}-{number}
:class: dropdown

One possible answer, or what a good answer says.
:::"""
)
KINDS = {"A picture": "Draw it", "Explain it": "Tell a friend", "A real model": "In a model"}

TAKE_AWAY = """\
## Take-away

Three sentences, with numbers that the page shows. Then the next question, and the link to the
chapter that answers it."""


def cells(name: str, title: str) -> list:
    """Return the cells of a new chapter, the set-up cell left out."""
    words = {"name": name, "title": title}

    def prose(text: str) -> nbformat.NotebookNode:
        return new_markdown_cell(re.sub(r"(?<=[\w,.])\n(?=\w)", " ", text.format(**words)))

    return [
        prose(QUESTION),
        new_code_cell(IMPORTS),
        new_code_cell(FIGURE.format(**words)),
        new_markdown_cell(DERIVATION.format(**words)),
        new_code_cell(CHECK),
        prose(MEANING),
        new_code_cell(EXPERIMENT),
        new_markdown_cell(EXERCISE.format(**words)),
        new_code_cell(CHECK_ANSWER),
        new_markdown_cell(SOLUTION.format(**words)),
        new_code_cell(ANSWER, metadata={"tags": ["hide-cell"]}),
        *(
            new_markdown_cell(IN_WORDS.format(kind=kind, task=task, number=number, **words))
            for number, (kind, task) in enumerate(KINDS.items(), start=1)
        ),
        prose(TAKE_AWAY),
    ]


def begin(name: str, title: str, folder: Path = ROOT / "book") -> Path:
    """Write a new chapter, without outputs, and return its path."""
    if not NAME.fullmatch(name):
        raise ValueError(f"name must be small words joined by hyphens, got {name!r}")
    path = folder / f"{name}.ipynb"
    if path.exists() or path.with_suffix(".md").exists():
        raise ValueError(f"name must be new, got {name!r}, which is a page of the book")
    notebook = new_notebook(cells=cells(name, title))
    notebooks.with_setup(notebook)
    notebooks.tidy(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Begin the chapter that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="of its file, such as two-clocks")
    parser.add_argument("title", help='such as "Two clocks"')
    options = parser.parse_args()
    try:
        path = begin(options.name, options.title)
    except ValueError as error:
        sys.exit(str(error))
    print(f"{path.relative_to(ROOT)}: now a line in _toc.yml, and run it")


if __name__ == "__main__":
    main()
