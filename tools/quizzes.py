"""Sphinx extension: a chapter with a quiz in course/quizzes/ ends with it.

The last chapter of a part leads on to the part's own quiz, which stands in course/quizzes/parts/
under the name of its heading on the page `part-quizzes`.

In the notebook edition the answers are folded below each question. On the page it opens to a
fieldset of native radio buttons. What is to be said of an answer appears by style alone, so a page
without scripts works too; `book.js` says it to screen readers.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "course" / "quizzes"
PARTS = FOLDER / "parts"
N_QUESTIONS, N_OF_PART = 5, 10
INTRO = (
    "Five questions on this chapter. Open one and choose an answer"
    " to read what is right or wrong about it."
)
ASKED_AS_TEXT = "Five questions on this chapter. Choose an answer, then open the fold below it."
STATUS = '<div role="status" class="visually-hidden"></div>'
ONWARD = "This was the last chapter of its part: [ten questions](part-quizzes.md#{}) join them all."


@dataclass(frozen=True)
class Option:
    """One answer: its text, whether it is right, and why."""

    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Question:
    """One question with its options, and the section that answers it, as `page#anchor`."""

    text: str
    options: tuple[Option, ...]
    see: str


def read(path: Path) -> list[Question]:
    """Return the questions of a quiz; a ValueError names the file and the question at fault."""
    questions, expected = [], N_OF_PART if path.parent.name == PARTS.name else N_QUESTIONS
    for number, entry in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), start=1):
        options = tuple(
            Option(str(one.get("right", one.get("wrong"))), "right" in one, one.get("why", ""))
            for one in entry["options"]
        )
        options = tuple(sorted(options, key=_shuffled))  # files name the right one first
        place = f"{path.name}, question {number}"
        if not 3 <= len(options) <= 4 or sum(one.right for one in options) != 1:
            raise ValueError(f"{place}: needs three or four options, one of them `right`")
        if not all(one.why for one in options):
            raise ValueError(f"{place}: every option needs a `why`")
        if "#" not in entry.get("see", ""):
            raise ValueError(f"{place}: needs `see`, the section that answers it, as page#anchor")
        questions.append(Question(entry["question"], options, entry["see"]))
    if len(questions) != expected:
        raise ValueError(f"{path.name}: needs {expected} questions, has {len(questions)}")
    return questions


def parts() -> dict[str, str]:
    """Return the last page of each part with a quiz, such as "book/oscillations", and its quiz."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    slugs = {slug(part["caption"]): part["chapters"][-1]["file"] for part in contents}
    return {page: one for one, page in slugs.items() if (PARTS / f"{one}.yml").is_file()}


def slug(heading: str) -> str:
    """Return the anchor that a heading of plain words has."""
    return heading.lower().replace(" ", "-")


def source_of(page: str) -> str:
    """Return the file of a page of the book, such as "rotary.ipynb"."""
    endings = [end for end in (".ipynb", ".md") if (ROOT / "book" / f"{page}{end}").is_file()]
    if not endings:
        raise ValueError(f"a question must `see` a page of the book, got {page!r}")
    return page + endings[0]


def _shuffled(option: Option) -> str:
    return hashlib.sha256(option.text.encode()).hexdigest()


def name(docname: str) -> str:
    """Return a chapter's name, which its quiz has too."""
    return docname.rpartition("/")[2]


def as_texts(docname: str) -> list[str]:
    """Return the quiz of a chapter as pieces of Markdown, in which its answers are folded."""
    path = FOLDER / f"{name(docname)}.yml"
    if not path.is_file():
        return []
    texts = [_as_text(number, one) for number, one in enumerate(read(path), start=1)]
    onward = [ONWARD.format(part)] if (part := parts().get(docname)) else []
    return [f"## Check yourself\n\n{ASKED_AS_TEXT}", *texts, *onward]


def _as_text(number: int, question: Question) -> str:
    lettered = list(zip("abcd", question.options, strict=False))
    file, _, anchor = question.see.partition("#")
    asked = "\\\n".join(f"{letter}) {one.text}" for letter, one in lettered)
    why = "\n\n".join(
        f"{letter}) **{'Right.' if one.right else 'Not so.'}** {one.why}"
        for letter, one in lettered
    )
    return f"""**{number}.** {question.text}

{asked}

:::{{admonition}} Answer
:class: dropdown

{why}

The section: [](/book/{source_of(file)}#{anchor})
:::
"""


class Quiz(SphinxDirective):
    """The questions of a chapter, or of a part, as a form."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = FOLDER / f"{self.arguments[0]}.yml"
        self.env.note_dependency(str(path))
        found = [_raw('<form class="posenc-quiz" autocomplete="off">')]
        for number, question in enumerate(read(path), start=1):
            found += self._question(number, question)
        return [*found, _raw("</form>")]

    def _question(self, number: int, question: Question) -> list[nodes.Node]:
        group = self._group(number)
        asked = f"{group}-asked"
        found = [_raw(f'<details><summary id="{asked}">{number}. '), self._inline(question.text)]
        found.append(_raw(f'</summary><fieldset aria-labelledby="{asked}">'))
        see = self._see(question)
        for letter, option in zip("abcd", question.options, strict=False):
            own = f"{group}{letter}"
            verdict = "Right." if option.right else "Not so."
            kind = "right" if option.right else "wrong"
            found += [
                _raw(f'<div><input type="radio" name="{group}" id="{own}">'),
                _raw(f'<label for="{own}">'),
                self._inline(option.text),
                _raw(f'</label><div class="posenc-why {kind}"><strong>{verdict}</strong> '),
                self._inline(option.why if option.right else option.why + see),
                _raw("</div></div>"),
            ]
        return [*found, _raw(f"{STATUS}</fieldset></details>")]

    def _see(self, question: Question) -> str:
        """Return a sentence that links to the section, and to its chapter where it is another."""
        page, _, anchor = question.see.partition("#")
        file = f"/book/{source_of(page)}"
        chapter = "" if f"book/{page}" == self.env.docname else f" in []({file})"
        return f" See []({file}#{anchor}){chapter}."

    def _group(self, number: int) -> str:
        """Return a name for the buttons of a question that no other quiz of the page has."""
        return f"quiz-{name(self.arguments[0])}-{number}"

    def _inline(self, text: str) -> nodes.Node:
        """Return Markdown of one line as nodes without a paragraph around them."""
        holder = nodes.Element()
        self.state.nested_parse([text], self.content_offset, holder)
        inline = nodes.inline()
        for child in holder.children:
            inline += child.children if isinstance(child, nodes.paragraph) else [child]
        return inline


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def add_quiz(app: Sphinx, docname: str, source: list[str]) -> None:  # noqa: ARG001
    """Put the directive behind the last cell of a chapter that has a quiz."""
    if not docname.startswith("book/") or not (FOLDER / f"{name(docname)}.yml").is_file():
        return
    text = f"## Check yourself\n\n{INTRO}\n\n```{{quiz}} {name(docname)}\n```\n"
    if part := parts().get(docname):
        text += f"\n{ONWARD.format(part)}\n"
    if source[0].lstrip().startswith("{"):  # a notebook
        notebook = json.loads(source[0])
        notebook["cells"].append(
            {"cell_type": "markdown", "id": "quiz", "metadata": {}, "source": text}
        )
        source[0] = json.dumps(notebook)
    else:
        source[0] += f"\n{text}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, and look at every page before it is read."""
    app.add_directive("quiz", Quiz)
    app.connect("source-read", add_quiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
