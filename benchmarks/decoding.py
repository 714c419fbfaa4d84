"""One token at a time with a cache: time of an attention layer, beside two other libraries.

Every layer has the same width and heads, reads a prompt in one go, and then decodes tokens, one a
call, with its own cache. Two times are kept: that of a layer alone, whatever it computes in a call
included (angles, biases, vectors that are added), and that of one layer of many, without what a
model computes one time for all of them. The layers take turns, call by call, in an order drawn
anew for each token, so that all see the same state of the machine and none always follows one of
its own library, whose code is then still in the processor's cache. The lower quartiles of the calls
are compared, and the medians stand beside them; where the two ratios differ much, the machine was
too busy, and `--rounds` gives it longer. The quickest call would say who once had the luck to come
after its like.

An encoding is compared with the quickest layer of its own kind in `transformers` and in
`x-transformers`: GPT-2, XGLM, Llama, GPT-NeoX, GPT-J, T5, MPT and BLOOM, and the second's own
attention with each of its kinds of position. Where neither library has it in a layer that decodes,
the table shows our times alone. The two of SPE draw codes anew at every call. Encodings made from
the signal, and those of several axes, do not decode tokens.

The references are no dependencies: pip install -c requirements.txt -r peers/requirements.txt.
Those that are absent are left out.

Run `OMP_NUM_THREADS=1 python benchmarks/decoding.py --out decoding.json`, or with `--quick`.
"""

import argparse
import datetime
import json
import platform
import random
import statistics
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import decoders
import torch
from decoders import D_MODEL, N_HEADS, REFERENCES, VARIANTS
from timing import busy, markdown

from posenc import encodings

N_TOKENS = 32
PROMPTS = (64, 512)

Key = tuple[str, str]
"""Kind, and whose: "posenc", one of `VARIANTS`, or a name in `REFERENCES`."""


def starts(names: list[str]) -> dict[Key, decoders.Start]:
    """Return our layers and the references of the same kinds that are installed."""
    found: dict[Key, decoders.Start] = {}
    for name in names:
        found[name, "posenc"] = lambda n_all, name=name: decoders.ours(name, n_all)
        for variant, (kind, options) in VARIANTS.items():
            if kind == name:
                found[name, f"posenc, {variant}"] = lambda n_all, k=kind, o=options: decoders.ours(
                    k, n_all, **o
                )
        for whose, start in REFERENCES.get(name, {}).items():
            try:
                start(8)
            except ImportError as missing:
                print(f"{whose} is left out: {missing}")
            else:
                found[name, whose] = start
    return found


@torch.inference_mode()
def measure(names: list[str], prompt: int, rounds: int) -> dict[Key, list[tuple[float, float]]]:
    """Return for each layer the seconds of each call: what is done once, and by each layer."""
    layers = starts(names)
    seconds: dict[Key, list[tuple[float, float]]] = {key: [] for key in layers}
    order, shuffle = list(layers), random.Random(0).shuffle
    clock = time.perf_counter
    for round_number in range(rounds + 1):
        generator = torch.Generator().manual_seed(round_number)
        x = torch.randn(1, prompt + N_TOKENS, D_MODEL, generator=generator)
        ready = {key: start(prompt + N_TOKENS) for key, start in layers.items()}
        for once, each in ready.values():
            each(x[:, :prompt], once(x[:, :prompt]))
        for t in range(prompt, prompt + N_TOKENS):
            token = x[:, t : t + 1]
            shuffle(order)
            for key in order:
                once, each = ready[key]
                begin = clock()
                known = once(token)
                between = clock()
                each(token, known)
                end = clock()
                if round_number:  # the first is to warm up
                    seconds[key].append((between - begin, end - between))
    return seconds


