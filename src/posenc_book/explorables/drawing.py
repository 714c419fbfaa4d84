"""Elements of a drawing as text. Colours are style classes, so that themes can change them."""

from html import escape
from typing import Any


def element(tag: str, content: str = "", /, **attributes: Any) -> str:
    """Return an SVG element; `_` in names becomes `-`, and a trailing one goes."""
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{said}>{content}</{tag}>" if content else f"<{tag}{said}/>"


def number(value: object) -> str:
    """Return a coordinate with at most two decimals; anything else as it is."""
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def svg(width: int, height: int, content: str, *, label: str) -> str:
    """Return a drawing that scales with the page."""
    return element("svg", content, viewBox=f"0 0 {width} {height}", role="img", aria_label=label)


def text(x: float, y: float, words: str, **attributes: Any) -> str:
    """Return words at a place."""
    return element("text", escape(words), x=x, y=y, **attributes)
