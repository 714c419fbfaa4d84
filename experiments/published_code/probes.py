"""What does a class of published code do? Run by `checkout.py`, never imported by others.

A probe makes the class small, asks it once or a few times, and compares with the encodings of this
library and with the re-enactments of `posenc_book.audit.published`. It returns numbers and words
only. Every class is asked in a process of its own, which is ended when its time is up.

    python -P probes.py < orders.json     # answers as 0.json, 1.json, ... in the current folder
"""

import inspect
import json
import math
import os
import resource
import signal
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from posenc import tables
from posenc.encodings import Added
from posenc_book.audit import published
from posenc_book.audit.modules import EXACT

BATCH, LENGTH, D_MODEL, HEADS, MAX_LEN = 3, 7, 16, 4, 50
DECAY_WIDTH, PASSES = 240, 4
MEMORY = 16 * 2**30  # bytes of address space
RE_ENACTED: dict[str, type[Added]] = {
    "AbsolutePositionalEncoding": published.Sinusoidal,
    "FixedPositionalEncoding": published.BatchIndexed,
    "PositionalEncoding": published.RescaledSinusoidal,
    "SineSPE": published.FixedSPE,
    "TemporalPositionalEncoding": published.InputOnlyTPE,
}


def made(cls: type, **sizes: Any) -> nn.Module:
    """Return a module with those of the sizes that its constructor names, without dropout."""
    wanted = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in sizes.items() if name in wanted}).eval()


def small(cls: type) -> Any:
    return made(
        cls,
        d_model=D_MODEL,
        in_features=D_MODEL,
        emb_size=D_MODEL,
        num_heads=HEADS,
        ndim=1,
        seq_len=LENGTH,
        max_len=MAX_LEN,
        dropout=0.0,
    )


