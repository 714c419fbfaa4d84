"""Do places survive half precision?"""

import itertools
from collections.abc import Iterator, Sequence

import torch

from posenc.testing.adapters.base import Adapter, CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

ROWS = 8
FAR = (0, 500, 503, 2000, 4001)
HINT = "positions, angles or a bias are computed in the half type: compute them wide, round last."


def types(asked: Asked) -> tuple[torch.dtype, ...]:
    """Return the half types to ask about."""
    return asked.promises.dtypes or (torch.bfloat16,)


def rounded(subject: Adapter, dtype: torch.dtype) -> Adapter:
    """Round the weights as the half type does, so that only what is computed can differ."""
    if subject.module is None:
        raise CannotAsk("a function has no weights that could be cast")
    for weight in subject.module.parameters():
        if weight.is_floating_point():
            weight.copy_(weight.to(dtype).to(weight.dtype))
    return subject


def needs_wide(subject: Adapter) -> None:
    """Raise CannotAsk if it is built in a half type, as nothing wider could stand beside it."""
    if subject.dtype.itemsize < 4:
        name = str(subject.dtype).removeprefix("torch.")
        raise CannotAsk(f"it is built in {name} itself: build it in float32, and it is cast here")


def error(asked: Asked, wide: Adapter, half: Adapter, places: Sequence[float]) -> float:
    """Return how far the outputs of a module in half precision are from those of a wide one."""
    x = wide.tokens(ROWS, len(places))
    if not asked.reads_positions():
        x = wide.tokens(ROWS, min(int(places[-1]) + 1, 400, asked.trained or 400))
        given: dict[str, torch.Tensor] = {}
    else:
        orders = ([*places[n:], *places[:n]] for n in range(len(places)))
        given = {"positions": wide.at(*itertools.islice(itertools.cycle(orders), ROWS))}
    narrow = x.to(half.dtype) if x.is_floating_point() else x
    came = half.outputs(narrow, **given).float()
    due = wide.outputs(narrow.to(wide.dtype) if x.is_floating_point() else x, **given)
    came, due = came[:, -len(places) :], due[:, -len(places) :]
    return difference(came, due) if came.isfinite().all() else float("nan")


def distant(asked: Asked, *, built: bool) -> Iterator[Seen]:
    """Let tokens stand side by side, then far apart; rounding may not grow with distance."""
    needs_wide(asked.subject())
    for dtype in types(asked):
        wide = rounded(asked.subject(), dtype)
        half = asked.subject(dtype=dtype) if built else asked.subject()
        for one, other in zip(wide.weights_of(), half.weights_of(), strict=True):
            other.copy_(one)
        if not built:
            half.module.to(dtype)  # type: ignore[union-attr]
        if half.dtype != dtype:
            raise CannotAsk(f"it is built in {half.dtype} whatever the default type is")
        far = list(FAR)
        if asked.trained and asked.promises.beyond != "exact":
            far = [min(t, asked.trained - len(far) + i) for i, t in enumerate(far)]
        near = error(asked, wide, half, list(range(len(far))))
        due = max(0.15, 6 * near)
        name = str(dtype).removeprefix("torch.")
        how = f"built in {name}" if built else f"cast to {name}"
        shown = f"{ROWS} rows of {len(far)} tokens at {', '.join(map(str, far))}, {how}"
        yield Seen(error(asked, wide, half, far), shown, due, f"side by side {near:.2g}")


@check(
    "distant tokens keep their places when cast to half precision",
    promise="dtypes",
    page="rotary",
    hint=(
        "frequencies are a buffer that `.to(dtype)` rounds: keep them wide, or compute them anew."
    ),
)
def cast(asked: Asked) -> Iterator[Seen]:
    """Build in float32, then cast."""
    yield from distant(asked, built=False)


@check(
    "distant tokens keep their places when built in half precision",
    promise="dtypes",
    page="rotary",
    hint=HINT,
)
def built(asked: Asked) -> Iterator[Seen]:
    """Build where the half type is the default."""
    yield from distant(asked, built=True)


@check("positions survive half precision", promise="dtypes", page="rotary", hint=HINT)
def turned(asked: Asked) -> Iterator[Seen]:
    """Compare the turned queries themselves, at places that a half type cannot hold."""
    needs_wide(asked.subject())
    places = torch.tensor([t for t in (1, 255, 257, 1001, 1003) if t < (asked.trained or 1e9)])
    for dtype in types(asked):
        wide = rounded(asked.subject(), dtype) if asked.subject().module else asked.subject()
        half = asked.subject(dtype=dtype)
        for one, other in zip(wide.weights_of(), half.weights_of(), strict=True):
            other.copy_(one)
        q, due = half.turned(places)[0].double(), wide.turned(places)[0].double()
        shown = f"one query at {', '.join(map(str, places.tolist()))}"
        yield Seen(difference(q, due), f"{shown} in {str(dtype).removeprefix('torch.')}", 0.1)
