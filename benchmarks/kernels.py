"""Our own kernels for processors beside PyTorch's: do they earn their place?

    python benchmarks/kernels.py                              # the stored table
    python benchmarks/kernels.py --out results/cpu-kernels.json    # measure what is missing

Attention alone, without its linear maps, from queries, keys and values, with the scores of T5,
ALiBi, TUPE and Shaw, in training (forth and back) and in evaluation. Contestants:

- *ours*: what `posenc.attention.kernels` chooses;
- *SDPA*: PyTorch's kernel with the scores written out as a matrix;
- *Flex*: compiled FlexAttention, which on a processor has no way back;
- *compiled*: the formula, compiled by torch.compile, forth and back.

The contestants take turns, and the median over rounds of the ratio to ours counts: above 1 ours is
quicker. On one thread the time is that of the thread, on two it is that of the wall, so that the
machine must be idle. Rows are stored one by one; given again, the command goes on.
"""

import argparse
import datetime
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path

import torch
from timing import busy, markdown, median_ratio
from torch import Tensor

from posenc import encodings
from posenc.attention import Places
from posenc.attention.formula import formula
from posenc.attention.kernels import attention, choose
from posenc.attention.score_mods import by_offset
from posenc.attention.terms import Term

STORED = Path(__file__).resolve().parents[1] / "results" / "cpu-kernels.json"
NAMES = ("t5", "alibi", "tupe", "relative")
LENGTHS = {128: 16, 512: 4, 896: 2, 4096: 1}  # tokens: batch
D_MODEL, N_HEADS = 128, 8
SCALE = (D_MODEL // N_HEADS) ** -0.5
SECONDS, MOST_ROUNDS = 4.0, 30  # of a row
CLEAR = 1.2
"""By how much ours must be quicker to stay."""

Contestants = dict[str, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="measure, and store here")
    parser.add_argument(
        "--lengths", type=int, nargs="+", choices=LENGTHS, default=list(LENGTHS), help="tokens"
    )
    parser.add_argument("--encodings", nargs="+", choices=NAMES, default=NAMES, help="these only")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads")
    parser.add_argument("--again", action="store_true", help="measure what is stored, too")
    options = parser.parse_args()
    if options.out is None:
        print(table(read()))
        return
    rows, at_work = [] if options.again else read(options.out), busy()
    done = {(r["threads"], r["length"], r["encoding"], r["what"]) for r in rows}
    for threads in options.threads:
        torch.set_num_threads(threads)
        for length in options.lengths:
            for name in options.encodings:
                for what in ("training", "evaluation"):
                    if (threads, length, name, what) in done:
                        continue
                    found = measure(name, length, training=what == "training")
                    rows.append(
                        {"threads": threads, "length": length, "encoding": name, "what": what}
                        | found
                        | about(at_work)
                    )
                    print(rows[-1], flush=True)
                    options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


def about(at_work: bool) -> dict[str, object]:
    """Return when and with what a row was measured."""
    machine = f"{platform.machine()}, torch {torch.__version__}"
    return {"when": datetime.date.today().isoformat(), "machine": machine, "busy": at_work}


def read(path: Path = STORED) -> list[dict]:
    """Return the stored rows."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


# -- measuring -------------------------------------------------------------------------------------


def measure(name: str, length: int, *, training: bool) -> dict[str, object]:
    """Return the kernel that is ours, its milliseconds, and the others' times over ours."""
    calls, chosen = contestants(name, length, training=training)
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    times: dict[str, list[float]] = {which: [] for which in calls}
    with torch.set_grad_enabled(training):
        for call in calls.values():
            call()  # compiles
        start = time.perf_counter()
        for n in range(MOST_ROUNDS):
            for which, call in calls.items():
                before = clock()
                call()
                times[which].append(clock() - before)
            if n >= 2 and time.perf_counter() - start > SECONDS:
                break
    torch._dynamo.reset()
    others = {
        which: round(median_ratio(of, times["ours"]), 3)
        for which, of in times.items()
        if which != "ours"
    }
    return {"kernel": chosen, "ms": round(1e3 * min(times["ours"]), 3), "over ours": others}


def contestants(name: str, length: int, *, training: bool) -> tuple[Contestants, str]:
    """Return what is timed, and the name of the kernel that is ours."""
    torch.manual_seed(0)
    position = encodings.make(name, D_MODEL, N_HEADS, length)
    batch = LENGTHS.get(length, 1)
    x = torch.randn(batch, length, D_MODEL)
    qkv = torch.randn(batch, length, 3, N_HEADS, D_MODEL // N_HEADS, requires_grad=training)
    places = Places.of(x)

    def heads() -> tuple[Tensor, Tensor, Tensor]:
        return qkv.permute(2, 0, 3, 1, 4).unbind(0)

    def term(q: Tensor, k: Tensor) -> Term:
        return position.term("bias", places, x, q, k)

    def ours() -> Tensor:
        q, k, v = heads()
        return attention(q, k, v, term(q, k), None, None, limited=False, dropout=0.0, scale=SCALE)

    def written_out() -> Tensor:
        q, k, v = heads()
        matrix = term(q, k).dense(q, k)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, matrix, scale=SCALE)

    by_formula = torch.compile(lambda q, k, v, m: formula(q, k, v, m, 0.0, SCALE))

    def compiled() -> Tensor:
        q, k, v = heads()
        return by_formula(q, k, v, term(q, k).dense(q, k))

    found: dict[str, Callable[[], Tensor]] = {
        "ours": ours,
        "SDPA": written_out,
        "compiled": compiled,
    }
    if not training:
        found["Flex"] = flexible(heads, term)
    q, k, _ = heads()
    with torch.set_grad_enabled(training):
        chosen = choose(q, term(q, k), None, limited=False, dropout=0.0, k=k)
    if not training:
        return dict(found), chosen
    d_out = torch.randn(batch, N_HEADS, length, D_MODEL // N_HEADS)

    def both_ways(call: Callable[[], Tensor]) -> Callable[[], None]:
        def whole() -> None:
            call().backward(d_out)
            qkv.grad = None
            position.zero_grad()

        return whole

    return {which: both_ways(call) for which, call in found.items()}, chosen


def flexible(
    heads: Callable[[], tuple[Tensor, Tensor, Tensor]], term: Callable[[Tensor, Tensor], Term]
) -> Callable[[], Tensor]:
    """Return FlexAttention with the scores in the shortest form that there is."""
    from torch.nn.attention.flex_attention import flex_attention

    flex = torch.compile(flex_attention)

    def call() -> Tensor:
        q, k, v = heads()
        added = term(q, k)
        if added.kind == "by_product":
            of_queries, of_keys = (
                more.expand(*q.shape[:-1], more.shape[-1]) for more in added.factors()
            )
            wide_q, wide_k = torch.cat((q * SCALE, of_queries), -1), torch.cat((k, of_keys), -1)
            return flex(wide_q, wide_k, v, scale=1.0)
        values = added.scores()
        values = values[None, :, None] if added.kind == "by_offset" else values
        return flex(q, k, v, score_mod=by_offset(values), scale=SCALE)

    return call


# -- for readers -----------------------------------------------------------------------------------


def table(rows: list[dict]) -> str:
    """Return the times of the others over ours, and whether ours stays."""
    if not rows:
        return "Nothing is measured yet: `python benchmarks/kernels.py --out " + (
            f"results/{STORED.name}`."
        )
    others = list(dict.fromkeys(which for row in rows for which in row["over ours"]))
    lines = [
        [
            f"{row['encoding']}, {row['what']}",
            row["kernel"],
            f"{row['length']:,}",
            str(row["threads"]),
            *(f"{row['over ours'][o]:.2f}" if o in row["over ours"] else "" for o in others),
            verdict(row),
        ]
        for row in rows
    ]
    head = ["attention with", "our kernel", "tokens", "threads", *others, "ours"]
    return markdown(head, lines)


def verdict(row: dict) -> str:
    """Return whether ours is quicker than the quickest other by a clear factor."""
    best = min(row["over ours"].values())
    return "clearly quicker" if best >= CLEAR else "quicker" if best > 1 else "slower"


if __name__ == "__main__":
    main()
