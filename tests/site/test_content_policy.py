"""What leaves a page for a file of its own, and what stays."""

import pytest

import content_policy
from content_policy import Page

HEAD = '<html><head><meta charset="utf-8" /></head>'


def test_a_page_links_mathjax_if_it_has_a_formula_and_no_script_that_draws_icons():
    icons = '<script src="../_static/scripts/fontawesome.js?digest=1"></script>'
    mathjax = (
        '<script>window.MathJax = {"tex": {}}</script>'
        '<script defer="defer" src="../_static/mathjax/tex-chtml.js?v=1"></script>'
    )
    other = '<script src="../_static/book.js"></script>'
    assert content_policy.without_unused(icons + mathjax + other) == other
    formula = '<span class="math notranslate"></span>'
    assert content_policy.without_unused(mathjax + formula) == mathjax + formula


def test_scripts_wait_for_the_page_settings_first_but_for_those_that_decide_how_it_looks():
    head = (
        '<head><meta charset="utf-8" /><script data-cfasync="false">theme()</script>'
        '<script src="_static/a.js"></script><script defer src="_static/c.js"></script>'
        '<script>let a = 1;</script><script src="_static/b.js"></script>'
        '<script src="_static/book.js"></script></head>'
    )
    links = content_policy.LINK.findall(Page(head).text)
    waiting = [link for link in links if " defer" in link]
    names = [link.split("_static/")[1].split('"')[0] for link in waiting]
    assert names[0].startswith("inline/")
    assert names[1:] == ["a.js", "b.js", "c.js"]
    early = [link for link in links if " defer" not in link]
    assert [content_policy.EARLY.search(link)[0] for link in early] == [
        "_static/storage.js",
        "data-cfasync",
        "_static/book.js",
    ]


def test_a_button_keeps_what_it_does_as_a_word():
    page = Page('<button onclick="window.print()" class="x">')
    assert page.text == '<button data-does="print" class="x">'
    assert page.unknown == []
    assert Page('<p onload="window.print()">').unknown == ['onload="window.print()"']


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ('<a href="x" target="_blank">', '<a href="x" target="_blank" rel="noopener">'),
        (
            '<a rel="nofollow" target="_blank"\n href="x">',
            '<a rel="noopener nofollow" target="_blank"\n href="x">',
        ),
        ('<a rel="noopener" target="_blank">', '<a rel="noopener" target="_blank">'),
    ],
)
def test_a_new_window_does_not_know_who_opened_it(link, wanted):
    assert Page(link).text == wanted


@pytest.mark.parametrize(
    ("body", "workers"),
    [
        ('<figure class="explorable" data-name="clocks">', None),
        ('<figure class="explorable" data-name="living-model">', "blob:"),
        ('<div class="posenc-run">', "'self'"),
        ('<div class="posenc-run"><figure data-name="living-model">', "'self' blob:"),
    ],
)
def test_a_page_may_start_the_workers_that_it_needs(body, workers):
    text = Page(f"{HEAD}{body}").text
    assert ("worker-src" in text) == (workers is not None)
    assert workers is None or f'worker-src {workers}"' in text


def test_a_page_of_an_earlier_build_is_left_alone_with_its_files(tmp_path):
    page = tmp_path / "a.html"
    page.write_text(f"{HEAD}<script>a()</script>")
    content_policy.move_scripts(tmp_path)
    first = page.read_text()
    (tmp_path / "b.html").write_text(f"{HEAD}<script>b()</script>")
    content_policy.move_scripts(tmp_path)
    assert page.read_text() == first
    left = (tmp_path / "_static" / "inline").iterdir()
    assert sorted(path.read_text() for path in left) == ["a()\n", "b()\n"]


def test_a_file_that_no_page_links_goes(tmp_path):
    page = tmp_path / "a.html"
    page.write_text("<script>a()</script>")
    content_policy.move_scripts(tmp_path)
    page.write_text("<script>b()</script>")
    assert content_policy.move_scripts(tmp_path) == []
    (left,) = (tmp_path / "_static" / "inline").iterdir()
    assert left.read_text() == "b()\n"
