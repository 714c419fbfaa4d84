"""What PyTorch's kernel for CPUs asks for by itself, beside plain attention: bounds for the aims.

Some aims of `attention.py` cannot be reached on one thread, and this shows why. The kernel is
called by name, forth and back, at the sizes of that benchmark, and compared with itself without
any scores of position:

- *line*: scores by offset, as a view of one line, whose gradient is left out; the least for `t5`.
- *gradient*: that gradient alone, which `t5` needs too.
- *matrix*: scores written out, whose gradient is left out.
- *wide*: queries, keys and values of twice the width, which `tupe` cannot do without.
- *short*: 128 queries a call, as `relative` needs them, whose scores differ from query to query.

All take turns, the time is that of the thread, and the quickest calls are compared, so that other
programs can only blur the ratios. Run `OMP_NUM_THREADS=1 python benchmarks/bounds.py`; with `--out`
the table is stored, as `results/bounds.json` is.
"""

import argparse
import datetime
import json
import platform
from collections.abc import Callable
from pathlib import Path

import torch
from attention import D_MODEL, LENGTHS, N_HEADS, timed
from timing import busy, markdown
from torch import Tensor

from posenc.attention.fast import flash
from posenc.attention.fast.band import gradient_of_line

REACH, ROWS = 128, 128
WIDTH = D_MODEL // N_HEADS


def both_ways(q: Tensor, k: Tensor, v: Tensor, d_out: Tensor, mask: Tensor | None = None) -> None:
    """Call the kernel forth and back."""
    out, log_sum = flash.attend(q, k, v, mask)
    flash.gradients(d_out, q, k, v, out, log_sum, mask)


def calls(length: int) -> dict[str, Callable[[], object]]:
    """Return what is timed at a length."""
    batch = LENGTHS[length][0]
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    # the layout that a layer's maps leave behind
    q, k, v, d_out = drawn(batch, length, 4, N_HEADS, WIDTH).permute(2, 0, 3, 1, 4).unbind(0)
    q = q * WIDTH**-0.5
    line, matrix = 0.1 * drawn(N_HEADS, 2 * REACH + 1), 0.1 * drawn(1, N_HEADS, length, length)
    wide = [torch.cat((a, a), -1) for a in (q, k, v, d_out)]
    known = d_out, q, k, v, *flash.attend_by_offset(q, k, v, line), line

    def by_line() -> None:
        out, log_sum = flash.attend_by_offset(q, k, v, line)
        flash.gradients_by_offset(d_out, q, k, v, out, log_sum, line)

    def short() -> None:
        for start in range(0, length, ROWS):
            rows = slice(start, start + ROWS)
            both_ways(q[:, :, rows], k, v, d_out[:, :, rows])

    return {
        "plain": lambda: both_ways(q, k, v, d_out),
        "line": by_line,
        "gradient": lambda: gradient_of_line(*known),
        "matrix": lambda: both_ways(q, k, v, d_out, matrix),
        "wide": lambda: both_ways(*wide),
        "short": short,
    }


def measure(length: int, rounds: int) -> dict[str, float]:
    """Return the quickest time of each call over that of plain attention."""
    todo = calls(length)
    times: dict[str, list[float]] = {name: [] for name in todo}
    for number in range(rounds + 1):
        for name, call in todo.items():
            of_call = timed(call)
            if number:  # the first round is to warm up
                times[name].append(of_call)
    return {name: round(min(found) / min(times["plain"]), 3) for name, found in times.items()}


def main() -> None:
    """Measure, show a table, and store it if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--lengths",
        type=int,
        nargs="+",
        choices=LENGTHS,
        default=[896, 4096],
        help="tokens of a series",
    )
    parser.add_argument("--rounds", type=int, default=12, help="rounds of timing")
    parser.add_argument("--out", type=Path, help="a .json file, in which other lengths stay")
    options = parser.parse_args()
    torch.set_num_threads(1)
    other_work = busy()
    found = {str(length): measure(length, options.rounds) for length in options.lengths}
    rows = [[length, *(f"{ratio:.2f}" for ratio in of.values())] for length, of in found.items()]
    print(markdown(["length", *next(iter(found.values()))], rows))
    if options.out is None:
        return
    about = {
        "when": datetime.date.today().isoformat(),
        "machine": platform.machine(),
        "torch": torch.__version__,
        "busy": other_work,
    }
    stored = json.loads(options.out.read_text()) if options.out.is_file() else {}
    stored |= {length: {"ratios": ratios, **about} for length, ratios in found.items()}
    options.out.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
