"""The scripts and styles of the figures: files that the site links and a notebook carries."""

import json
from functools import cache
from importlib.resources import files

_ENTER_STYLE = (
    "if(!document.getElementById('posenc-{0}')){{const s=document.createElement('style');"
    "s.id='posenc-{0}';s.textContent={1};document.head.append(s)}}"
)


@cache
def script(name: str) -> str:
    """Return a script or style sheet of this package."""
    return files(__package__).joinpath("scripts", name).read_text(encoding="utf-8")


def style(name: str = "explorables") -> str:
    """Return the JavaScript that gives a notebook a style sheet of this package."""
    return _ENTER_STYLE.format(name, json.dumps(script(f"{name}.css")))


def live(name: str) -> str:
    """Return the JavaScript that a notebook needs to make a figure answer."""
    return "\n".join([style(), script("explorables.js"), script(f"{name}.js")])
