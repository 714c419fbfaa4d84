"""Promises two at a time: whatever keeps each alone may still break where they meet."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import torch

from posenc.testing.adapters.base import Adapter, CannotAsk, counted
from posenc.testing.asking import Asked, Check, Seen, difference
from posenc.testing.checks.compiled import COMPILER
from posenc.testing.checks.padding import needs_count
from posenc.testing.checks.precision import rounded
from posenc.testing.checks.texts import Laid, Rows, alone, in_pieces, lay_out

WAYS = {
    "cached": "a cache",
    "padding left": "padding on the left",
    "padding right": "padding on the right",
    "packing": "packed documents",
    "given_positions": "given positions",
    "window": "a window that is passed",
    "shared_heads": "shared heads",
    "dtypes": "half precision",
    "compiled": "a compiler",
}
"""What can be combined: ways of asking, none of which may change an answer; each in words."""

HINTS = {
    "cached & padding left": "new tokens are counted by the length of the cache, padding included, "
    "or by the first row; or the cache forgets which of its tokens are padded.",
    "cached & packing": "the cache forgets which document its tokens belong to.",
    "cached & given_positions": "with a cache, tokens are counted, whatever positions come.",
    "cached & window": "the window is laid for the piece alone, as if the cache were empty.",
    "cached & shared_heads": "keys are repeated before they are kept, and once more afterwards.",
    "padding left & dtypes": "a number that hides in float32 is too small, or too large, in half.",
    "padding right & dtypes": "a number that hides in float32 is too small, or too large, in half.",
    "cached & compiled": "what the cache holds was decided while tracing.",
}
NEVER = {
    "padding left & padding right": "padding stands on one side of a batch",
}
ANSWERS = "it says what the answers are, and every way of asking is held to the same ones"
ALWAYS = "each pair is asked in a batch, by a module that is made anew, and of each text alone"
ELSE = {
    **dict.fromkeys(("order", "causal", "relative", "real_times", "axes", "nearer"), ANSWERS),
    **dict.fromkeys(("layout", "longest", "like"), ANSWERS),
    **dict.fromkeys(("rows", "stateless"), ALWAYS),
    **dict.fromkeys(("trained", "layers", "layer", "device"), "a fact, which every check heeds"),
    "kernels": "each kernel is asked with padding, documents and a cache by a check of its own",
    "beyond": "beyond the trained length a cache is asked, by a check of its own",
    "moves": "a cast keeps its tables or loses them, whatever is asked; half precision is in pairs",
    "exported": "an exported program takes tokens and nothing else",
}
"""Why a promise stands in no pair: what asks it instead."""

Question = Callable[[Asked], Iterator[Seen]]


def why_not(one: str, other: str) -> str:
    """Return why two promises, by their words or ways, are not asked together; "" if they are."""
    for word in (one, other):
        if word not in WAYS:
            return ELSE[word.partition(" ")[0]]
    return NEVER.get(f"{one} & {other}", NEVER.get(f"{other} & {one}", ""))


def ask(asked: Asked, ways: tuple[str, str]) -> Iterator[Seen]:
    """Hand over texts in two ways at once, and each alone in the plain way."""
    reason = why_not(*ways)
    if reason:
        raise CannotAsk(reason)
    if "given_positions" in ways:
        asked.needs_positions()
    for columns in _columns(asked, ways):
        rows = _rows(columns, ways)
        for dtype in asked.promises.dtypes if "dtypes" in ways else (None,):
            number, due = _together(asked, ways, rows, dtype)
            told = f"{len(rows)} rows of up to {columns} tokens"
            yield Seen(number, told, due)


def _columns(asked: Asked, ways: tuple[str, str]) -> list[int]:
    """Return how long the batches are: past the window, and past twice the window."""
    w = asked.promises.window
    wanted = [w + 2, 2 * w + 3] if "window" in ways and w else [5, 8]
    most = min((asked.trained or 1000) - 8 * ("given_positions" in ways), 1000)
    held = [max(5, n) for n in wanted if max(5, n) <= most]
    if not held:
        raise CannotAsk(f"{wanted[0]} tokens would be needed, and {most} can be asked")
    return held


def _rows(columns: int, ways: tuple[str, str]) -> Rows:
    """Return the lengths of texts in three rows, the first neither the longest nor the shortest."""
    padded = "padding left" in ways or "padding right" in ways
    lengths = (columns - 1, columns, columns - 2) if padded else (columns,) * 3
    if "packing" not in ways:
        return [[n] for n in lengths]
    return [[n // 2 - r % 2, n - n // 2 + r % 2] for r, n in enumerate(lengths)]


def _together(
    asked: Asked, ways: tuple[str, str], rows: Rows, dtype: torch.dtype | None
) -> tuple[float, float]:
    """Return the largest difference of texts handed over in two ways at once, and what is due."""
    plain = _made(asked, ways, dtype, plain=True)
    side = "left" if "padding left" in ways else "right"
    given = "given_positions" in ways
    gap = None if not given else _gap(asked)
    laid = lay_out(plain, rows, side, gap=gap)
    due = alone(plain, laid)
    if "padding left" in ways and not given and needs_count(asked):
        laid.given["positions"] = plain.placed(counted(laid.x, laid.given))
    masks = {"padding", "documents"} & laid.given.keys()
    kinds = (False, True) if "cached" in ways and masks else (False,)
    number = _least([partial(_differ, asked, ways, dtype, laid, due, so_far) for so_far in kinds])
    if dtype is None:
        return number, asked.tolerance
    wide = rounded(_made(asked, ways, None, plain=True), dtype)
    noise = max(map(difference, due, alone(wide, lay_out(wide, rows, side, gap=gap))))
    return number, max(0.15, 6 * noise)


def _gap(asked: Asked) -> float:
    """Return how many steps are left out: none within a window, and half of one where it may be."""
    return 0 if asked.promises.window else 1.5 if asked.promises.real_times else 1


def _made(
    asked: Asked, ways: tuple[str, str], dtype: torch.dtype | None, *, plain: bool
) -> Adapter:
    """Return a subject of the type that is asked; a plain one has its shared heads written out."""
    subject = asked.subject()
    if "shared_heads" in ways and plain:
        subject = subject.repeated()
    if {"dtypes", "compiled"} & {*ways} and subject.module is None:
        raise CannotAsk("a function has no weights that could be cast")
    if dtype is not None and subject.module is not None:
        subject.module.to(dtype)
    if "compiled" in ways and not plain:
        torch.compiler.reset()
        subject.call = torch.compile(subject.call, backend="aot_eager")
    return subject


def _differ(
    asked: Asked,
    ways: tuple[str, str],
    dtype: torch.dtype | None,
    laid: Laid,
    due: list[torch.Tensor],
    so_far: bool,
) -> float:
    subject = _made(asked, ways, dtype, plain=False)
    if "cached" in ways:
        sizes = pieces(laid.x.shape[1])
        out = in_pieces(subject, laid.x, sizes, so_far=so_far, **laid.given)
    else:
        out = subject.outputs(laid.x, **laid.given)
    numbers = list(map(difference, laid.texts(out), due))
    return math.nan if any(map(math.isnan, numbers)) else max(numbers)


def pieces(columns: int) -> list[int]:
    """Return sizes of pieces: a beginning with a real token in each row, two tokens, the rest."""
    first = max(4, columns // 2)
    single = min(2, columns - first)
    return [n for n in (first, *[1] * single, columns - first - single) if n]


def _least(attempts: list[Callable[[], float]]) -> float:
    """Return the smallest number of several, as any usual way to hand over a mask will do."""
    numbers: list[float] = []
    errors: list[Exception] = []
    for attempt in attempts:
        try:
            numbers.append(attempt())
        except CannotAsk:
            raise
        except Exception as error:
            errors.append(error)
    if numbers:
        return min(numbers, key=lambda one: math.inf if math.isnan(one) else one)
    if all(isinstance(error, ValueError | NotImplementedError) for error in errors):
        raise CannotAsk(f"it refuses: {errors[0]!s:.120}") from errors[0]
    raise errors[0]


def _pair(one: str, other: str) -> Check:
    promise = f"{one} & {other}"
    return Check(
        f"together, {WAYS[one]} and {WAYS[other]} change nothing",
        promise,
        "attention-check",
        HINTS.get(promise, f"one of the two is right only without the other: {promise}."),
        partial(ask, ways=(one, other)),
        on_request=True,
        needs=COMPILER if "compiled" in (one, other) else (),
    )


PAIRS = tuple(_pair(*two) for two in itertools.combinations(WAYS, 2))
"""A check for each two promises that can be asked together."""
