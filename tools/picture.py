"""Take the picture that README shows: the first page of the built site, down to its figure.

    python tools/picture.py

The file carries a digest of what it shows, by which a test tells when the site has moved on. Needs
the site (`make book`) and Chromium.
"""

import hashlib
import io

from PIL import Image, PngImagePlugin
from playwright.sync_api import sync_playwright

import built_site
from chromium import FLAGS, chromium

PICTURE = built_site.ROOT / ".github" / "book.png"
PAGE = "book/intro"
SIZE = {"width": 880, "height": 745}  # as wide as GitHub shows it
KEY = "shown"


def shown() -> str:
    """Return a digest of what the picture shows: the opening of the page."""
    said = []
    for part in built_site.article(PAGE).find_all(recursive=False):
        if part.name == "section":
            break
        # the name of a picture's file is made from what is in it
        said += [part.get_text(), *(image["src"] for image in part.find_all("img"))]
    return hashlib.sha256(" ".join(" ".join(said).split()).encode()).hexdigest()


def stored() -> str | None:
    """Return the digest that the picture carries."""
    with Image.open(PICTURE) as image:
        return image.info.get(KEY)


def take() -> bytes:
    """Return the page as a browser shows it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto((built_site.SITE / f"{PAGE}.html").as_uri())
        page.evaluate("document.fonts.ready")
        found = page.screenshot()
        browser.close()
    return found


def main() -> None:
    """Store the picture with its digest, in 256 colours."""
    image = Image.open(io.BytesIO(take())).convert("RGB")
    words = PngImagePlugin.PngInfo()
    words.add_text(KEY, shown())
    small = image.quantize(256, dither=Image.Dither.NONE)
    small.save(PICTURE, optimize=True, pnginfo=words)
    print(f"{PICTURE.relative_to(built_site.ROOT)} shows {PAGE} now")


if __name__ == "__main__":
    main()
