"""The picture that is shown with a link to a page: its title, the book's name and a figure."""

import hashlib
import io
from functools import cache
from pathlib import Path

import resvg_py
from PIL import Image, ImageChops, ImageDraw, ImageFont

import stills
from repository import ROOT

MADE = ROOT / "_build" / "cards"  # so that a card is drawn once
LOGO = ROOT / "book" / "_assets" / "favicon.svg"
SIZE = (1200, 630)
MARGIN = 60
BLUE, INK, GREY, WHITE = "#14507a", "#1a1a1a", "#555555", "#ffffff"
NAME_SIZE = 30
TITLE_SIZES = range(68, 39, -4)  # the largest at which a title has few lines
BELOW_TITLE = 34
COLOURS = 128  # few enough for a small file, and none is missed
MOST_ENLARGED = 1.6  # of a stored picture, which blurs
BESIDE = 1.75  # a picture less wide than this stands beside its title, others below
TALLEST = 1.15  # heights of a picture to its width; what is below is left out
Box = tuple[int, int, int, int]  # left, top, right, bottom


def card(title: str, words: str, name: str, figure: bytes | str) -> bytes:
    """Return a card as PNG, made once; the figure is a picture or the drawing of an `svg`."""
    known = [Path(__file__).read_text("utf-8"), stills.style(), LOGO.read_text("utf-8")]
    key = hashlib.sha256("\0".join([*known, title, words, name]).encode())
    key.update(figure.encode() if isinstance(figure, str) else figure)
    kept = MADE / f"{key.hexdigest()[:16]}.png"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(drawn(title, words, name, picture(figure)))
    return kept.read_bytes()


def picture(figure: bytes | str) -> Image.Image:
    """Return a figure without the white around it."""
    png = stills.png(figure, 2 * stills.WIDTH) if isinstance(figure, str) else figure
    shown = Image.open(io.BytesIO(png)).convert("RGBA")
    whole = Image.alpha_composite(Image.new("RGBA", shown.size, WHITE), shown).convert("RGB")
    left, top, right, bottom = ink(whole)
    return whole.crop((left, top, right, min(bottom, top + round(TALLEST * (right - left)))))


def ink(picture: Image.Image) -> Box:
    """Return the box of all that is not white."""
    white = Image.new("RGB", picture.size, WHITE)
    return ImageChops.difference(picture, white).getbbox() or (0, 0, *picture.size)


def drawn(title: str, words: str, name: str, figure: Image.Image) -> bytes:
    """Return a card as PNG: the figure beside title and words, or below them where it is wide."""
    made = Image.new("RGB", SIZE, WHITE)
    pen = ImageDraw.Draw(made)
    pen.rectangle((0, 0, 15, SIZE[1]), fill=BLUE)
    made.paste(logo(), (MARGIN, 44))
    pen.text((MARGIN + 60, 68), name, fill=GREY, font=font(NAME_SIZE), anchor="lm")
    right, bottom = SIZE[0] - MARGIN, SIZE[1] - 40
    beside = figure.width < BESIDE * figure.height
    edge = 510 if beside else right
    top = write(pen, title, (MARGIN, 128), edge, 3 if beside else 1)
    lines = broken(words, font(BELOW_TITLE), edge - MARGIN)
    for line in lines:
        pen.text((MARGIN, top + 12), line, fill=INK, font=font(BELOW_TITLE))
        top += round(1.3 * BELOW_TITLE)
    place(made, figure, (560, 110, right, bottom) if beside else (MARGIN, top + 40, right, bottom))
    out = io.BytesIO()
    made.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG")
    return out.getvalue()


@cache
def logo() -> Image.Image:
    """Return the book's sign."""
    svg = LOGO.read_text(encoding="utf-8")
    png = resvg_py.svg_to_bytes(svg_string=svg, background=WHITE, width=48)
    return Image.open(io.BytesIO(png)).convert("RGB")


@cache
def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the type of the words, which comes with Matplotlib."""
    return ImageFont.truetype(stills.FONTS[bold], size)


def write(
    pen: ImageDraw.ImageDraw, title: str, corner: tuple[int, int], edge: int, most: int
) -> int:
    """Write a title, as large as its words fit into so many lines; return where it ends."""
    left, top = corner
    for size in TITLE_SIZES:
        style = font(size, bold=True)
        lines = broken(title, style, edge - left)
        if len(lines) <= most and max(map(style.getlength, lines)) <= edge - left:
            break
    for line in lines:
        pen.text((left, top), line, fill=INK, font=style)
        top += round(1.2 * size)
    return top


def broken(text: str, style: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """Return a text in lines that are no wider than this, unless one word is."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if style.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return [line for line in lines if line]


def place(card: Image.Image, figure: Image.Image, box: Box) -> None:
    """Put a figure into the middle of a box, as large as fits and is still sharp."""
    left, top, right, bottom = box
    scale = min((right - left) / figure.width, (bottom - top) / figure.height, MOST_ENLARGED)
    shown = figure.resize(
        (round(scale * figure.width), round(scale * figure.height)), Image.Resampling.LANCZOS
    )
    at = ((left + right - shown.width) // 2, (top + bottom - shown.height) // 2)
    card.paste(shown, at)
