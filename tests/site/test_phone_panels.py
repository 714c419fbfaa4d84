"""On a phone the panels of a picture stand one below another, as large as on a desk."""

import pytest
import yaml
from browsing import DESKTOP, PHONE
from parsing import by_id
from PIL import Image
from sitefiles import ROOT, toc_files

import phone_panels
from posenc_book.teaching import plots

LISTED = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["stacked_figures"]
SMALLEST_SHARE = 0.75  # of the size that letters have on a desk


@pytest.fixture
def picture():
    """A picture with a red panel on the left and a blue one on the right."""
    drawn = Image.new("RGB", (800, 300), "white")
    drawn.paste("red", (20, 50, 380, 250))
    drawn.paste("blue", (420, 100, 780, 200))
    return drawn


def test_panels_stand_one_below_another_without_the_white_between(picture):
    found = phone_panels.stack(picture, [400]).convert("RGB")
    heights = [200 + 2 * phone_panels.MARGIN, 100 + 2 * phone_panels.MARGIN]
    assert found.size == (phone_panels.COLUMN, sum(heights))
    assert found.getpixel((245, heights[0] // 2)) == (255, 0, 0)
    assert found.getpixel((245, heights[0] + heights[1] // 2)) == (0, 0, 255)


@pytest.fixture(scope="module")
def pages(site):
    """Return the page of each figure that is listed."""
    found = {name: page for page in toc_files() for name in by_id(site / f"{page}.html")}
    return {name: found.get(name) for name in LISTED}


def test_every_picture_that_is_listed_has_a_second_one(site, pages):
    for name, page in pages.items():
        source = by_id(site / f"{page}.html")[name].select_one("picture source")
        assert (site / page).parent.joinpath(source["srcset"]).is_file()
    assert {path.stem for path in site.glob("_static/stacked/*")} == set(LISTED)


@pytest.mark.browser
def test_a_phone_shows_it_with_letters_that_can_be_read(opened, pages):
    for page_name in dict.fromkeys(pages.values()):
        page = opened.goto(page_name)
        for size, narrow in ((PHONE, True), (DESKTOP, False)):
            page.set_viewport_size(size)
            page.wait_for_function(f"innerWidth === {size['width']}")
            for name in (name for name, one in pages.items() if one == page_name):
                image = page.locator(f"#{name} img")
                image.evaluate("i => { i.loading = 'eager'; return i.decode(); }")
                shown, width = image.evaluate("i => [i.currentSrc, i.width / i.naturalWidth]")
                assert ("/_static/stacked/" in shown) == narrow
                assert width * plots.DPI / 100 > SMALLEST_SHARE, name
