"""README's first screen: its code gives the output that stands below it."""

import re
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_code_of_readme_prints_what_stands_below_it(capsys):
    [(code, output)] = re.findall(
        r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", README, re.M | re.S
    )
    exec(code, {})
    assert capsys.readouterr().out == output


def test_three_doors_stand_above_the_first_heading():
    first, rest = README.split("\n## ", 1)
    wanted = (".github/book.png", "**Read it**", "**Open in Colab**", "**Use it**", "**Teach it**")
    assert [words for words in wanted if words not in first] == []
    assert all(words in rest for words in ("first_page.chapters", "make book", "make test"))
