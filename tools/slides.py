"""Make the decks for teaching in _build/slides, from course/decks and the built site.

    python tools/slides.py                  # every deck
    python tools/slides.py --only rotary    # some of them, separated by commas

`decks.py` says how a deck is written. The folder needs no network and nothing outside itself, so it
runs from a memory stick. Keys: arrows, Esc for all slides at once, S for notes, F for the full
screen; `?print-pdf` behind the address gives pages to print.
"""

import argparse
import re
import shutil
from html import escape

import built_site
import decks
import vendored
from build_lock import alone

TARGET = built_site.ROOT / "_build" / "slides"
STATIC = (
    "pygments.css",
    "book.css",
    "mathjax",
    "explorables.css",
    "living-model.css",
    "explorables.js",
)
LEFT_OUT = "left-out.txt"
FIGURE = re.compile(r'class="explorable"[^>]*? data-name="([a-z-]+)"')
LATER = "living-*.js"  # what the model that lives in a page loads when it is asked
PAGE = """\
<!DOCTYPE html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – deck for teaching</title>
{styles}
</head>
<body>
<div class="reveal deck" data-chapter="{title}"><div class="slides">
{slides}
</div></div>
<script>{mathjax}</script>
{scripts}
</body>
</html>
"""


def chosen(only: str) -> list[str]:
    """Return the pages whose decks are asked for: those named, or all that have one."""
    every = [page for _, pages in built_site.parts() for page in pages]
    pages = {name: page for page in every if (name := page.rpartition("/")[2]) in decks.names()}
    names = [name for name in only.split(",") if name] or list(pages)
    unknown = [name for name in names if name not in pages]
    if unknown:
        raise ValueError(f"--only must name chapters with a deck, {sorted(pages)}, got {unknown}")
    return [pages[name] for name in names]


def write(page: str) -> int:
    """Write a chapter's deck with its pictures, and return how many slides it has."""
    name = page.rpartition("/")[2]
    slides = decks.read(decks.FOLDER / f"{name}.md")
    (TARGET / "_images").mkdir(exist_ok=True)
    for file, picture in decks.pictures(name, slides).items():
        (TARGET / "_images" / file).write_bytes(picture)
    source = f"{built_site.title(page)} · The Positional Encoding Book, CC BY 4.0"
    _write(page, decks.html(name, slides, source))
    return len(slides)


def _file(page: str) -> str:
    return f"deck-{page.rpartition('/')[2]}.html"


def _write(page: str, body: str) -> None:
    live = [f"{name}.js" for name in dict.fromkeys(FIGURE.findall(body))]
    brought = [path.name for path in (built_site.SITE / "_static").glob(LATER)]
    built_site.copy_static(live + brought * ("living-model.js" in live), TARGET / "_static")
    text = PAGE.format(
        title=escape(built_site.title(page)),
        styles=_styles(
            "reveal/reset.css",
            "reveal/reveal.css",
            "type/type.css",
            "pygments.css",
            "book.css",
            "explorables.css",
            "living-model.css",
        ),
        slides=body,
        mathjax=built_site.settings_of_mathjax(page),
        scripts=_scripts(
            "mathjax/tex-chtml.js",
            "reveal/reveal.js",
            "reveal/notes.js",
            *(["explorables.js", *live] if live else []),
            "slides.js",
        ),
    )
    (TARGET / _file(page)).write_text(text, encoding="utf-8")


def _styles(*names: str) -> str:
    names = (*names, "slides.css")
    return "\n".join(f'<link rel="stylesheet" href="_static/{name}">' for name in names)


def _scripts(*names: str) -> str:
    return "\n".join(f'<script defer src="_static/{name}"></script>' for name in names)


def write_contents(pages: list[str]) -> None:
    """Write the page that lists the decks."""
    lines = [
        f'<li><a href="{_file(page)}">{escape(built_site.title(page))}</a></li>' for page in pages
    ]
    text = (built_site.SHEETS / "slides-contents.html").read_text(encoding="utf-8")
    (TARGET / "index.html").write_text(text.replace("{decks}", "\n".join(lines)), "utf-8")


def main() -> None:
    """Write the decks that are asked for, with all they need."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="chapters, separated by commas")
    parser.add_argument(
        "--optional", action="store_true", help="leave them out where reveal.js cannot be fetched"
    )
    options = parser.parse_args()
    pages = chosen(options.only)
    if not options.only:
        shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True, exist_ok=True)
    if options.optional and (reason := vendored.missing()):
        (TARGET / LEFT_OUT).write_text(reason, encoding="utf-8")
        print(f"left out: the slides, as {reason}")
        return
    built_site.copy_static(list(STATIC), TARGET / "_static")
    vendored.REVEAL.unpack(TARGET / "_static" / "reveal")
    vendored.write_type(TARGET / "_static" / "type")
    for name in ("slides.css", "slides.js"):
        shutil.copyfile(built_site.SHEETS / name, TARGET / "_static" / name)
    for page in pages:
        print(f"{page:40} {write(page):3} slides")
    write_contents([page for page in chosen("") if (TARGET / _file(page)).is_file()])
    print(f"The slides are made. Open this page in a browser:\n  file://{TARGET}/index.html")


if __name__ == "__main__":
    with alone():
        main()
