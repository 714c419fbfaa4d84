"""README's first screen; `tests/core/test_packaging.py` runs its lines."""

from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_three_doors_stand_above_the_first_heading():
    first, rest = README.split("\n## ", 1)
    wanted = (".github/book.png", "**Read it**", "**Open in Colab**", "**Use it**", "**Teach it**")
    assert [words for words in wanted if words not in first] == []
    assert all(words in rest for words in ("first_page.chapters", "make book", "make test"))
