"""Make the clip of the living model that README, cards and lectures show: broken, and mended.

    python tools/clip.py

Every frame is the page's own figure, drawn from the stored weights. Needs Chromium.
"""

import html
import io
from dataclasses import dataclass

from PIL import Image
from playwright.sync_api import sync_playwright

from chromium import FLAGS, chromium
from posenc_book.explorables import bundle
from posenc_book.explorables.living_model import LivingModel
from repository import ROOT

CLIP = ROOT / "book" / "_assets" / "living-model.gif"
SIZE = {"width": 720, "height": 706}
COLOURS, MOST_BYTES = 48, 1_000_000
QUICK, SLOW, LONG = 250, 1_800, 3_200  # milliseconds
LEARNED, GROWS, SLOWER = 64, (96, 128, 160, 192, 224, 256), (1.5, 2, 2.5, 3, 3.5, 4)


@dataclass(frozen=True)
class Scene:
    """A state of the figure, what is said of it, and how long it stays."""

    letters: int
    slower: float
    said: str
    stays: int = QUICK


def scenes() -> list[Scene]:
    """Return the story: a text as long as in training, a longer one, and slower clocks."""
    calm = "This small GPT learned from 64 letters at a time. High bars: it is surprised."
    lost = "The text goes on. After 112 letters or so the model is lost."
    mends = "Now slow RoPE’s clocks …"
    mended = "… four times: the end is read again, and the beginning pays for it."
    grows = [Scene(n, 1, lost) for n in GROWS[:-1]]
    slows = [Scene(GROWS[-1], slower, mends) for slower in SLOWER[:-1]]
    return [
        Scene(LEARNED, 1, calm, LONG), *grows, Scene(GROWS[-1], 1, lost, LONG),
        Scene(GROWS[-1], 1, mends, SLOW), *slows, Scene(GROWS[-1], SLOWER[-1], mended, LONG),
    ]  # fmt: skip


def page(scene: Scene) -> str:
    """Return a frame as a page."""
    figure = LivingModel()
    shown = figure.svg(figure.first() | {"length": str(scene.letters), "slower": scene.slower})
    return f"""<!doctype html><style>{bundle.script("explorables.css")}
      {bundle.script(f"{figure.name}.css")}
      body {{ margin: 18px 28px; background: #fff; color: #1d1f22; font: 23px/1.35 sans-serif; }}
      p {{ margin: 0 0 6px; height: 2.7em; }}
      label {{ display: flex; gap: 14px; align-items: center; font-size: 20px; }}
      input {{ flex: 1; accent-color: #2e86ab; }}
      .explorable {{ border: 0; padding: 0; }}
      .explorable-drawing svg {{ max-width: none; }}
      [data-part="told"] {{ display: none; }}</style>
      <p>{html.escape(scene.said)}</p>
      <label>Clocks slowed by {scene.slower:g}
      <input type="range" min="1" max="8" step="0.5" value="{scene.slower}"></label>
      <div class="explorable"><div class="explorable-drawing">{shown}</div></div>"""


def frames() -> list[Image.Image]:
    """Return what a browser shows of each scene, in few colours that all share."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        tab = browser.new_page(viewport=SIZE)
        found = []
        for scene in scenes():
            tab.set_content(page(scene))
            found.append(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"))
        browser.close()
    palette = found[-1].quantize(COLOURS, dither=Image.Dither.NONE)
    return [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in found]


def main() -> None:
    """Store the clip."""
    first, *others = frames()
    stays = [scene.stays for scene in scenes()]
    first.save(
        CLIP, save_all=True, append_images=others, duration=stays, loop=0, optimize=True, disposal=1
    )
    n = CLIP.stat().st_size
    if n > MOST_BYTES:
        raise SystemExit(f"{CLIP.name} has {n:,} bytes, {MOST_BYTES:,} are allowed")
    print(f"{CLIP.relative_to(ROOT)}: {len(stays)} frames, {n / 1000:.0f} kB")


if __name__ == "__main__":
    main()
