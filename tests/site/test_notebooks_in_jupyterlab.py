"""Two notebooks of the edition in JupyterLab: nothing raw, folds closed, a figure that answers."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from sitefiles import SITE

pytestmark = [pytest.mark.slow, pytest.mark.browser]
EDITION = SITE.parent / "notebooks" / "book"
# All cells are drawn, not only those in sight.
TRACKER = "@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
RAW = re.compile(r":{3,}|\{(?:cite|prf:|numref|eq|ref|download)[\w:]*\}|^\([\w-]+\)=", re.MULTILINE)


@pytest.fixture(scope="module")
def lab(site, tmp_path_factory):  # noqa: ARG001 - the edition is built with it
    """Start JupyterLab on two notebooks; yield its address."""
    folder = tmp_path_factory.mktemp("lab")
    for name in ("order-blindness", "rotary"):
        shutil.copy(EDITION / f"{name}.ipynb", folder)
    settings = folder / ".settings" / TRACKER
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"windowingMode": "none"}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [
        "--ServerApp.ip=127.0.0.1",
        "--IdentityProvider.token=",
        "--ServerApp.port_retries=0",
    ]
    command += [f"--LabApp.user_settings_dir={folder / '.settings'}", "--LabApp.news_url=None"]
    own = {
        f"JUPYTER_{kind}_DIR": str(folder / f".{kind}") for kind in ("CONFIG", "DATA", "RUNTIME")
    }
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        assert answers(f"{address}/api", process)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def answers(address: str, process: subprocess.Popen) -> bool:
    """Wait until a server answers; say whether it does before its process ends."""
    while process.poll() is None:
        try:
            urllib.request.urlopen(address).close()
        except urllib.error.URLError:
            continue
        return True
    return False


@pytest.fixture
def page(browser, lab, request):
    """A notebook of the edition in JupyterLab."""
    one = browser.new_page(viewport={"width": 1200, "height": 1200})
    one.goto(f"{lab}/lab/tree/{request.param}.ipynb?reset")
    one.wait_for_selector(".jp-Notebook .jp-RenderedMarkdown h1", timeout=120_000)
    one.wait_for_function("() => !document.querySelector('.jp-Notebook .jp-mod-unrendered')")
    yield one
    one.close()


@pytest.mark.parametrize("page", ["order-blindness", "rotary"], indirect=True)
def test_nothing_is_raw_and_everything_that_the_page_hides_is_closed(page, request):
    text = "\n".join(page.locator(".jp-RenderedMarkdown").all_inner_texts())
    assert RAW.findall(text) == []
    assert len(text) > 10_000
    folds = page.locator(".jp-RenderedMarkdown details")
    assert folds.count() > 10
    assert page.locator(".jp-RenderedMarkdown details[open]").count() == 0
    name = request.node.callspec.params["page"]
    cells = json.loads((EDITION / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    hidden = [cell for cell in cells if cell["metadata"].get("jupyter", {}).get("source_hidden")]
    assert page.locator(".jp-CodeCell .jp-InputPlaceholder").count() == len(hidden) > 10
    assert page.locator("mjx-container").count() > 10
    assert page.locator("mjx-merror").count() == 0


@pytest.mark.parametrize("page", ["order-blindness"], indirect=True)
def test_a_figure_answers_after_its_cell_has_run(page):
    figure = page.locator(".jp-CodeCell", has_text="The figure that answers").first
    assert figure.locator(".explorable svg").count() == 0  # not trusted yet
    for cell in (page.locator(".jp-CodeCell", has_text="Set-up").first, figure):
        cell.locator(".jp-InputPlaceholder").click()
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Enter")
    figure.locator(".explorable.is-live").wait_for(timeout=120_000)
    before = figure.locator(".explorable-summary").inner_text()
    figure.locator("[data-preset='0']").click()
    assert figure.locator(".explorable-summary").inner_text() != before
