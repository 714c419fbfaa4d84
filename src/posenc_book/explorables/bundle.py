"""The scripts and styles of the figures: files that the site links and a notebook carries."""

import json
from functools import cache
from importlib.resources import files

_ENTER_STYLE = (
    "if(!document.getElementById('posenc-explorables')){const s=document.createElement('style');"
    "s.id='posenc-explorables';s.textContent=%s;document.head.append(s)}"
)


@cache
def script(name: str) -> str:
    """Return a script or style sheet of this package."""
    return files(__package__).joinpath("scripts", name).read_text(encoding="utf-8")


def live(name: str) -> str:
    """Return the JavaScript that a notebook needs to make a figure answer."""
    style = _ENTER_STYLE % json.dumps(script("explorables.css"))
    return "\n".join([style, script("explorables.js"), script(f"{name}.js")])
