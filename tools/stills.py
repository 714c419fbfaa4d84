"""A figure that answers, as a picture at rest: PNG, which every viewer of notebooks shows."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import matplotlib
import resvg_py

from repository import ROOT

SCRIPTS = ROOT / "src" / "posenc_book" / "explorables" / "scripts"
STYLES = [SCRIPTS / f"{name}.css" for name in ("explorables", "living-model")]
FONTS = [
    str(Path(matplotlib.get_data_path(), "fonts", "ttf", f"DejaVuSans{kind}.ttf"))
    for kind in ("", "-Bold")
]
MADE = ROOT / "_build" / "stills"  # so that a drawing is made into a picture once
WIDTH = 720  # pixels
NARROWER = 0.86  # a browser's letters than those of DejaVu, for which figures leave no room


@cache
def style() -> str:
    """Return the rules for drawings in the light theme, in the CSS of level 2 that resvg reads."""
    text = "".join(path.read_text(encoding="utf-8") for path in STYLES)
    values = dict(re.findall(r"(--[\w-]+): ([^;]+);", text[: text.index("html[data-theme")]))
    rules = re.findall(r"^\.explorable svg ([^{]+)\{([^}]*)\}", text, re.MULTILINE)
    flat = re.sub(r"var\((--[\w-]+)\)", lambda found: values[found[1]], _flat(rules))
    flat = re.sub(r"rgb\((\d+) (\d+) (\d+) / ([\d.]+)\)", r"rgba(\1, \2, \3, \4)", flat)
    sizes = r"\bfont(?:-size)?: (\d+)px[^;]*;"
    flat = re.sub(sizes, lambda found: f"font-size: {NARROWER * int(found[1]):.1f}px;", flat)
    return flat.replace("currentcolor", "#1a1a1a")


def _flat(rules: list[tuple[str, str]]) -> str:
    """Return rules one a line, without lists of alternatives within a selector."""
    lines = []
    for selector, body in rules:
        listed = re.fullmatch(r"(.*):is\(([^)]*)\)(.*)", selector.strip())
        before, names, behind = listed.groups() if listed else ("", selector.strip(), "")
        lines += [f"{before}{name.strip()}{behind} {{{body}}}" for name in names.split(",")]
    return "\n".join(lines)


def png(drawing: str, width: int = WIDTH) -> bytes:
    """Return the `svg` element of a figure as a picture on white, so many pixels wide."""
    svg = drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        style_sheet=style(),
        background="#ffffff",
        width=width,
        skip_system_fonts=True,
        font_files=FONTS,
        font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
    )


def address(drawing: str) -> str:
    """Return the picture of a figure within an address, so that it needs no network."""
    made_of = f"{drawing}{style()}{WIDTH}".encode()
    kept = MADE / f"{hashlib.sha256(made_of).hexdigest()[:16]}.png"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(png(drawing))
    return f"data:image/png;base64,{base64.b64encode(kept.read_bytes()).decode()}"
