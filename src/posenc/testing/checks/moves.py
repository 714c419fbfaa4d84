"""Do tables follow their module?"""

from collections.abc import Iterator
from dataclasses import replace

import torch

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

NO_TABLES = "has no tables that could be moved"


@check(
    "another dtype keeps the tables",
    promise="moves",
    page="rotary",
    hint="a table is a plain attribute, which `.to()` does not see: register it as a buffer.",
)
def dtype(asked: Asked) -> Iterator[Seen]:
    """Cast to float64, and ask again."""
    for length in asked.lengths(2):
        subject = asked.with_module(NO_TABLES)
        x = subject.tokens(1, length)
        first = subject.outputs(x)
        subject.module.to(torch.float64)  # type: ignore[union-attr]
        wide = x.double() if x.is_floating_point() else x
        yield Seen(difference(subject.outputs(wide), first), f"{length} tokens, cast to float64")


@check(
    "another device gets the tables, too",
    promise="moves",
    needs=("torch._dynamo",),  # which loads what the device `meta` would load at its first call
    page="rotary",
    hint="a table is a plain attribute, which `.to()` does not see: register it as a buffer.",
)
def device(asked: Asked) -> Iterator[Seen]:
    """Move to the device `meta`, which every machine has, and look what stays behind."""
    subject = asked.with_module(NO_TABLES)
    x = subject.tokens(1, 5)
    subject.outputs(x)
    subject.module.to("meta")  # type: ignore[union-attr]
    try:
        subject.outputs(x.to("meta"))
    except (RuntimeError, NotImplementedError) as error:
        if "device" not in str(error).lower() or "item()" in str(error):
            raise CannotAsk(f"on the device meta it says: {error!s:.80}") from error
        yield Seen(float("inf"), "5 tokens on another device", note=f"{error!s:.90}")
    else:
        yield Seen(0.0, "5 tokens on another device")


@check(
    "a saved and loaded state answers the same",
    promise="moves",
    page="rotary",
    hint="something that decides the answer is neither saved nor made anew alike.",
)
def loaded(asked: Asked) -> Iterator[Seen]:
    """Load the state into a module that was made with another seed."""
    for length in asked.lengths(2):
        subject = asked.with_module(NO_TABLES)
        other = replace(asked, seed=asked.seed + 1).subject(awake=False)
        other.module.load_state_dict(subject.module.state_dict())  # type: ignore[union-attr]
        x = subject.tokens(1, length)
        number = difference(other.outputs(x), subject.outputs(x))
        yield Seen(number, f"{length} tokens, in a module with the loaded state")