def tokens(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def largest(a: Tensor, b: Tensor) -> float:
    """Return the largest absolute difference."""
    return float((a - b).abs().max())


def error_summary(error: Exception) -> str:
    """Return kind and beginning of an error."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:80]}".strip(": ")


# --- probes: each takes a class and returns what was found -------------------------------------


def added(cls: type) -> dict[str, Any]:
    """Along which axis does an encoding that is added to tokens vary, and what does it add?"""
    module = small(cls)
    batch_first = tokens(BATCH, LENGTH, D_MODEL)
    found = {
        "batch_first": axis(module, batch_first, time=1),
        "length_first": axis(module, batch_first.transpose(0, 1), time=0),
    }
    if all("stops" in answer for answer in found.values()):
        rows = table(cls)  # perhaps it wants a length and gives the table
        return found if "returns" in rows else rows
    if found["batch_first"] in ("time", "batch"):
        found |= compared(cls.__name__, module, batch_first)
    return found


def axis(module: nn.Module, x: Tensor, time: int) -> str:
    """Return "time", "batch", "both" or "nothing", or the error with which the module stops."""
    try:
        given = module(x) - x
    except Exception as error:
        return f"stops, {error_summary(error)}"
    varies = {
        name: largest(given, given.narrow(dim, 0, 1)) > EXACT
        for name, dim in (("time", time), ("batch", 1 - time))
    }
    return {0: "nothing", 2: "both"}.get(sum(varies.values()), max(varies, key=varies.__getitem__))


def compared(name: str, module: nn.Module, x: Tensor) -> dict[str, Any]:
    """Return how far what is added is from the sinusoid, tAPE and the re-enactment."""
    first, second = module(x) - x, module(x) - x
    n = BATCH if name == "FixedPositionalEncoding" else LENGTH
    rows = first[:, 0] if n == BATCH else first[0]
    return {"steady": torch.equal(first, second)} | distances(name, rows, n)


def distances(name: str, rows: Tensor, n: int) -> dict[str, Any]:
    """Return the largest differences of added rows from what they might be."""
    sinusoid = torch.tensor(tables.sinusoidal(n, D_MODEL), dtype=rows.dtype)
    found: dict[str, Any] = {
        "from_sinusoid": largest(rows, sinusoid),
        "is_sinusoid": largest(rows, sinusoid) < EXACT,
        "deviation": float(rows.std()),
    }
    if name == "tAPE":
        coded = published.ConfiguredTAPE(D_MODEL, HEADS, n, n_steps=MAX_LEN).rows(n)
        found["from_re_enactment"] = largest(rows, coded)
    elif name in RE_ENACTED:
        again = RE_ENACTED[name](D_MODEL, HEADS, n).rows(n)
        found["from_re_enactment"] = largest(rows, again)
        if name == "PositionalEncoding":  # which also takes the mean of the whole table away
            centred = again - again.mean()
            found["from_re_enactment_centred"] = largest(rows, centred * (0.1 / centred.std()))
    return found


def table(cls: type) -> dict[str, Any]:
    """What does a class return that is asked for a table, by a length or by tokens?"""
    module, x = small(cls), tokens(BATCH, LENGTH, D_MODEL)
    for given in (LENGTH, x):
        with suppress(Exception):
            rows = module(given)
            if isinstance(rows, Tensor) and rows.shape[-2:] == (LENGTH, D_MODEL):
                return distances(cls.__name__, rows[0], LENGTH)
            return {"returns": f"{type(rows).__name__}, no table of the positions"}
    return {"returns": "random codes" if draws(module, x) else "nothing that was understood"}


def draws(module: nn.Module, x: Tensor) -> bool:
    """Return whether a module gives two tensors that change from call to call, for a shape."""
    with suppress(Exception):
        (first, _), (second, _) = module(x.shape), module(x.shape)
        return not torch.equal(first, second)
    return False


def decay(cls: type) -> dict[str, Any]:
    """How long are the rows of a table at width 240 in the first passes, and what is its rank?"""
    module, x = made(cls, d_model=DECAY_WIDTH), torch.zeros(DECAY_WIDTH, 1, DECAY_WIDTH, 1)
    passes = torch.stack([module(x)[:, 0, :, 0] for _ in range(PASSES)])
    norms = passes.norm(dim=-1)
    found = {
        "width": DECAY_WIDTH,
        "inner_norms": norms[:, DECAY_WIDTH // 2].tolist(),
        "first_norms": norms[:, 0].tolist(),
        "steady": torch.equal(passes[0], passes[-1]),
    }
    if found["steady"]:
        sinusoid = torch.tensor(tables.sinusoidal(DECAY_WIDTH, DECAY_WIDTH))
        return found | {"from_sinusoid": largest(passes[0], sinusoid)}
    again = published.DecayingDFT(DECAY_WIDTH, HEADS, DECAY_WIDTH)
    ours = torch.cat([again.embed(torch.zeros(1, *passes.shape[1:])) for _ in range(PASSES)])
    return found | {
        "rank": int(np.linalg.matrix_rank(passes[0].double().numpy(), tol=1e-5)),
        "second_column": float(passes[0, :, 1].abs().max()),
        "from_re_enactment": largest(passes, ours),
    }


def skew(cls: type) -> dict[str, Any]:
    """Is its skew that of the Music Transformer without a mask?"""
    scores = tokens(BATCH, HEADS, LENGTH, LENGTH)
    module, x = small(cls), tokens(BATCH, LENGTH, D_MODEL)
    return {
        "runs": "yes" if module(x).shape == x.shape else "other shape",
        "from_re_enactment": largest(module.skew(scores), published.unmasked_skew(scores)),
    }


def heads(cls: type) -> dict[str, Any]:
    """With how many heads does an attention layer run, out of 2, 4, 8 and 16?"""
    x, found = tokens(BATCH, LENGTH, D_MODEL), {}
    for n in (2, 4, 8, 16):
        try:
            made(cls, emb_size=D_MODEL, num_heads=n, seq_len=LENGTH, dropout=0.0)(x)
            found[str(n)] = "runs"
        except Exception as error:
            found[str(n)] = f"stops, {error_summary(error)}"
    return {"by_heads": found}


def convolution(cls: type) -> dict[str, Any]:
    """Is it a convolution of tokens, and what does it do when it is called with a length?"""
    module, x = small(cls), tokens(BATCH, LENGTH, D_MODEL)
    found: dict[str, Any] = {
        "with_length": answered(module, LENGTH),
        "with_tokens": answered(module, x),
    }
    if found["with_tokens"] == "runs" and isinstance(getattr(module, "conv", None), nn.Conv1d):
        again = published.TokenConvolution(D_MODEL, HEADS, LENGTH)
        again.convolution.load_state_dict(module.conv.state_dict())
        found["from_re_enactment"] = largest(module(x), again.embed(x))
    elif draws(module, x):
        found["returns"] = "random codes"
    return found


def answered(module: nn.Module, given: object) -> str:
    try:
        module(given)
    except Exception as error:
        return f"stops, {error_summary(error)}"
    return "runs"


def tupe(cls: type) -> dict[str, Any]:
    """Are its outputs numbers, with the configuration that the notebook defines before it?"""
    config = inspect.signature(cls).parameters["config"].annotation()
    width = config.d_model
    position = torch.tensor(tables.sinusoidal(LENGTH, width), dtype=torch.float32)[None]
    module = cls(config, lambda n: position[:, :n]).eval()
    out = module(tokens(BATCH, LENGTH, width))
    return {
        "finite": bool(out.isfinite().all()),
        "scale": float(module.scale),
        "scale_for_heads": math.sqrt(2 * width / config.num_heads),
    }


PROBES = {f.__name__: f for f in (added, table, decay, skew, heads, convolution, tupe)}


# --- the process -------------------------------------------------------------------------------


def taken(order: dict[str, Any]) -> type:
    """Return the class of an order, made from its imports and definitions."""
    space: dict[str, Any] = {"__name__": "checkout"}
    for statement in order["imports"]:
        with suppress(Exception):  # plotting, data: what the class itself misses shows below
            exec(compile(statement, "imports", "exec"), space)
    for definition in order["definitions"]:
        exec(compile(definition, "definition", "exec"), space)
    return space[order["name"]]


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Return what a probe finds, or the error that the class raises."""
    torch.manual_seed(0)
    warnings.simplefilter("ignore")
    try:
        with torch.no_grad():
            return PROBES[order["probe"]](taken(order))
    except Exception as error:
        return {"error": error_summary(error)}


def apart(order: dict[str, Any], path: Path, seconds: float) -> None:
    """Write the answer to an order from a process of its own, unless its time is up before.

    Its time is the processor's, as a busy machine is no fault of a class; one that sleeps has ten
    times as long.
    """
    child = os.fork()
    if not child:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, 2 * (math.ceil(seconds),))
            path.write_text(json.dumps(answer(order)), encoding="utf-8")
        finally:
            os._exit(0)
    deadline = time.monotonic() + 10 * seconds
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > deadline:
            path.unlink(missing_ok=True)
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        time.sleep(0.01)


def main() -> None:
    work = json.load(sys.stdin)
    for number, order in enumerate(work["orders"]):
        apart(order, Path.cwd() / f"{number}.json", work["seconds"])


if __name__ == "__main__":
    main()
