"""`posenc.attention.score_mod` beside what others do: is it ever slower?

    python benchmarks/score_mods.py                        # on a GPU, forth and back, bfloat16
    python benchmarks/score_mods.py --device cpu           # on a processor, forth only, float32
    python benchmarks/score_mods.py --device cpu --lengths 64 --rounds 2 --uncompiled  # rehearse

Causal attention alone, from queries, keys and values, with the scores of ALiBi, T5, KERPLE and
Shaw. The contestants take turns, in an order that is drawn anew each round, and the median over
rounds of the ratio to ours counts, with the quartiles beside it: above 1 ours is quicker, and level
where the quartiles lie on both sides of 1.

- *ours*: FlexAttention with the function of `score_mod`;
- *by hand*: FlexAttention with the function that one would write (`by_hand.py`);
- *SDPA*: PyTorch's kernel with the scores written out as a matrix;
- *transformers*: what its T5 and its BLOOM do, where the package is installed.

The machine must be idle. `--out` stores the rows; the table shows those of `results/`.
"""

import argparse
import json
import math
from collections.abc import Callable, Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import by_hand
import torch
from timing import busy, interleaved, markdown, ratio_quartiles
from torch import Tensor

from posenc import encodings
from posenc.attention import Places, SelfAttention, score_mod

STORED = Path(__file__).resolve().parents[1] / "results" / "score-mods.json"
NAMES = ("alibi", "t5", "kerple", "relative")
D_MODEL, N_HEADS = 512, 8
TOKENS = 16384  # of a batch
OTHERS = ("by hand", "SDPA", "transformers")

Kernel = Callable[[Tensor, Tensor, Tensor], Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="where")
    parser.add_argument("--lengths", type=int, nargs="+", default=[1024, 4096], help="tokens")
    parser.add_argument("--encodings", nargs="+", choices=NAMES, default=NAMES, help="some")
    parser.add_argument("--rounds", type=int, default=30, help="in which all take turns")
    parser.add_argument("--uncompiled", action="store_true", help="to see that it works")
    parser.add_argument("--out", type=Path, help="store the rows here")
    options = parser.parse_args()
    # who compiles second would else get a program for every size
    torch._dynamo.config.automatic_dynamic_shapes = False
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU; --device cpu measures what a processor can do")
    at_work, rows = busy(), []  # the second row would see the work of the first
    for length in options.lengths:
        for name in options.encodings:
            rows.append(
                measure(
                    name,
                    length,
                    options.device,
                    rounds=options.rounds,
                    compiled=not options.uncompiled,
                )
                | {"busy": at_work}
            )
            print(rows[-1], flush=True)
    if options.out is not None:
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


def read(path: Path = STORED) -> list[dict]:
    """Return the stored rows."""
    return json.loads(path.read_text(encoding="utf-8"))


