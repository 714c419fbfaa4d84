"""What `gpu.py` measures: RoPE's turn, a token with a cache, attention, a small GPT, the grid.

Each part yields what a row is called and a function that measures it.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

import by_hand
import engine
import torch
from costs import OF_AN_IMAGE
from gpu_tables import NO_TIME
from timing import interleaved, median_ratio
from torch import Tensor, nn

from posenc import encodings
from posenc.attention import Cache, SelfAttention
from posenc.encodings import Rotary
from posenc.models import LanguageModel

Row = dict[str, object]
Part = Iterator[tuple[Row, Callable[[], Row]]]

FIRST = ("sinusoidal", "rotary", "alibi", "t5", "relative", "tupe")
DTYPE = torch.bfloat16
CLOSE = 0.05
"""How far two turned vectors of bfloat16 may lie apart."""


def _named() -> list[str]:
    """Return the encodings of a series, those that are asked for most first."""
    others = [n for n in encodings.names("series") if n not in (*FIRST, *OF_AN_IMAGE, "none")]
    return [*FIRST, *others]


# -- RoPE's turn alone -----------------------------------------------------------------------------


def turning(sizes: dict, device: str) -> Part:
    """Yield how long others take to turn queries and keys in halves, in units of ours."""
    for training in (False, True):
        label = {"turning": "forth and back" if training else "forth"}
        yield label, partial(_turned, sizes, device, training=training)


def _turned(sizes: dict, device: str, *, training: bool) -> Row:
    turns = _turns(device, **sizes["turning"])
    q, k = _queries_and_keys(device, **sizes["turning"])
    truth = [a.float() for a in turns["posenc"](q.clone(), k.clone())]
    calls, row = {}, {}
    for name, turn in turns.items():
        try:
            found = turn(q.clone(), k.clone())
            gap = max((a - b).abs().max().item() for a, b in zip(truth, found, strict=True))
            if gap > CLOSE:
                raise ValueError(f"turns otherwise, by {gap:.2g}")
            pair = [a.clone().requires_grad_(training) for a in (q, k)]
            calls[name] = partial(_turn_once, turn, *pair, training=training)
            calls[name]()
        except Exception as error:  # what one of them cannot do is a finding
            calls.pop(name, None)
            row[name] = reason(error)
    times = timed(calls, sizes["rounds"], device)
    for name, seconds in times.items():
        row[name] = round(median_ratio(seconds, times["posenc"]), 4)
    return {"ms of ours": round(1e3 * median(times["posenc"]), 4), "of ours": row}


def _turn_once(turn: Callable, q: Tensor, k: Tensor, *, training: bool) -> None:
    if training:
        a, b = turn(q * 1, k * 1)  # a leaf may not be turned in place
        (a.sum() + b.sum()).backward()
        q.grad = k.grad = None
    else:
        turn(q, k)


def _queries_and_keys(
    device: str, batch: int, n_heads: int, length: int, d_head: int
) -> list[Tensor]:
    """Return both as linear maps leave them: heads behind tokens in memory."""
    shape = batch, length, n_heads, d_head
    return [torch.randn(shape, device=device, dtype=DTYPE).transpose(1, 2) for _ in range(2)]


def _turns(
    device: str, batch: int, n_heads: int, length: int, d_head: int
) -> dict[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]]:
    """Return what turns, by whose it is; libraries that are absent are left out."""
    del batch
    ours = Rotary(n_heads * d_head, n_heads, length, pairing="half").to(device)
    found = {"posenc": ours.rotate}
    angles = torch.outer(torch.arange(length), torch.as_tensor(ours.omega)).to(device)
    cos, sin = angles.cos(), angles.sin()
    both = [torch.cat((a, a), -1)[None].to(DTYPE) for a in (cos, sin)]
    try:
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama

        found["transformers"] = lambda q, k: llama(q, k, *both)
        if device == "cuda":
            compiled = torch.compile(llama)
            found["transformers, compiled"] = lambda q, k: compiled(q, k, *both)
    except ImportError as error:
        print(f"transformers is left out: {error}")
    if device == "cuda":
        found["posenc, compiled"] = torch.compile(ours.rotate)
        found |= _fused(*both, cos.to(DTYPE), sin.to(DTYPE))
    return found


def _fused(cos: Tensor, sin: Tensor, half_cos: Tensor, half_sin: Tensor) -> dict[str, Callable]:
    """Return kernels of Triton that people use for it."""
    found = {}
    try:
        from liger_kernel.ops.rope import LigerRopeFunction

        found["Liger"] = lambda q, k: LigerRopeFunction.apply(q, k, cos, sin)
    except ImportError as error:
        print(f"Liger is left out: {error}")
    try:
        from flash_attn.layers.rotary import apply_rotary_emb

        def flash(q: Tensor, k: Tensor) -> tuple[Tensor, ...]:
            turned = (apply_rotary_emb(a.transpose(1, 2), half_cos, half_sin) for a in (q, k))
            return tuple(a.transpose(1, 2) for a in turned)

        found["flash-attention"] = flash
    except ImportError as error:
        print(f"flash-attention is left out: {error}")
    return found


# -- one token with a cache ------------------------------------------------------------------------


def decoding(sizes: dict, device: str) -> Part:
    """Yield the time of one token of a layer that keeps so many, for each encoding."""
    for kept in sizes["kept"]:
        for name in _named():
            if name not in encodings.names("signal"):
                yield (
                    {"encoding": name, "kept": kept},
                    partial(_decoded, name, kept, sizes, device),
                )


@torch.inference_mode()
def _decoded(name: str, kept: int, sizes: dict, device: str) -> Row:
    d_model, _ = sizes["width"]
    n = kept + 4 * sizes["rounds"] + 8  # each call grows the cache by one
    x = torch.randn(1, n, d_model, device=device, dtype=DTYPE)

    def call(name: str) -> Callable[[], Tensor]:
        made = layer(name, n, sizes, device, causal=True).eval()
        cache = Cache()
        made(x[:, :kept], cache=cache)
        return lambda: made(x[:, cache.length : cache.length + 1], cache=cache)

    times = timed({"none": call("none"), "ours": call(name)}, sizes["rounds"], device)
    return {
        "us of none": round(1e6 * median(times["none"]), 1),
        "of none": round(median_ratio(times["ours"], times["none"]), 4),
    }


# -- attention -------------------------------------------------------------------------------------


def attention(sizes: dict, device: str) -> Part:
    """Yield a row for each encoding and length: first those that are asked for most."""
    named = _named()
    for names in (named[: len(FIRST)], named[len(FIRST) :]):
        for length, (batch, rounds) in sizes["lengths"].items():
            for name in names:
                label = {"encoding": name, "length": length, "batch": batch}
                yield label, partial(_beside_none, name, length, batch, rounds, sizes, device)


def _beside_none(name: str, length: int, batch: int, rounds: int, sizes: dict, device: str) -> Row:
    """Return how long an encoding takes in units of none, and of what is written by hand."""
    torch._dynamo.reset()  # what one has compiled shall not count against the next
    d_model, _ = sizes["width"]
    x = torch.randn(batch, length, d_model, device=device, dtype=DTYPE, requires_grad=True)
    ours = layer(name, length, sizes, device)
    calls = {
        "none": both_ways(layer("none", length, sizes, device), x),
        "ours": both_ways(ours, x),
    }
    if name in by_hand.BY_HAND and (device == "cuda" or name not in by_hand.BY_FLEX):
        hand = by_hand.attention(ours, length, compiled=device == "cuda")
        calls["by hand"] = both_ways(hand, x)
    times = timed(calls, rounds, device)
    of_hand = median_ratio(times["ours"], times["by hand"]) if "by hand" in times else None
    return {
        "ms of none": round(1e3 * median(times["none"]), 4),
        "of none": round(median_ratio(times["ours"], times["none"]), 4),
        "of hand": of_hand and round(of_hand, 4),
    }


def layer(
    name: str, length: int, sizes: dict, device: str, *, causal: bool = False
) -> SelfAttention:
    d_model, n_heads = sizes["width"]
    torch.manual_seed(0)
    position = encodings.make(name, d_model, n_heads, length)
    return SelfAttention(d_model, n_heads, position, causal=causal).to(device, DTYPE)


def both_ways(layer: Callable, x: Tensor) -> Callable[[], None]:
    """Return one pass forth and back, with gradients of the tokens and of all that is learned."""

    def call() -> None:
        layer(x).sum().backward()
        x.grad = None

    return call


# -- a small GPT -----------------------------------------------------------------------------------


def gpt(sizes: dict, device: str) -> Part:
    """Yield tokens a second of our language model and of the plain one, as they are and compiled.

    Both train on the same random tokens in bfloat16, with AdamW.
    """
    for how in ("as it is", "compiled") if device == "cuda" else ("as it is",):
        yield {"how": how}, partial(_tokens_a_second, how, sizes, device)


def _tokens_a_second(how: str, sizes: dict, device: str) -> Row:
    of, batch = sizes["gpt"], sizes["gpt_batch"]
    tokens = torch.randint(of["n_tokens"], (batch, of["length"] + 1), device=device)
    ours = LanguageModel(
        of["n_tokens"], of["d_model"], of["n_heads"], of["n_layers"], max_length=of["length"]
    )
    models: dict[str, nn.Module] = {"ours": ours, "plain": by_hand.PlainGPT(**of)}
    steps = {}
    for name, model in models.items():
        ready = torch.compile(model.to(device)) if how == "compiled" else model.to(device)
        steps[name] = by_hand.training_step(ready, tokens)
    times = timed(steps, sizes["rounds"], device)
    n = batch * of["length"]
    speeds = {f"{name}, tokens/s": round(n / median(t)) for name, t in times.items()}
    return {**speeds, "ratio": round(median_ratio(times["plain"], times["ours"]), 4)}


# -- the grid --------------------------------------------------------------------------------------


def grid(sizes: dict, device: str) -> Part:
    """Yield trainings an hour of the benchmark's engine, and of a plain loop at the same cells."""
    for length in sizes["grid"]["lengths"]:
        yield {"length": length}, partial(_trainings_an_hour, length, sizes, device)


