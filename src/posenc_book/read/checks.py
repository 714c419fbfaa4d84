"""What `posenc.testing` asked well-known attention, and what came."""

import json
from typing import Any

from posenc_book import _files
from posenc_book.read import results


def load_checks() -> dict[str, Any]:
    """Return what `make checks` stored: `versions`, `correct`, `found` and `options`."""
    path = results.folder() / "checks.json"
    if not path.is_file():
        raise ValueError(
            f"the folder of results must hold checks.json, which {results.folder()} does not; "
            "`make checks` writes it"
        )
    stored: dict[str, Any] = json.loads(_files.text(path))
    return stored


def passed() -> str:
    """Return a table of what keeps all that it is held to, in Markdown."""
    stored = load_checks()
    models: dict[str, list[str]] = {}
    for case in (*stored["correct"], *stored["found"]):
        if case["passed"]:
            name = case["case"].removeprefix(f"{case['package']}, ")
            models.setdefault(case["package"], []).append(name)
    rows = [f"| {package} | {'; '.join(names)} |" for package, names in models.items()]
    return "\n".join(["| package | models |", "|---|---|", *rows])


def found() -> str:
    """Return what does not hold somewhere, and who is right as far as we can see, in Markdown."""
    lines = []
    for case in load_checks()["found"]:
        for word in dict.fromkeys(case["who"].values()):
            asked = [question for question, said in case["who"].items() if said == word]
            lines.append(f"- **{case['case']}**, asked whether {'; '.join(asked)}. {word}")
    return "\n".join(lines)
