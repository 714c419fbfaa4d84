"""Questions as Moodle XML, which Moodle imports into its bank of questions."""

from collections.abc import Iterable
from xml.etree import ElementTree as xml

from course.exam.draw import Choice
from course.exam.paper import markdown
from course.exam.questions import Number

ROOM = "The Positional Encoding Book"


def bank(questions: Iterable[Choice | Number], room: str = ROOM) -> str:
    """Return a file of questions; each chapter becomes a category below `room`.

    Raises
    ------
    ValueError
        Where `room` holds a control character, which no XML may hold.
    """
    if not room.isprintable():
        raise ValueError(f"room must be one line without control characters, got {room!r}")
    quiz, chapter = xml.Element("quiz"), ""
    for one in sorted(questions, key=lambda one: one.chapter):
        if one.chapter != chapter:
            chapter = one.chapter
            category = _named(xml.SubElement(quiz, "question", type="category"), "category")
            category.text = f"$course$/top/{room.replace('/', '-')}/{chapter}"
        (_choice if isinstance(one, Choice) else _number)(quiz, one)
    xml.indent(quiz, " ")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(quiz, encoding="unicode") + "\n"
    )


def _named(parent: xml.Element, tag: str) -> xml.Element:
    return xml.SubElement(xml.SubElement(parent, tag), "text")


def _begun(quiz: xml.Element, one: Choice | Number, kind: str) -> xml.Element:
    question = xml.SubElement(quiz, "question", type=kind)
    _named(question, "name").text = f"{one.chapter}: {one.of} ({one.name})"
    _html(question, "questiontext", one.text)
    xml.SubElement(question, "defaultgrade").text = str(one.points)
    return question


def _html(parent: xml.Element, tag: str, text: str) -> xml.Element:
    element = xml.SubElement(parent, tag, format="html")
    xml.SubElement(element, "text").text = f"<p>{markdown(text)}</p>"
    return element


def _answer(question: xml.Element, share: int, text: str, why: str, form: str) -> xml.Element:
    answer = xml.SubElement(question, "answer", fraction=str(share), format=form)
    xml.SubElement(answer, "text").text = text
    _html(answer, "feedback", why)
    return answer


def _choice(quiz: xml.Element, one: Choice) -> None:
    question = _begun(quiz, one, "multichoice")
    xml.SubElement(question, "single").text = "true"
    xml.SubElement(question, "shuffleanswers").text = "true"
    xml.SubElement(question, "answernumbering").text = "ABCD"
    for option in one.options:
        text = f"<p>{markdown(option.text)}</p>"
        _answer(question, 100 * option.right, text, option.why, "html")


def _number(quiz: xml.Element, one: Number) -> None:
    question = _begun(quiz, one, "numerical")
    text = f"{one.answer:.0f}" if one.answer.is_integer() else repr(one.answer)
    answer = _answer(question, 100, text, one.why, "moodle_auto_format")
    xml.SubElement(answer, "tolerance").text = repr(one.tolerance)
