"""A text of MyST in CommonMark: boxes as quotations, folds as `<details>`, tagged formulas."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from notebook_edition.inline import Inline
from notebook_edition.site import slug

DIRECTIVE = re.compile(r"\{([\w:.-]+)\}\s*(.*)")
OPTION = re.compile(r":([\w-]+):[ ]*(.*)(?:\n|$)")
BULLET = re.compile(r"[-*+]|\d+[.)]")
ADMONITIONS = ("note", "tip", "hint", "important", "warning", "caution", "attention", "danger")
ADMONITIONS += ("error", "seealso", "admonition", "sidebar", "epigraph", "card")
ADMONITIONS += ("grid-item-card", "tab-item")
BARE = ("grid", "tab-set", "div", "container", "aside", "margin")
GONE = ("toctree", "bibliography", "tableofcontents")
CODE = ("code", "code-block", "sourcecode", "code-cell")


@dataclass(frozen=True)
class Directive:
    """A directive of the source: its name, what stands behind it, its options and its content."""

    name: str
    title: str
    options: dict[str, str]
    content: str

    @property
    def is_folded(self) -> bool:
        """Whether the page shows it closed."""
        return self.name == "dropdown" or "dropdown" in self.options.get("class", "")


@dataclass(frozen=True)
class Part:
    """A piece of a text: "text", an "exercise" or a "solution", the label of the latter two."""

    kind: str
    text: str
    label: str = ""


@dataclass
class Text:
    """Rewrites the texts of one page.

    Parameters
    ----------
    parser : MarkdownIt
        The parser that the site was made with.
    inline : Inline
    own : dict
        Directives of this book alone: name, and a function of this object and a `Directive` that
        returns CommonMark.
    solutions : bool
        Whether solutions stay. One that is left out is not even read: what it cites need not stand
        on the page.
    """

    parser: MarkdownIt
    inline: Inline
    own: dict[str, Callable[["Text", Directive], str]] = field(default_factory=dict)
    solutions: bool = True
    boxes: dict[str, str] = field(default_factory=dict, init=False)  # label and heading, so far

    def __call__(self, source: str) -> str:
        """Return a text in CommonMark."""
        return "\n".join(part.text for part in self.parts(source)).strip("\n")

    def parts(self, source: str) -> list[Part]:
        """Return a text in CommonMark, cut before and behind exercises and solutions."""
        lines, done, pieces = source.split("\n"), 0, [Part("text", "")]
        for token in self._marked(source):
            start, end = token.map
            plain = self._paragraphs("\n".join(lines[done:start]))
            new = self._block(token, lines[start:end])
            pieces = [*pieces, Part("text", plain), new] if start > done else [*pieces, new]
            done = end
        return list(_joined([*pieces, Part("text", self._paragraphs("\n".join(lines[done:])))]))

    def _marked(self, source: str) -> Iterator[Token]:
        """Yield the blocks of a text that need another form, none inside another."""
        done = 0
        for token in self.parser.parse(source):
            if token.map and token.map[0] >= done and _is_block(token):
                done = token.map[1]
                yield token

    def _paragraphs(self, text: str) -> str:
        return self.inline(text) if text.strip() else text

    def _block(self, token: Token, lines: list[str]) -> Part:
        """Return a block in its new form, as far indented as it was."""
        kind, text, label = self._rewritten(token, lines)
        before = _indent(token, lines[0])
        if before:
            behind = BULLET.sub(lambda found: " " * len(found[0]), before)
            text = "\n".join((behind + line).rstrip() for line in text.split("\n"))
            text = before + text[len(behind) :]
        return Part(kind, text, label)

    def _rewritten(self, token: Token, lines: list[str]) -> tuple[str, str, str]:
        if token.type in ("math_block", "math_block_label", "amsmath"):
            return "text", self._formula(token), ""
        if token.type == "heading_open":
            return "text", self._heading(lines), ""
        if token.type == "code_block" or not DIRECTIVE.match(token.info.strip()):
            gone = token.type in ("myst_target", "myst_line_comment", "myst_block_break")
            return "text", "" if gone else _dedented(token, lines), ""
        found = directive(token)
        kind = found.name.partition("-")[0]
        if kind in ("exercise", "solution"):
            label = found.options.get("label", "") if kind == "exercise" else found.title
            is_left_out = kind == "solution" and not self.solutions
            return kind, "" if is_left_out else self.directive(found), label
        return "text", self.directive(found), ""

    def _formula(self, token: Token) -> str:
        content = self.inline.formula(token.content.strip("\n"))
        if token.type == "amsmath":
            return f"$$\n{content}\n$$"
        return f"$$\n{content}{self._tag(token.info)}\n$$"

    def _tag(self, label: str) -> str:
        """Return what gives a formula the number that the page prints beside it."""
        return rf" \tag{{{self.inline.number(label).strip('()')}}}" if label else ""

    def _heading(self, lines: list[str]) -> str:
        """Return a heading with the number that the page prints in front of it."""
        text = self.inline("\n".join(lines))
        marks, _, words = text.partition(" ")
        page = self.inline.links.site.pages[self.inline.links.docname]
        _, number = page.sections.get(slug(_plain(words)), ("", ""))
        return f"{marks} {number} {words}" if number and set(marks) == {"#"} else text

    def directive(self, found: Directive) -> str:
        """Return a directive in CommonMark; an unknown one is a fault."""
        if found.name in self.own:
            return self.own[found.name](self, found)
        if found.name in GONE:
            return ""
        if found.name in CODE:
            return f"```{found.title}\n{found.content.rstrip()}\n```"
        if found.name == "math":
            tag = self._tag(found.options.get("label", ""))
            return f"$$\n{self.inline.formula(found.content.strip())}{tag}\n$$"
        if found.name in ("figure", "image"):
            return self._image(found)
        return self._boxed(found, self(found.content))

    def _boxed(self, found: Directive, body: str) -> str:
        title = self.inline(found.title)
        kind = found.name.partition("-")[0]
        if found.name == "prf:proof":
            return f"*Proof.* {body}{_below(body)}$\\square$"
        if found.name.startswith("prf:") or kind == "exercise":
            heading = f"{self._number(found)} ({title})" if title else self._number(found)
            self.boxes[found.options.get("label", "")] = heading
            return quotation(heading, body)
        if kind == "solution":
            solved = self.boxes.get(found.title) or self.inline.number(found.title)
            return fold(f"Solution to {solved}", body)
        if found.is_folded:
            return fold(title or found.name.capitalize(), body)
        if found.name in BARE:
            return body
        if found.name in ADMONITIONS:
            return quotation(title or found.name.capitalize().replace("Seealso", "See also"), body)
        self.inline.faults.append(f"unknown directive {{{found.name}}}")
        return body

    def _number(self, found: Directive) -> str:
        if label := found.options.get("label", ""):
            return self.inline.number(label)
        return found.name.rpartition(":")[2].capitalize()

    def _image(self, found: Directive) -> str:
        """Return an image where its file lies, with its number and caption below."""
        site, docname = self.inline.links.site, self.inline.links.docname
        name = found.title.rsplit("/", 1)[-1]
        image = f"![{found.options.get('alt', '')}]({site.base}/_images/{name})"
        number = site.pages[docname].numbers.get(found.options.get("name", ""), "")
        caption = self(found.content)
        return f"{image}\n\n{f'**{number}.** ' if number else ''}{caption}".rstrip()


def directive(token: Token) -> Directive:
    """Return the directive that a fence holds."""
    name, title = DIRECTIVE.match(token.info.strip()).groups()
    options, content = {}, token.content
    while found := OPTION.match(content):
        options[found[1]], content = found[2].strip(), content[found.end() :]
    return Directive(name, title.strip(), options, content)


def quotation(title: str, body: str) -> str:
    """Return a box as a quotation; its formulas take one line each, or Jupyter reads the `>`."""
    body = re.sub(r"^\$\$\n(.*?)\n\$\$$", _one_line, body, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(r"^\$\$((?:(?!\$\$).)+?)\$\$", _one_line, body, flags=re.DOTALL | re.MULTILINE)
    text = f"**{title}**\n\n{body}".strip("\n")
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) + "\n"


def fold(title: str, body: str) -> str:
    """Return a box that is closed until somebody opens it."""
    return f"<details>\n<summary><b>{_html(title)}</b></summary>\n\n{body}\n\n</details>\n"


def _is_block(token: Token) -> bool:
    if token.type == "heading_open":
        return token.level == 0
    return token.type in (
        *("fence", "colon_fence", "code_block", "math_block", "math_block_label", "amsmath"),
        *("myst_target", "myst_line_comment", "myst_block_break"),
    )


def _indent(token: Token, line: str) -> str:
    """Return what stands in front of a block within a list or a quotation."""
    if not token.level or token.type == "code_block":
        return ""
    mark = "$$" if "math" in token.type else token.markup
    return line[: max(line.find(mark), 0)]


def _dedented(token: Token, lines: list[str]) -> str:
    before = len(_indent(token, lines[0]))
    return "\n".join([lines[0][before:], *(line[before:] for line in lines[1:])])


def _joined(pieces: list[Part]) -> Iterator[Part]:
    """Yield parts with neighbouring texts joined."""
    held: list[str] = []
    for piece in pieces:
        if piece.kind == "text":
            held.append(piece.text)
            continue
        if any(text.strip() for text in held):
            yield Part("text", "\n".join(held))
        held = []
        yield piece
    if any(text.strip() for text in held):
        yield Part("text", "\n".join(held))


def _one_line(found: re.Match) -> str:
    return "$$" + " ".join(found[1].split("\n")).strip() + "$$"


def _plain(heading: str) -> str:
    return re.sub(r"[`*_$\\]|\]\([^)]*\)|\[", "", heading)


def _below(body: str) -> str:
    return "\n\n" if body.rstrip().endswith(("$$", "```", ">")) else " "


def _html(title: str) -> str:
    """Return a title for a line of HTML, in which Markdown's marks would stay as they are."""
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", title)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", title)
