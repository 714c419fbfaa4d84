"""Pages that lead on to others: the front door, and old addresses."""

from types import SimpleNamespace

import pytest

import redirects


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of a site with nothing in it but what is written when the build has finished."""
    out = tmp_path_factory.mktemp("site")
    for folder in ("_static", "book/api"):
        (out / folder).mkdir(parents=True)
    config = SimpleNamespace(
        html_title="A book", project="", root_doc="book/intro", html_favicon="book/a/icon.svg"
    )
    builder = SimpleNamespace(format="html")
    redirects.write(SimpleNamespace(builder=builder, outdir=out, config=config), None)
    return out


@pytest.mark.parametrize(
    ("page", "icon", "target"),
    [
        ("index", "_static/icon.svg", "book/intro.html"),
        ("book/published-code", "../_static/icon.svg", "audit/published-code.html"),
        ("book/api/study", "../../_static/icon.svg", "experiments.html"),
    ],
)
def test_a_page_that_leads_on_has_a_policy_and_an_icon(site, page, icon, target):
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    assert text.index("Content-Security-Policy") < text.index("<title>")
    assert f'<link rel="icon" href="{icon}">' in text
    assert f'http-equiv="refresh" content="0; url={target}"' in text
    assert f'<a href="{target}">' in text
