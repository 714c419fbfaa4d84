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
from gpu_parts import PARTS, Row
from gpu_tables import NO_TIME, read, table

SECONDS = 540
SHARES = {"turning": 0.1, "decoding": 0.3, "gpt": 0.25, "attention": 0.8, "grid": 1.0}
"""Of the time that is left when a part begins."""
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


if __name__ == "__main__":
    main()
