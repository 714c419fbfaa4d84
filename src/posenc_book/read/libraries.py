"""Six libraries beside ours: what each has for positions, how they agree, how long RoPE takes.

`python -m peers.has` stores the first, `make peers` the second, and `benchmarks/libraries.py` the
third.
"""

import json
from typing import Any

from posenc_book import _files
from posenc_book.read import peers, results
from posenc_book.teaching.table import Table

COMMAND = (
    "PYTHONPATH=. OMP_NUM_THREADS=1 python benchmarks/libraries.py "
    "--checkouts checkouts --out results/turning.json"
)
"""What measures the table of `turning`, on an idle machine."""


def load_libraries() -> dict[str, Any]:
    """Return what was looked up: `date`, `versions` of the six, and `rows` of names.

    Returns
    -------
    dict
        As `results/libraries.json` holds it.

    Examples
    --------
    >>> "timm" in load_libraries()["versions"]
    True
    """
    return json.loads(_files.text(results.folder() / "libraries.json"))


def offered() -> Table:
    """Return what each library has for positions, a row for each thing.

    Returns
    -------
    Table

    Examples
    --------
    >>> offered().rows["XPos"]["rotary-embedding-torch"]
    'yes'
    """
    stored = load_libraries()
    names = ("posenc", *stored["versions"])
    rows = {one["what"]: {n: "yes" * (n in one) for n in names} for one in stored["rows"]}
    return Table(
        rows, caption=f"What was found by name on {stored['date']}; a blank proves nothing."
    )


def found_as() -> str:
    """Return the names that stand behind `offered`, as a list in Markdown.

    Returns
    -------
    str

    Examples
    --------
    >>> print(found_as().splitlines()[-1])
    - TensorFlow, too: positional-encodings `tf_encodings.py`.
    """
    names = load_libraries()["versions"]
    lines = []
    for row in load_libraries()["rows"]:
        said = [f"{one} `{_short(row[one])}`" for one in ("posenc", *names) if one in row]
        lines.append(f"- {row['what']}: {', '.join(said)}.")
    return "\n".join(lines)


def _short(where: str) -> str:
    return where.rpartition(":")[2].rpartition("/")[2]


def agreement() -> Table:
    """Return how each of the six agrees with posenc, of the comparisons that `make peers` stores.

    Returns
    -------
    Table

    Examples
    --------
    >>> row = agreement().rows["positional-encodings"]
    >>> row["comparisons"] == row["equal up to rounding"]
    True
    """
    rows = {}
    for name in load_libraries()["versions"]:
        found = [c for c in peers.load_comparisons()["comparisons"] if c["reference"] == name]
        equal = [c for c in found if not c["explanation"]]
        outputs = [
            row["difference"]
            for one in equal
            for row in one["measured"]
            if (row["quantity"], row["dtype"]) == ("output", "float32")
        ]
        rows[name] = {
            "version": found[0]["version"],
            "comparisons": len(found),
            "equal up to rounding": len(equal),
            "otherwise, with the reason known": len(found) - len(equal),
            "largest difference in float32": f"{max(outputs):.0e}",
        }
    return Table(rows, head="library", caption="Of the comparisons of outputs and gradients.")


def turning() -> str:
    """Return how long RoPE takes in each library over ours, or what would measure it.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> "time over ours" in turning() or COMMAND in turning()
    True
    """
    path = results.folder() / "turning.json"
    if not path.is_file():
        return f"Nobody has measured it yet. On an idle machine this does:\n\n```sh\n{COMMAND}\n```"
    stored = json.loads(_files.text(path))
    head = "| library | tokens | what | pairs | time over ours | |\n|:--|--:|:--|:--|--:|:--|\n"
    busy = "The machine was busy, so take it as a hint." if stored["busy"] else ""
    return head + "\n".join(_line(row) for row in stored["rows"]) + f"\n\n{busy}"


def _line(row: dict) -> str:
    low, middle, high = row["over ours"]
    said = "level" if low <= 1 <= high else "ours is quicker" if low > 1 else "ours is slower"
    what = "forth and back" if row["training"] else "forth"
    ratio = f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return f"| {row['whose']} | {row['tokens']:,} | {what} | {row['pairing']} | {ratio} | {said} |"
