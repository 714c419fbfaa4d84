"""What position costs on a GPU, and how fast small models train there: one script, nine minutes.

    python benchmarks/gpu.py                          # what is stored
    python benchmarks/gpu.py --out results/gpu.json   # measure on this GPU, and store

In this order, and each as far as its share of the time allows: a small GPT beside a plain loop in
PyTorch, in tokens a second; cells of the benchmark's grid, in trainings an hour; and attention with
every encoding at 1,024, 4,096 and 16,384 tokens, forth and back, in bfloat16. Each encoding takes
turns with `none` and, where FlexAttention or a few lines do the same, with an attention written by
hand (`by_hand.py`); the median over rounds of the ratio counts. So ratios compare what ran side by
side, and figures of two cards are never compared. What did not fit into the time or into the memory
is stored as such, by the name of the card.

`--tiny --device cpu` does everything at a small size, on a processor, to see that it works; there
FlexAttention has no way back and is left out.
"""

import argparse
import datetime
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import by_hand
import engine
import torch
from costs import OF_AN_IMAGE
from timing import interleaved, markdown, median_ratio
from torch import nn

from posenc import encodings
from posenc.attention import SelfAttention
from posenc.models import LanguageModel

STORED = Path(__file__).resolve().parents[1] / "results" / "gpu.json"
SECONDS = 540
SHARES = {"gpt": 0.15, "grid": 0.2, "attention": 1.0}
"""Of the time that is left when a part begins."""
MISSING = (
    "The script has not run on a GPU yet, so the figures are missing. `python benchmarks/gpu.py "
    "--out results/gpu.json` measures them in nine minutes on a machine that has one."
)

FIRST = ("sinusoidal", "rotary", "alibi", "t5", "relative", "tupe")

