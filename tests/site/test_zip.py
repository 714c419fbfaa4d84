"""The archive of the site: the same bytes each time, and it reads without a network."""

import zipfile

import pytest
from browsing import DESKTOP, Opened

import site_zip

PAGES = ("book/rotary", "book/audit/first-principles", "book/choosing")


@pytest.fixture(scope="module")
def archive(site, tmp_path_factory):
    return site_zip.pack(site, tmp_path_factory.mktemp("zip") / "site.zip")


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return folder / site_zip.FOLDER


def test_the_same_site_gives_the_same_bytes(site, archive, tmp_path):
    assert site_zip.pack(site, tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_it_holds_the_site_and_no_time(site, archive):
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
        assert {entry.date_time for entry in entries} == {site_zip.EARLIEST}
        inside = {entry.filename.removeprefix(f"{site_zip.FOLDER}/") for entry in entries}
    assert "index.html" in inside
    assert {f"{page}.html" for page in PAGES} <= inside
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert pages - inside == {"404.html"}
    assert not any(name.startswith("_cards/") for name in inside)


@pytest.mark.browser
def test_pages_read_from_the_unpacked_archive_with_the_network_down(browser, unpacked):
    window = Opened(browser, unpacked, size=DESKTOP, painted=False)
    for name in PAGES:
        page = window.goto(name)
        assert page.locator("article h1").count() == 1
        broken = page.evaluate("[...document.images].filter((one) => !one.naturalWidth).length")
        assert broken == 0
        if page.locator("article .math").count():
            assert page.locator("mjx-container").count() > 0
    assert window.refused == []
    assert window.messages == []
    window.page.goto((unpacked / "index.html").as_uri())
    window.page.wait_for_url("**/intro.html")
    window.context.close()
