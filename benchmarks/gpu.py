"""What position costs on a GPU, and how fast small models train there: one script, nine minutes.

    python benchmarks/gpu.py                          # what is stored
    python benchmarks/gpu.py --out results/gpu.json   # measure on this GPU, and store

In this order, and each as far as its share of the time allows: RoPE's turn beside the fused kernels
that people use; one token with a cache, for every encoding; a small GPT beside a plain loop in
PyTorch, in tokens a second; attention with every encoding at 4,096, 16,384 and 65,536 tokens, forth
and back, in bfloat16; and cells of the benchmark's grid, in trainings an hour. Each encoding takes
turns with `none` and, where FlexAttention or a few lines do the same, with an attention written by
hand (`by_hand.py`); the median over rounds of the ratio counts. So ratios compare what ran side by
side, and figures of two cards are never compared. What did not fit into the time or into the memory
is stored as such, by the name of the card; the next run with the same sizes and the same torch goes
on where the time ended.

`--tiny --device cpu` does everything at a small size, on a processor, to see that it works; there
FlexAttention has no way back and is left out.
"""

import argparse
import datetime
import json
import time
from pathlib import Path

import gpu_parts
import torch
from gpu_parts import NO_TIME, PARTS, Row
from timing import markdown

STORED = Path(__file__).resolve().parents[1] / "results" / "gpu.json"
SECONDS = 540
SHARES = {"turning": 0.1, "decoding": 0.3, "gpt": 0.25, "attention": 0.8, "grid": 1.0}
"""Of the time that is left when a part begins."""
MISSING = (
    "The script has not run on a GPU yet, so the figures are missing. `python benchmarks/gpu.py "
    "--out results/gpu.json` measures them in nine minutes on a machine that has one."
)

LARGE = {
    "turning": {"batch": 4, "n_heads": 32, "length": 4096, "d_head": 128},
    "kept": (4096, 16384),
    "lengths": {4096: (4, 15), 16384: (1, 9), 65536: (1, 3)},  # tokens: batch, rounds
    "width": (1024, 16),  # d_model, heads
    "rounds": 15,
    "gpt": {"n_tokens": 256, "d_model": 384, "n_heads": 6, "n_layers": 6, "length": 256},
    "gpt_batch": 64,
    "grid": {"lengths": (30, 100), "profile": "laptop", "epochs": 5, "series": 256},
}
TINY = {
    "turning": {"batch": 1, "n_heads": 2, "length": 16, "d_head": 16},
    "kept": (16,),
    "lengths": {32: (2, 2), 64: (1, 2)},
    "width": (32, 2),
    "rounds": 2,
    "gpt": {"n_tokens": 16, "d_model": 16, "n_heads": 2, "n_layers": 1, "length": 12},
    "gpt_batch": 2,
    "grid": {"lengths": (12,), "profile": "smoke", "epochs": 1, "series": 128},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="measure, and store here")
    parser.add_argument("--device", default="cuda", help="cuda, or cpu with --tiny")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time for everything")
    options = parser.parse_args()
    if options.out is None:
        print(table(read()))
        return
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU; --tiny --device cpu tries the script without one")
    measure(options, TINY if options.tiny else LARGE)


def measure(options: argparse.Namespace, sizes: dict) -> None:
    """Measure what is not stored yet, and store each row as it comes."""
    end = time.monotonic() + options.seconds
    name, about = card(options.device), described(sizes)
    stored = read(options.out).get(name, {})
    before = stored if stored.get("about") == about else {}
    found: dict[str, object] = {"about": about}
    for part, make in PARTS.items():
        now = time.monotonic()
        until = now + SHARES[part] * (end - now)
        rows: list[Row] = []
        found[part] = rows
        of_part = make(sizes, options.device)
        for row in gpu_parts.measured(of_part, until, known(before.get(part, []))):
            print(row, flush=True)
            rows.append(row)
            store(options.out, name, before | found)


def known(rows: list[Row]) -> dict[tuple, Row]:
    """Return what need not be measured again, by the numbers and words that name a row."""
    return {gpu_parts.named(row): row for row in rows if row.get("why") != NO_TIME}


def described(sizes: dict) -> dict[str, object]:
    """Return when and with what this was measured, as JSON gives it back."""
    about = {
        "when": datetime.date.today().isoformat(),
        "torch": torch.__version__,
        "sizes": {name: sizes[name] for name in sizes if name not in ("lengths", "kept")},
    }
    return json.loads(json.dumps(about))


def card(device: str) -> str:
    """Return the name of the GPU, or of the device."""
    return torch.cuda.get_device_name() if device == "cuda" else device


def store(path: Path, name: str, found: dict[str, object]) -> None:
    """Put what one card has found in the place of what it had found before."""
    stored = read(path) | {name: found}
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def read(path: Path = STORED) -> dict[str, dict]:
    """Return what is stored, by the name of the card."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# -- for readers -----------------------------------------------------------------------------------


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


if __name__ == "__main__":
    main()