def summary(seconds: dict[Key, list[tuple[float, float]]], prompt: int) -> list[dict]:
    """Return a row for each layer: lower quartiles and medians of its calls, in microseconds."""
    rows = []
    for (kind, whose), calls in seconds.items():
        times = {"alone": [sum(call) for call in calls], "of many": [call[1] for call in calls]}
        row = {"prompt": prompt, "kind": kind, "whose": whose}
        for name, found in times.items():
            quartile, median, _ = statistics.quantiles(found, n=4)
            row |= {name: 1e6 * quartile, f"{name}, median": 1e6 * median}
        rows.append(row)
    return rows


def ratios(rows: list[dict], column: str) -> dict[tuple[int, str], tuple[float, str]]:
    """Return (prompt, kind) -> our time over that of the quickest reference, and which that is.

    Kinds without a reference have none. Of our variants the quickest counts, as it does of theirs.
    """
    found = {}
    for prompt, kind in dict.fromkeys((row["prompt"], row["kind"]) for row in rows):
        alike = [row for row in rows if (row["prompt"], row["kind"]) == (prompt, kind)]
        mine = [row for row in alike if row["whose"].startswith("posenc")]
        theirs = [row for row in alike if row not in mine]
        if mine and theirs:
            best = min(theirs, key=lambda row: row[column])
            ours = min(row[column] for row in mine)
            found[prompt, kind] = ours / best[column], best["whose"]
    return found


def report(rows: list[dict], prompt: int) -> str:
    """Return two tables: ratios for each kind, and the times of every layer."""
    rows = [row for row in rows if row["prompt"] == prompt]
    columns = "alone", "alone, median", "of many", "of many, median"
    compared = {column: ratios(rows, column) for column in columns}
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        if (prompt, kind) in compared["alone"]:
            cells = [f"{compared[column][prompt, kind][0]:.2f}" for column in columns]
            whose = [compared[column][prompt, kind][1] for column in ("alone", "of many")]
            lines.append([kind, *cells, " / ".join(dict.fromkeys(whose))])
    head = [f"ours over theirs, {prompt} tokens kept", *columns, "quickest of theirs"]
    times = [
        [row["kind"], row["whose"], *(f"{row[column]:.0f}" for column in columns)] for row in rows
    ]
    parts = [markdown(head, lines)] if lines else []
    return "\n\n".join([*parts, markdown(["kind, µs", "whose", *columns], times)])


def described(rows: list[dict], *, busy: bool) -> dict:
    """Return what is stored: rows with one decimal, and where they come from."""
    versions = {"torch": torch.__version__}
    for package in ("transformers", "x-transformers"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "absent"
    return {
        "when": datetime.date.today().isoformat(),
        "machine": platform.machine(),
        "busy": busy,
        "versions": versions,
        "sizes": {"d_model": D_MODEL, "n_heads": N_HEADS, "batch": 1, "threads": 1},
        "unit": "microseconds a call, lower quartile and median",
        "rows": [
            {k: round(v, 1) if isinstance(v, float) else v for k, v in row.items()} for row in rows
        ],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, one length")
    parser.add_argument("--rounds", type=int, default=24, help="rounds of timing")
    parser.add_argument(
        "--prompts", type=int, nargs="+", default=PROMPTS, help="tokens that are kept in the cache"
    )
    known = [n for n in encodings.names("series") if n not in encodings.names("signal")]
    parser.add_argument("--encodings", nargs="+", choices=known, default=known, help="these only")
    parser.add_argument("--out", type=Path, help="file for the times, as JSON")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    at_work = busy()  # before this program adds to it
    rounds, prompts = (2, (64,)) if options.quick else (options.rounds, options.prompts)
    rows: list[dict] = []
    for prompt in prompts:
        rows += summary(measure(options.encodings, prompt, rounds), prompt)
    sizes = f"d_model = {D_MODEL}, {N_HEADS} heads, batch of 1"
    print(f"{platform.machine()}, 1 thread, torch {torch.__version__}, {sizes}\n")
    print("\n\n".join(report(rows, prompt) for prompt in prompts))
    if options.out:
        text = json.dumps(described(rows, busy=at_work), indent=1, ensure_ascii=False)
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