def _trainings_an_hour(length: int, sizes: dict, device: str) -> Row:
    todo = engine.cells(argparse.Namespace(device=device, **sizes["grid"]), length)
    seconds = {
        "ours": engine.time_engine(todo, device),
        "plain": engine.time_loop(engine.PlainModel, todo, device),
    }
    hourly = {f"{name}, an hour": round(3600 * len(todo) / s) for name, s in seconds.items()}
    return {**hourly, "ratio": round(seconds["plain"] / seconds["ours"], 4)}


# -- for all of them -------------------------------------------------------------------------------


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
    once = {name: [_seconds(call)] for name, call in whole.items()}
    if sum(seconds[0] for seconds in once.values()) > SLOW:
        return once
    return interleaved(whole, rounds, settled=True)


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


SLOW = 2.0
"""Seconds of a round from which on one round must do."""


def measured(part: Part, until: float, known: dict[tuple, Row]) -> Iterator[Row]:
    """Yield each row of a part, and where none could be had, why.

    What is known already is not measured again.
    """
    for label, call in part:
        if (name := named(label)) in known:
            yield known[name]
        elif time.monotonic() > until:
            yield label | {"why": NO_TIME}
        else:
            yield label | _or_why(call)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


LABELS = ("turning", "encoding", "kept", "length", "how")
"""What tells the rows of a part apart."""


def named(row: Row) -> tuple:
    """Return what tells a row from the others of its part."""
    return tuple(row[label] for label in LABELS if label in row)


def _or_why(call: Callable[[], Row]) -> Row:
    try:
        return call()
    except torch.OutOfMemoryError:
        return {"why": "out of memory"}
    except Exception as error:  # a kernel that fails is a finding, not an obstacle
        return {"why": reason(error)}


def reason(error: Exception) -> str:
    """Return the first words of an error."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]:.80}"


PARTS: dict[str, Callable[[dict, str], Part]] = {
    "turning": turning,
    "decoding": decoding,
    "gpt": gpt,
    "attention": attention,
    "grid": grid,
}