def measure(
    name: str, length: int, device: str, *, rounds: int, compiled: bool
) -> dict[str, object]:
    """Return our milliseconds, and the others' times over ours."""
    learn = device == "cuda"  # FlexAttention has no way back on a processor
    layer = made(name, length, device)
    kernels = contestants(layer, length, compiled=compiled)
    shape = max(TOKENS // length, 1) if learn else 1, N_HEADS, length, D_MODEL // N_HEADS
    dtype = torch.bfloat16 if learn else torch.float32
    q, k, v = (torch.randn(shape, device=device, dtype=dtype) for _ in range(3))
    inputs = [one.requires_grad_(learn) for one in (q, k, v)]

    def whole(kernel: Kernel) -> Callable[[], None]:
        def call() -> None:
            with torch.set_grad_enabled(learn):
                out = kernel(*inputs)
                if learn:
                    out.backward(v)
                    torch.cuda.synchronize()

        return call

    layer.requires_grad_(learn)
    times = interleaved(
        {which: whole(kernel) for which, kernel in kernels.items()}, rounds, settled=True
    )
    torch._dynamo.reset()
    over = {
        which: [round(part, 3) for part in ratio_quartiles(times[which], times["ours"])]
        for which in times
        if which != "ours"
    }
    where = torch.cuda.get_device_name() if learn else "cpu"
    about = {"encoding": name, "length": length, "machine": where, "torch": torch.__version__}
    return about | {"ms": round(1e3 * min(times["ours"]), 3), "over ours": over}


def made(name: str, length: int, device: str) -> SelfAttention:
    """Return a causal layer, of which nothing but the encoding is used."""
    torch.manual_seed(0)
    position = encodings.make(name, D_MODEL, N_HEADS, length)
    return SelfAttention(D_MODEL, N_HEADS, position, causal=True).to(device)


def contestants(layer: SelfAttention, length: int, *, compiled: bool) -> dict[str, Kernel]:
    """Return causal attention with the encoding of a layer, as each would have it."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    position, device = layer.position, layer.out.weight.device
    mask = create_block_mask(_causal, None, None, length, length, device=device)
    flex = torch.compile(flex_attention) if compiled else flex_attention

    def ours(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        added = score_mod(position, q, k, causal=True)
        return flex(q, k, v, score_mod=added, block_mask=mask)

    def written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        places = Places.of(q, causal=True)
        tokens = q.new_zeros(()).expand(len(q), length, D_MODEL)
        matrix = position.through("bias", places, tokens, q, k).to(q.dtype)
        return _sdpa(q, k, v, matrix.masked_fill(_ahead(length, device), -math.inf))

    hand = by_hand.KERNELS[type(position).__name__]
    found: dict[str, Kernel] = {
        "ours": ours,
        "by hand": hand(layer, length, compiled=compiled, mask=mask),
        "SDPA": written_out,
    }
    theirs = {"T5Bias": _t5, "ALiBi": _bloom}.get(type(position).__name__)
    if theirs is not None and find_spec("transformers") is not None:
        found["transformers"] = theirs(layer, length)
    return found


def _t5(layer: SelfAttention, length: int) -> Kernel:
    """Return what the decoder of transformers' T5 does behind its maps, by SDPA."""
    from transformers import T5Config
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.models.t5.modeling_t5 import T5Attention

    values: Any = layer.position.values
    sizes = {"d_model": D_MODEL, "num_heads": N_HEADS, "d_kv": D_MODEL // N_HEADS}
    config = T5Config(is_decoder=True, **sizes)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0, is_causal=True)
    theirs.relative_attention_bias.weight = torch.nn.Parameter(values.detach().T.clone())
    theirs.to(values.device)

    def kernel(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        bias = theirs.compute_bias(length, length).to(q.dtype)
        out, _ = sdpa_attention_forward(
            theirs, q, k, v, None, scaling=layer.scale, position_bias=bias
        )
        return out.transpose(1, 2)

    return kernel


def _bloom(layer: SelfAttention, length: int) -> Kernel:
    """Return what transformers' BLOOM does between its maps; it has no other kernel."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    def kernel(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        real = torch.ones(len(q), length, device=q.device)
        row = build_alibi_tensor(real, N_HEADS, q.dtype)
        q, k = (one.flatten(0, 1) for one in (q, k))
        scores = row.baddbmm(q, k.mT, beta=1.0, alpha=layer.scale).unflatten(0, (-1, N_HEADS))
        scores = scores.masked_fill(_ahead(length, q.device), torch.finfo(q.dtype).min)
        return scores.softmax(-1, dtype=torch.float32).to(v.dtype) @ v

    return kernel


def _causal(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
    del b, h
    return j <= i


def _sdpa(q: Tensor, k: Tensor, v: Tensor, matrix: Tensor) -> Tensor:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, matrix)


def _ahead(length: int, device: torch.device) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device=device).triu(1)


def table(rows: list[dict]) -> str:
    """Return the times of the others over ours, and whether ours is the slower one anywhere."""
    lines = [
        [
            row["encoding"],
            f"{row['length']:,}",
            f"{row['ms']:.2f}",
            *(f"{row['over ours'][o][1]:.2f}" if o in row["over ours"] else "" for o in OTHERS),
            verdict(row["over ours"].values()),
        ]
        for row in rows
    ]
    return markdown(["attention with", "tokens", "ours, ms", *OTHERS, "ours"], lines)


def verdict(others: Collection[list[float]]) -> str:
    """Return what the quartiles of the others' times over ours say of ours."""
    if min(upper for _, _, upper in others) < 1:
        return "slower"
    return "level" if min(lower for lower, _, _ in others) < 1 else "quickest"


if __name__ == "__main__":
    main()
