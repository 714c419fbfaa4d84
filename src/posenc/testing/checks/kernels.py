"""On request: do the kernels that people run answer as the plain, eager attention does?"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from posenc.testing.adapters.base import Adapter, CannotAsk
from posenc.testing.asking import Asked, Check, Seen, difference
from posenc.testing.checks.compiled import COMPILER
from posenc.testing.checks.making import check
from posenc.testing.checks.texts import in_pieces, lay_out
from posenc.testing.promises import KERNELS

Way = Callable[[Adapter], Tensor]
LONGEST = 512  # of an input that is to pass a window


def ways(asked: Asked) -> Iterator[tuple[str, Way]]:
    """Yield inputs in words, and what asks a subject about them: the outputs of real tokens."""
    plain = asked.subject(awake=False)
    lengths = asked.lengths(2)
    most = lengths[-1]
    passed = [n + 3 for n in plain.windows() if most < n + 3 <= min(LONGEST, asked.trained or 1e9)]
    for n in (*lengths, *passed):
        yield f"2 rows of {n} tokens", partial(_rows, [[n], [n]], "right")
    for side in ("left", "right") if plain.takes("padding") and most > 2 else ():
        rows = [[most - 2], [most]]
        told = f"rows of {most - 2} and {most} tokens, padded on the {side}"
        yield told, partial(_rows, rows, side)
    if plain.takes("documents") and most > 4:
        told = f"a row of two documents with 2 and {most - 2} tokens"
        yield told, partial(_rows, [[2, most - 2]], "right")
    if plain.takes("cache") and most > 2:
        told = f"{most} tokens, the last two one by one with a cache"
        yield told, partial(_one_by_one, most)


def _rows(rows: list[list[int]], side: str, subject: Adapter) -> Tensor:
    laid = lay_out(subject, rows, side)
    return torch.cat(laid.texts(subject.outputs(laid.x, **laid.given)), 1)


def _one_by_one(length: int, subject: Adapter) -> Tensor:
    return in_pieces(subject, subject.tokens(2, length), [length - 2, 1, 1])


def beside_eager(asked: Asked, kernel: str) -> Iterator[Seen]:
    """Ask a kernel and the eager attention for the same, and name what the kernel leaves out."""
    half = torch.bfloat16 if kernel == "flash" else None  # which it wants
    due = asked.tolerance if half is None else max(asked.tolerance, 0.0625)

    def subject(name: str) -> Adapter:
        one = asked.subject()
        one.use_kernel(name)
        if half is not None and one.module is not None:
            one.module.to(half)
        return one

    subject(kernel)
    subject("eager")
    for told, way in ways(asked):
        came = _answer(way, subject(kernel))
        number = difference(came, way(subject("eager")))
        note = "" if number <= due else _left_out(way, came, due, lambda: subject("eager"))
        yield Seen(
            number, f"{told}, by {kernel} and by eager", due, f"{kernel} {note}" * bool(note)
        )


def _answer(way: Way, subject: Adapter) -> Tensor:
    """Return what a kernel answers, or raise CannotAsk if it refuses a processor."""
    try:
        return way(subject)
    except (ValueError, RuntimeError) as error:
        if "CPU" not in str(error):
            raise
        raise CannotAsk(f"on a processor it says: {error!s:.90}") from error


def _left_out(way: Way, came: Tensor, due: float, eager: Callable[[], Adapter]) -> str:
    """Return in words what the eager attention must be without to answer as a kernel did."""
    for number, (what, _) in enumerate(eager().parts()):
        less = eager()
        less.parts()[number][1]()
        if difference(way(less), came) <= due:
            return f"ignores {what}"
    return ""


def _check(name: str, kernel: str) -> Check:
    def ask(asked: Asked) -> Iterator[Seen]:
        named = [one for one in asked.promises.kernels if one not in KERNELS]
        for one in [kernel] if kernel in KERNELS else named:
            yield from beside_eager(asked, one)
        if not (kernel in KERNELS or named):
            raise CannotAsk("no kernel was named besides " + ", ".join(KERNELS))

    return check(
        name,
        promise=f"kernels {kernel}",
        page="four-doors",
        hint="the kernel gets less than the eager attention: a mask, a window, a sink, a scale.",
        on_request=True,
        needs=COMPILER if kernel == "flex" else (),
    )(ask)


BESIDE_EAGER = (
    *(_check(f"{kernel} answers as eager does", kernel) for kernel in KERNELS),
    _check("another kernel answers as eager does", "other"),
)
"""One check for each kernel, so that each is told apart."""
