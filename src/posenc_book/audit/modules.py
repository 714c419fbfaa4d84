"""What the classes of the two public repositories do: the stored answers, read for the Audit.

The answers are those of `python -m experiments.published_code modules`; `published-modules.json`
holds them.
"""

import json
from collections.abc import Callable
from string import ascii_lowercase
from typing import Any

from posenc_book import _files
from posenc_book.read import results
from posenc_book.teaching.words import WordTable

COMPANION, SURVEY = "dfstrans/DFStrans", "imics-lab/positional-encoding-benchmark"
FILE = "published-modules.json"
EXACT = 1e-5  # as near as what a class computes comes to another: its angles are in float32


def load_answers(repository: str) -> dict[str, Any]:
    """Return what is stored of a repository.

    Raises
    ------
    ValueError
        If nothing is.
    """
    path = results.folder() / FILE
    stored = json.loads(_files.text(path)) if path.is_file() else []
    found = next((one for one in stored if one["repository"] == repository), None)
    if found is None:
        raise ValueError(
            f"repository must be one that {FILE} holds, got {repository!r}; "
            "`python -m experiments.published_code modules` adds one from a checkout"
        )
    return found


def places(repository: str, name: str, fits: Callable[[dict], bool] | None = None) -> int:
    """Return at how many places a class stands, or stands with answers that fit."""
    same = [m for m in load_answers(repository)["modules"] if m["name"] == name]
    return sum(m["places"] for m in same if fits is None or fits(m["found"]))


def answer(repository: str, name: str) -> dict[str, Any]:
    """Return what was found of the definition of a class that stands at most places."""
    same = [m for m in load_answers(repository)["modules"] if m["name"] == name]
    if not same:
        raise ValueError(f"name must be a class that {repository} has, got {name!r}")
    return max(same, key=lambda m: m["places"])["found"]


def in_words(found: dict[str, Any]) -> str:
    """Return what a class was found to do, in a few words."""
    if "error" in found:
        return f"stops: {found['error']}"
    if "inner_norms" in found:
        norms = ", ".join(f"{norm:.2g}" for norm in found["inner_norms"])
        return f"norms of a row in {len(found['inner_norms'])} passes: {norms}"
    if "by_heads" in found:
        runs = [n for n, said in found["by_heads"].items() if said == "runs"]
        return f"of {', '.join(found['by_heads'])} heads runs with {', '.join(runs) or 'none'}"
    if "finite" in found:
        return f"divides by {found['scale']:.2g}: " + ("numbers" if found["finite"] else "NaN")
    if "with_length" in found:
        words = {k: found[k].split(",")[0] for k in ("with_tokens", "with_length")}
        return f"given tokens {words['with_tokens']}, given a length {words['with_length']}"
    if "returns" in found or "runs" in found:
        return found.get("returns", "relative scores by the skew")
    return _of_table(found)


def _of_table(found: dict[str, Any]) -> str:
    axes = ("batch_first", "length_first")
    said = [f"{k.replace('_', ' ')}: {found[k].split(',')[0]}" for k in axes if k in found]
    said += ["the sinusoid"] if found.get("is_sinusoid") else []
    if "from_re_enactment_centred" in found:
        said.append(f"the sinusoid, centred, at deviation {found['deviation']:.2f}")
    return "; ".join(said)


def re_enacted(found: dict[str, Any]) -> str:
    """Return how far a class is from our re-enactment of it, if there is one."""
    away = found.get("from_re_enactment")
    return "" if away is None else "equal" if away < EXACT else f"off by {away:.2f}"


def classes_table(repository: str) -> WordTable:
    """Return a table of the distinct classes of a repository and what each was found to do."""
    found = load_answers(repository)["modules"]
    rows = {}
    for m in found:
        same = [one for one in found if one["name"] == m["name"]]
        letter = f", {ascii_lowercase[same.index(m)]}" if len(same) > 1 else ""
        rows[m["name"] + letter] = {
            "places": m["places"],
            "in notebooks": m["in_notebooks"],
            "what it does": in_words(m["found"]),
            "our re-enactment": re_enacted(m["found"]),
        }
    return WordTable(rows, head="class")
