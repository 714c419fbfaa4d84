"""README's first screen; `tests/core/test_packaging.py` runs its lines."""

from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_what_readers_want_stands_above_the_set_up():
    first = README.split("\n## Set it up")[0]
    for wanted in (".github/book.png", "**Read it**", "**Open in Colab**", "first_page.chapters"):
        assert wanted in first
    assert "make book" not in first
    assert "make test" in README
