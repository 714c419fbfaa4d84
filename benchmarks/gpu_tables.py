"""What `gpu.py` has stored, as readers see it."""

import json
from pathlib import Path

from timing import markdown

STORED = Path(__file__).resolve().parents[1] / "results" / "gpu.json"
NO_TIME = "no time left"
MISSING = (
    "The script has not run on a GPU yet, so the figures are missing. `python benchmarks/gpu.py "
    "--out results/gpu.json` measures them in nine minutes on a machine that has one."
)


def read(path: Path = STORED) -> dict[str, dict]:
    """Return what is stored, by the name of the card."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def table(stored: dict[str, dict]) -> str:
    """Return what each card has found, as Markdown; a sentence if there is none."""
    return "\n\n".join(_of_card(*item) for item in stored.items()) or MISSING


def worst(stored: dict[str, dict], column: str) -> tuple[float, str] | None:
    """Return the largest ratio in a column of attention, and whose it is, or None."""
    found = [
        (row[column], f"{row['encoding']} at {row['length']:,} on {name}")
        for name, of in stored.items()
        for row in of.get("attention", [])
        if row.get(column) is not None
    ]
    return max(found, default=None)


def _of_card(name: str, found: dict) -> str:
    title = f"{name}, torch {found['about']['torch']}, {found['about']['when']}"
    made = (make(found) for make in (_turning, _attention, _decoding, _learned_table, _rates))
    return "\n\n".join([title, *filter(None, made)])


def _turning(found: dict) -> str:
    """Return how long each takes to turn queries and keys, in units of ours."""
    rows = {row["turning"]: row["of ours"] for row in found.get("turning", []) if "of ours" in row}
    names = dict.fromkeys(name for row in rows.values() for name in row)
    lines = [[n, *(_ratio(row.get(n)) for row in rows.values())] for n in names]
    return markdown(["RoPE in halves, of ours", *rows], lines) if rows else ""


def _attention(found: dict) -> str:
    """Return a row an encoding: in units of none, and of what is written by hand."""
    rows = [row for row in found.get("attention", []) if row.get("why") != NO_TIME]
    lengths = sorted({row["length"] for row in rows})
    cells = {(row["encoding"], row["length"]): _cell(row) for row in rows}
    names = dict.fromkeys(row["encoding"] for row in rows)
    lines = [[n, *(cells.get((n, length), "") for length in lengths)] for n in names]
    head = ["attention, of none (of hand)", *(f"{n:,} tokens" for n in lengths)]
    return markdown(head, lines) if rows else ""


def _decoding(found: dict) -> str:
    rows = [row for row in found.get("decoding", []) if "of none" in row]
    lines = [[r["encoding"], f"{r['kept']:,}", _ratio(r["of none"])] for r in rows]
    return markdown(["a token with a cache", "tokens kept", "of none"], lines) if rows else ""


def _learned_table(found: dict) -> str:
    rows = found.get("learned table", [])
    lines = [
        [r["encoding"], f"{r['length']:,}", *(_ratio(r[f"by {who}, of none"]) for who in WHO)]
        for r in rows
    ]
    head = ["a learned table in FlexAttention", "tokens", *(f"by {who}, of none" for who in WHO)]
    return markdown(head, lines) if rows else ""


WHO = ("FlexAttention", "hand")


def _rates(found: dict) -> str:
    """Return tokens a second of the GPT, and trainings an hour of the grid."""
    parts = []
    for part, first in (("gpt", "how"), ("grid", "length")):
        if rows := [row for row in found.get(part, []) if "why" not in row]:
            names = [n for n in rows[0] if n not in (first, "ratio")]
            lines = [
                [str(r[first]), *(f"{r[n]:,}" for n in names), f"{r['ratio']:.2f}"] for r in rows
            ]
            parts.append(markdown([f"{part}: {first}", *names, "ratio"], lines))
    return "\n\n".join(parts)


def _cell(row: dict) -> str:
    if "why" in row:
        return row["why"]
    return _ratio(row["of none"]) + ("" if row["of hand"] is None else f" ({row['of hand']:.2f})")


def _ratio(value: float | str | None) -> str:
    """Return a ratio as a table shows it, or the reason why there is none."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
