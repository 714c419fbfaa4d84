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


def test_what_readers_want_stands_above_the_set_up():
    first = README.split("\n## Set it up")[0]
    for wanted in (".github/book.png", "**Read it**", "**Open in Colab**", "first_page.chapters"):
        assert wanted in first
    assert "make book" not in first
    assert "make test" in README
