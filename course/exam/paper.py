"""An exam on paper: a page of HTML to print, for students or, with the answers, for the teacher."""

import re
from html import escape

from course.exam.draw import Choice, Exam
from course.exam.questions import Number

KEPT = re.compile(r"(\$[^$]+\$|`[^`]+`)")  # formulas and code
MARKS = (
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\*(.+?)\*"), r"<em>\1</em>"),
)
LETTERS = "ABCD"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 11.5pt/1.45 Georgia, serif; margin: 2rem auto; max-width: 42rem; padding: 0 1rem; }}
header p {{ display: flex; gap: 2rem; }}
header span {{ border-block-end: 1px solid; flex: 1; }}
.question {{ break-inside: avoid; margin-block: 1.6rem; }}
.points {{ float: inline-end; font-size: 0.85em; margin-inline-start: 1rem; }}
ol.options {{ list-style: upper-alpha; }}
.blank {{ border-block-end: 1px solid; display: inline-block; width: 10rem; }}
.work {{ height: 5rem; }}
.right {{ font-weight: bold; }}
.why {{ color: #444; font-size: 0.88em; }}
@media print {{ body {{ margin: 0; max-width: none; }} }}
</style>
<script defer src="mathjax/tex-chtml.js"></script>
</head>
<body>
<header><h1>{title}</h1>{head}</header>
{questions}
</body>
</html>
"""
NAMES = "<p><b>Name</b><span></span><b>Student number</b><span></span></p>"


def markdown(text: str) -> str:
    """Return HTML of a line of Markdown as questions have it; formulas in the form of MathJax."""
    return "".join(map(_piece, KEPT.split(text)))


def _piece(text: str) -> str:
    html = escape(text, quote=False)
    if KEPT.fullmatch(text):
        return rf"\({html[1:-1]}\)" if text[0] == "$" else f"<code>{html[1:-1]}</code>"
    for pattern, tag in MARKS:
        html = pattern.sub(tag, html)
    return html


def number_text(number: float) -> str:
    """Return an answer as a teacher reads it: whole, or with four significant digits."""
    whole = float(number).is_integer() or abs(number) >= 1000
    return f"{number:,.0f}" if whole else f"{number:.4g}"


def page(exam: Exam, answers: bool) -> str:
    """Return the paper, or the paper with answers."""
    title = f"{exam.name}: answers, for the teacher" if answers else exam.name
    rule = (
        "Choose one answer to each question with letters. Give numbers with three significant "
        f"digits; a calculator is allowed. {exam.points} points in all."
    )
    head = ("" if answers else NAMES) + f"<p>{rule}</p>"
    asked = [*exam.choices, *exam.numbers]
    blocks = [_question(n, one, answers) for n, one in enumerate(asked, start=1)]
    return PAGE.format(title=escape(title), head=head, questions="\n".join(blocks))


def _question(place: int, one: Choice | Number, answers: bool) -> str:
    points = f"{one.points} point{'s' * (one.points > 1)}"
    body = options(one, answers) if isinstance(one, Choice) else _blank(one, answers)
    source = f'<p class="why">From {one.chapter}, {escape(one.of)}.</p>' if answers else ""
    text = f'<span class="points">{points}</span><b>{place}.</b> {markdown(one.text)}'
    return f'<div class="question"><p>{text}</p>{body}{source}</div>'


def options(one: Choice, answers: bool) -> str:
    """Return the answers to choose from, and which is right for whom it concerns."""
    lines = []
    for option in one.options:
        why = f' <span class="why">{markdown(option.why)}</span>' if answers else ""
        kind = ' class="right"' if answers and option.right else ""
        lines.append(f"<li><span{kind}>{markdown(option.text)}</span>{why}</li>")
    right = next(LETTERS[n] for n, option in enumerate(one.options) if option.right)
    key = f'<p class="right">Answer: {right}</p>' if answers else ""
    return f'{key}<ol class="options">{"".join(lines)}</ol>'


def _blank(one: Number, answers: bool) -> str:
    if not answers:
        return '<div class="work"></div><p>Answer: <span class="blank">&nbsp;</span></p>'
    near = f", give or take {number_text(one.tolerance)}" if one.tolerance else ", exactly"
    key = f'<p class="right">Answer: {number_text(one.answer)}{near}</p>'
    return f'{key}<p class="why">{markdown(one.why)}</p>'
