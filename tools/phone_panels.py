"""Sphinx extension: on a phone the panels of a picture stand one below another.

Side by side they are shown at half their size there, and so are their letters. Where a picture may
be cut is said in `_config.yml`, in pixels of the stored picture; a cut through a drawing stops the
build. Captions that say "left" say "above" on a phone.
"""

import re
from html import escape
from itertools import pairwise
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

FOLDER = "_static/stacked"
PICTURE = """\
<a class="reference internal image-reference" href="{large}"><picture>\
<source media="(max-width: 480px)" srcset="{narrow}">\
<img alt="{alt}" src="{large}" style="width: {width}px;"></picture></a>"""
COLUMN = 490  # pixels of a picture that is as wide as a phone's column, its letters as on a desk
WHITE = 250  # or lighter
MARGIN = 12
SIDE = re.compile(r"((?:Left|Right)(?=[:,])|on the left|on the right)")


def stack(picture: Image.Image, cuts: list[int]) -> Image.Image:
    """Return a picture with its panels, cut apart at some columns, one below another.

    A ValueError names a column that is not white from top to bottom.
    """
    for cut in cuts:
        column = picture.convert("L").crop((cut, 0, cut + 1, picture.height))
        if min(column.tobytes()) < WHITE:
            raise ValueError(f"cuts must be white columns of the picture, got {cut}")
    edges = pairwise([0, *cuts, picture.width])
    panels = [_trimmed(picture.crop((left, 0, right, picture.height))) for left, right in edges]
    width = max(COLUMN, *(panel.width for panel in panels))
    stacked = Image.new("RGB", (width, sum(panel.height for panel in panels)), "white")
    top = 0
    for panel in panels:
        stacked.paste(panel, ((width - panel.width) // 2, top))
        top += panel.height
    return stacked.quantize(64, dither=Image.Dither.NONE)


def _trimmed(panel: Image.Image) -> Image.Image:
    """Return a panel with a narrow margin of white above and below what is drawn."""
    drawn = panel.convert("L").point(lambda grey: 255 * (grey < WHITE)).getbbox()
    top, bottom = (drawn[1], drawn[3]) if drawn else (0, panel.height)
    return panel.crop((0, top - MARGIN, panel.width, bottom + MARGIN))


class Stacked(SphinxPostTransform):
    """Gives each picture that is listed a second one for phones."""

    default_priority = 900
    formats = ("html",)

    def run(self) -> None:
        """Change the page."""
        for figure in self.document.findall(nodes.figure):
            for name in set(figure["ids"]) & set(self.config.stacked_figures):
                self._change(figure, name, self.config.stacked_figures[name])

    def _change(self, figure: nodes.figure, name: str, cuts: list[int]) -> None:
        image, target = next(figure.findall(nodes.image)), f"{FOLDER}/{name}.png"
        path = Path(self.app.outdir, target)
        path.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(Path(self.app.srcdir, image["uri"])) as picture:
            try:
                stack(picture.convert("RGB"), cuts).save(path, optimize=True)
            except ValueError as error:
                raise ExtensionError(f"stacked_figures, {name}: {error}") from error
        builder = self.app.builder
        builder.images[image["uri"]] = self.env.images[image["uri"]][1]  # which copies the picture
        page = builder.get_target_uri(self.env.docname)
        large = relative_uri(page, f"_images/{builder.images[image['uri']]}")
        narrow, alt = relative_uri(page, target), escape(image["alt"])
        both = PICTURE.format(large=large, narrow=narrow, alt=alt, width=image["width"])
        image.replace_self(nodes.raw("", both, format="html"))
        for caption in figure.findall(nodes.caption):
            _say_above(caption)


def _say_above(caption: nodes.caption) -> None:
    """Mark the words of a caption that are others on a phone, for book.css."""
    for text in list(caption.findall(nodes.Text)):
        pieces = [_piece(one) for one in SIDE.split(text.astext())]
        text.parent.replace(text, pieces)


def _piece(words: str) -> nodes.Node:
    """Return a piece of a caption, with a class such as "posenc-on-the-left" if it names a side."""
    if words.lower().removeprefix("on the ") not in ("left", "right"):
        return nodes.Text(words)
    return nodes.inline("", words, classes=[f"posenc-{words.lower().replace(' ', '-')}"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Do so where a page is written."""
    app.add_config_value("stacked_figures", {}, "env")
    app.add_post_transform(Stacked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
