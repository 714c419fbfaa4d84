"""`check_encoding`: what this library, and its attention, want of an encoding."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

from posenc import _checks
from posenc.attention import DOORS, Position, SelfAttention
from posenc.testing.adapters import CannotAsk, adapt
from posenc.testing.asking import Asked, Check, Seen, difference
from posenc.testing.attention import check_attention
from posenc.testing.checks.making import check
from posenc.testing.promises import Promises
from posenc.testing.report import Report

D_MODEL, N_HEADS, LENGTH = 32, 4, 16
PAGE = "four-doors"


def check_encoding(
    cls: type[Position],
    *,
    tolerance: float = 1e-3,
    seconds: float = 20.0,
    measure: bool = True,
    **options: Any,
) -> Report:
    """Ask an encoding whether it fits this library's attention and keeps its promises.

    It is made for a small `SelfAttention`, causal if it can be, and asked by `check_attention`.
    Promised without being said: order matters, positions that are given are read unless its doors
    count themselves, a cache changes nothing, padding changes nothing, moves keep its tables.

    Parameters
    ----------
    cls : type
        Derived from `posenc.attention.Position`.
    tolerance, seconds, measure
        As for `check_attention`.
    **options
        Options of the class, and beside them words of `Promises`, such as `relative=True`. A word
        that the class takes is an option.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If `cls` is no such class, or a word is neither an option nor a promise.

    Source: `posenc.attention.Position` says what an encoding is.

    Examples
    --------
    >>> from posenc.encodings import ALiBi
    >>> check_encoding(ALiBi, relative=True, real_times=True).passed
    True
    """
    if not (inspect.isclass(cls) and issubclass(cls, Position)):
        raise ValueError(
            f"cls must be a class derived from posenc.attention.Position, got {cls!r:.80}"
        )
    own = set(inspect.signature(cls).parameters) - {"d_model", "n_heads", "max_length"}
    settings = {word: value for word, value in options.items() if word in own}
    words = {word: value for word, value in options.items() if word not in own}

    def make() -> SelfAttention:
        position = cls(D_MODEL, N_HEADS, LENGTH, **settings)
        return SelfAttention(D_MODEL, N_HEADS, position, causal=_can_be_causal(position))

    _checks.positive("tolerance", tolerance)
    promises = _usual(make) | words
    report = check_attention(
        make, tolerance=tolerance, seconds=seconds, measure=measure, **promises
    )
    asked = Asked(lambda: adapt(make()), Promises.of(promises), tolerance)
    found = tuple(one.run(asked, seconds) for one in OWN) if not report.cut_short else ()
    return Report(cls.__name__, report.findings + found, report.promised, report.cut_short)


def _can_be_causal(position: Position) -> bool:
    try:
        position.check_causal()
    except ValueError:
        return False
    return True


def _takes_positions(layer: SelfAttention) -> bool:
    """Return whether positions are taken, not refused, by an encoding that makes its own."""
    positions = torch.arange(3.0)[:, None].expand(3, layer.position.n_axes)
    try:
        layer(torch.zeros(1, 3, D_MODEL), positions=positions.squeeze(-1).long())
    except ValueError:
        return False
    except Exception:  # the checks will say so
        return True
    return True


def _usual(make: Callable[[], SelfAttention]) -> dict[str, Any]:
    """Return what an encoding promises by being one, as far as its own declarations say."""
    try:
        layer = make()
    except Exception:  # that it cannot be made is the first finding
        return {}
    position = layer.position
    informed = all(
        position.is_closed(door) or position._informed.get(door) is not None or position.form(door)
        for door in DOORS
    )
    opens = any(not position.is_closed(door) for door in DOORS)
    usual: dict[str, Any] = {"moves": True, "trained": LENGTH}
    if opens:
        usual["order"] = True
    if informed and opens and _takes_positions(layer):
        usual["given_positions"] = True
    if layer.causal and informed:
        usual |= {"causal": True, "cached": True}
    if not position.reads_neighbours:
        usual["padding"] = "right"
    if position.n_axes > 1:
        usual |= {"axes": position.n_axes}
    return usual


def _layer(asked: Asked) -> SelfAttention:
    layer = asked.subject().module
    assert isinstance(layer, SelfAttention)
    return layer


@check(
    "a door is open, and a forward pass goes through it",
    promise="rows",
    page=PAGE,
    hint="a door has another name, so that nobody calls it.",
    at_least=1e-6,
)
def opens(asked: Asked) -> Iterator[Seen]:
    """Close all doors, and see whether anything changes."""
    subject = asked.subject()
    x = subject.tokens(1, 5)
    layer, out = _layer(asked), subject.outputs(x)
    if layer.position._needs_no_door:
        raise CannotAsk("it opens no door, and says so")
    sizes = layer.d_model, layer.n_heads, LENGTH
    shut = SelfAttention(sizes[0], sizes[1], Position(*sizes), causal=layer.causal).eval()
    state = {k: v for k, v in layer.state_dict().items() if not k.startswith("position.")}
    shut.load_state_dict(state)
    yield Seen(difference(out, shut(x).detach()), "5 tokens, with the doors open and shut")


@check(
    "every parameter gets a gradient",
    promise="rows",
    page=PAGE,
    hint="a parameter is copied as a number (`.item()`, `.data`), so that nobody can learn it.",
)
def learns(asked: Asked) -> Iterator[Seen]:
    """Go backwards once, and count the parameters of the encoding that nothing reaches."""
    with torch.enable_grad():
        layer = _layer(asked)
        subject = asked.subject()
        x = subject.tokens(1, LENGTH)
        given = {"positions": subject.placed(torch.arange(LENGTH)[None])}
        given = given if layer.position.n_axes > 1 else {}
        layer(x, **given).square().sum().backward()
        missed = [name for name, one in layer.position.named_parameters() if one.grad is None]
    yield Seen(float(len(missed)), f"{LENGTH} tokens, backwards", note=", ".join(missed))


OWN: tuple[Check, ...] = (opens, learns)
"""What is asked of an encoding, and of no other module."""
