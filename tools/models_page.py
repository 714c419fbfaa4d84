"""Sphinx extension: `{models}` draws released models, a column of layers each, with a filter."""

from functools import cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from posenc import register
from posenc.register import picture

MOST = 50
HIDES = '.posenc-models:has(#{0}:checked) figure:not([data-signs~="{0}"]){{display:none}}'


@cache
def models() -> tuple[tuple[str, register.Description, int], ...]:
    """Return the newest released models whose layers differ, and how many more each stands for."""
    read = {name: register.read(name) for name in register.released()}
    newest = sorted(read, key=lambda name: (read[name].released or "", name), reverse=True)
    alike: dict[str, list[str]] = {}
    for name in newest:
        alike.setdefault(picture.svg(read[name], ""), []).append(name)
    groups = list(alike.values())[:MOST]
    return tuple((names[0], read[names[0]], len(names) - 1) for names in groups)


def sign(words: str) -> str:
    """Return words as a name in the page."""
    return f"sign-{words.replace(' ', '-')}"


def drawing(name: str, found: register.Description, n_alike: int) -> str:
    """Return one model with what is said of it."""
    signs = " ".join(map(sign, picture.signs(found)))
    others = f", and {n_alike} alike" if n_alike else ""
    owner, _, short = name.rpartition("/")
    said = " ".join(part for part in (owner, found.released or "") if part) + others
    return (
        f'<figure data-signs="{signs}"><figcaption><strong>{escape(short)}</strong> '
        f"<small>{escape(said)}</small></figcaption>{picture.svg(found, name, style='')}</figure>"
    )


def page() -> str:
    """Return the filter and all drawings."""
    shown = models()
    switches = "".join(
        f'<label><input type="checkbox" id="{sign(words)}"> {words} '
        f"({sum(words in picture.signs(found) for _, found, _ in shown)})</label>"
        for words in picture.SIGNS
    )
    style = picture.STYLE + "".join(HIDES.format(sign(words)) for words in picture.SIGNS)
    return (
        f'<div class="posenc-models"><style>{style}</style>'
        f"<fieldset><legend>Only models with</legend>{switches}</fieldset>"
        f"<div>{''.join(drawing(*one) for one in shown)}</div></div>"
    )


class Models(SphinxDirective):
    """The drawings, made anew where a page is."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(register.__file__)
        self.env.note_dependency(picture.__file__)
        return [nodes.raw("", page(), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("models", Models)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