LARGE = {
    "lengths": {4096: 4, 1024: 16, 16384: 1},  # tokens: batch
    "width": (1024, 16),  # d_model, heads
    "rounds": 15,
    "gpt": {"n_tokens": 256, "d_model": 384, "n_heads": 6, "n_layers": 6, "length": 256},
    "gpt_batch": 64,
    "grid": {"lengths": (30, 100), "profile": "laptop", "epochs": 5, "series": 256},
}
TINY = {
    "lengths": {32: 2, 64: 1},
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
    parser.add_argument("--only", choices=SHARES, help="this part only")
    options = parser.parse_args()
    if options.out is None:
        print(table(read()))
        return
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU; --tiny --device cpu tries the script without one")
    end = time.monotonic() + options.seconds
    sizes = TINY if options.tiny else LARGE
    found: dict[str, object] = {"about": about(sizes)}
    for part in (options.only,) if options.only else SHARES:
        now = time.monotonic()
        until = now + SHARES[part] * (end - now)
        found[part] = []
        for row in rows(part, sizes, options.device, until):
            print(row, flush=True)
            found[part].append(row)
            store(options.out, card(options.device), found)


def rows(part: str, sizes: dict, device: str, until: float) -> Iterator[dict[str, object]]:
    """Yield what a part finds; where it fails, why, so that the others have their turn."""
    try:
        yield from PARTS[part](sizes, device, until)
    except Exception as error:
        yield {"why": _reason(error)}


def about(sizes: dict) -> dict[str, object]:
    """Return when and with what this was measured."""
    return {
        "when": datetime.date.today().isoformat(),
        "torch": torch.__version__,
        "sizes": {name: sizes[name] for name in ("width", "rounds", "gpt", "gpt_batch", "grid")},
    }


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


# -- attention -------------------------------------------------------------------------------------


def attention(sizes: dict, device: str, until: float) -> Iterator[dict[str, object]]:
    """Yield a row for each encoding and length; those that the time leaves no room for say so."""
    others = [n for n in encodings.names("series") if n not in (*FIRST, *OF_AN_IMAGE, "none")]
    for name in (*FIRST, *others):
        for length, batch in sizes["lengths"].items():
            row: dict[str, object] = {"encoding": name, "length": length, "batch": batch}
            if time.monotonic() > until:
                yield row | {"why": "no time left"}
                continue
            torch._dynamo.reset()  # what one has compiled shall not count against the next
            try:
                yield row | beside_none(name, length, batch, sizes, device)
            except torch.OutOfMemoryError:
                yield row | {"why": "out of memory"}
            except Exception as error:  # a kernel that fails is a finding, not an obstacle
                yield row | {"why": _reason(error)}
            if device == "cuda":
                torch.cuda.empty_cache()


def beside_none(
    name: str, length: int, batch: int, sizes: dict, device: str
) -> dict[str, float | None]:
    """Return how long an encoding takes in units of none, and of what is written by hand."""
    d_model, n_heads = sizes["width"]
    x = torch.randn(batch, length, d_model, device=device, dtype=torch.bfloat16)
    x.requires_grad_()

    def layer(name: str) -> SelfAttention:
        torch.manual_seed(0)
        made = SelfAttention(d_model, n_heads, encodings.make(name, d_model, n_heads, length))
        return made.to(device, torch.bfloat16)

    ours = layer(name)
    calls = {
        "none": both_ways(layer("none"), x),
        "ours": both_ways(ours, x),
    }
    if name in by_hand.BY_HAND and (device == "cuda" or name not in by_hand.BY_FLEX):
        hand = by_hand.attention(ours, length, compiled=device == "cuda")
        calls["by hand"] = both_ways(hand, x)
    times = timed(calls, sizes["rounds"], device)
    of_hand = median_ratio(times["ours"], times["by hand"]) if "by hand" in times else None
    return {
        "ms of none": round(1e3 * median(times["none"]), 4),
        "of none": round(median_ratio(times["ours"], times["none"]), 4),
        "of hand": of_hand and round(of_hand, 4),
    }


def both_ways(layer: Callable, x: torch.Tensor) -> Callable[[], None]:
    """Return one pass forth and back, with gradients of the tokens and of all that is learned."""

    def call() -> None:
        layer(x).sum().backward()
        x.grad = None

    return call


def timed(
    calls: dict[str, Callable[[], object]], rounds: int, device: str
) -> dict[str, list[float]]:
    """Return the seconds of each call in each round; what it set off on the GPU included."""

    def ended(call: Callable) -> Callable[[], None]:
        def whole() -> None:
            call()
            if device == "cuda":
                torch.cuda.synchronize()

        return whole

    whole = {name: ended(call) for name, call in calls.items()}
    for call in whole.values():
        call()  # compiles
    return interleaved(whole, rounds, settled=True)


# -- a small GPT -----------------------------------------------------------------------------------


def gpt(sizes: dict, device: str, until: float) -> Iterator[dict[str, object]]:
    """Yield tokens a second of our language model and of the plain one, as they are and compiled.

    Both train on the same random tokens in bfloat16, with AdamW.
    """
    of, batch = sizes["gpt"], sizes["gpt_batch"]
    tokens = torch.randint(of["n_tokens"], (batch, of["length"] + 1), device=device)

    def models() -> dict[str, nn.Module]:
        ours = LanguageModel(
            of["n_tokens"], of["d_model"], of["n_heads"], of["n_layers"], max_length=of["length"]
        )
        return {"ours": ours.to(device), "plain": by_hand.PlainGPT(**of).to(device)}

    for how in ("as it is", "compiled") if device == "cuda" else ("as it is",):
        if time.monotonic() > until:
            yield {"how": how, "why": "no time left"}
            continue
        ready = {
            name: torch.compile(model) if how == "compiled" else model
            for name, model in models().items()
        }
        steps = {name: by_hand.training_step(model, tokens) for name, model in ready.items()}
        times = timed(steps, sizes["rounds"], device)
        n = batch * of["length"]
        speeds = {f"{name}, tokens/s": round(n / median(t)) for name, t in times.items()}
        yield {"how": how, **speeds, "ratio": round(median_ratio(times["plain"], times["ours"]), 4)}


# -- the grid --------------------------------------------------------------------------------------


def grid(sizes: dict, device: str, until: float) -> Iterator[dict[str, object]]:
    """Yield trainings an hour of the benchmark's engine, and of a plain loop at the same cells."""
    of = sizes["grid"]
    options = argparse.Namespace(device=device, **of)
    for length in of["lengths"]:
        if time.monotonic() > until:
            yield {"length": length, "why": "no time left"}
            continue
        todo = engine.cells(options, length)
        seconds = {
            "ours": engine.time_engine(todo, device),
            "plain": engine.time_loop(engine.PlainModel, todo, device),
        }
        hourly = {f"{name}, an hour": round(3600 * len(todo) / s) for name, s in seconds.items()}
        yield {"length": length, **hourly, "ratio": round(seconds["plain"] / seconds["ours"], 4)}


PARTS: dict[str, Callable[[dict, str, float], Iterator[dict]]] = {
    "gpt": gpt,
    "grid": grid,
    "attention": attention,
}


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


def _reason(error: Exception) -> str:
    """Return the first words of an error."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]:.80}"


def _of_card(name: str, found: dict) -> str:
    parts = [f"{name}, torch {found['about']['torch']}, {found['about']['when']}"]
    if rows := found.get("attention"):
        lengths = list(dict.fromkeys(row["length"] for row in rows))
        cells = {(row["encoding"], row["length"]): _cell(row) for row in rows}
        names = dict.fromkeys(row["encoding"] for row in rows)
        lines = [[n, *(cells.get((n, length), "") for length in lengths)] for n in names]
        head = ["attention, of none (of hand)", *(f"{n:,} tokens" for n in lengths)]
        parts.append(markdown(head, lines))
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
    hand = "" if row["of hand"] is None else f" ({row['of hand']:.2f})"
    return f"{row['of none']:.2f}{hand}"


if __name__ == "__main__":
    main()
