"""Runs what somebody made with tokens that are chosen for listening; one entry a layer."""

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from posenc.register import Description
from posenc.register.rules import Layer
from posenc.testing.adapters import Adapter, CannotAsk, FunctionAdapter, HuggingFaceAdapter
from posenc.testing.asking import Asked
from posenc.testing.like.fault import Fault, runs
from posenc.testing.like.listening import Heard, Listener

FARTHEST = (1 << 15, 1 << 12, 1 << 9, 1 << 6, 1 << 4)
"""Places up to which a layer is listened to, the first that it takes."""
COUNTED = 251
"""Tokens for a layer that takes no positions."""
FEW = 23
MORE = (3, 5, 6, 7, 9, 11, 13)


@dataclass(frozen=True)
class Pair:
    """One layer as it was heard, and as the configuration has it.

    Attributes
    ----------
    number : int
        Of the layer, from 0.
    heard : Heard
    due : Layer
    """

    number: int
    heard: Heard
    due: Layer


class OtherHeads(CannotAsk):
    """Heads are not those of the configuration, and so nothing else can be laid beside it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.said)
        self.fault = fault


@dataclass(frozen=True)
class Run:
    """All layers, listened to once.

    Attributes
    ----------
    pairs : list of Pair
    places : Tensor of shape (length,)
        Where tokens stood.
    rows : list of (Tensor of shape (length,), int)
        What was looked up in tables, and how many rows these have.
    subject : Adapter
    """

    pairs: list[Pair]
    places: Tensor
    rows: list[tuple[Tensor, int]]
    subject: Adapter


def description(asked: Asked) -> Description:
    """Return what the configuration says."""
    like = asked.promises.like
    assert like is not None
    return like


def attends(asked: Asked) -> list[tuple[int, Layer]]:
    """Return number and layer of those with attention, from one on; of two stacks the decoder.

    They end with a layer that mixes tokens otherwise: what comes behind it is no longer one token
    again and again.
    """
    layer, several = asked.promises.layer, list(enumerate(description(asked).layers))
    if getattr(asked.subject(awake=False), "decoder", False) and not layer:
        several = [(n, one) for n, one in several if one.stack == "decoder"]
    several = several[layer:]
    mixed = next((n for n, one in enumerate(several) if one[1].mixer), len(several))
    if not (found := [(n, one) for n, one in several[: mixed + 1] if one.kind != "none"]):
        raise CannotAsk(
            f"layer {layer} has no attention; say layer=, and give one that has, by itself"
        )
    return found


def behind_mixers(asked: Asked) -> list[int]:
    """Return the layers with attention that stand behind one that mixes tokens otherwise."""
    layers = list(enumerate(description(asked).layers))
    last = attends(asked)[-1][0]
    mixed = next((n for n, one in layers if n >= last and one.mixer), len(layers))
    return [n for n, one in layers if n > mixed and one.kind != "none"]


def farthest(asked: Asked) -> list[int]:
    """Return last places to try, within what it was made for."""
    like = description(asked)
    starts = [
        one.scaling["original_max_position_embeddings"]
        for one in like.layers
        if one.scaling and one.scaling["type"] in ("longrope", "dynamic")
    ]
    most = min(asked.trained or like.length or FARTHEST[0], *starts, 1 << 30)
    if most < 2 * FEW:
        raise CannotAsk(f"it has {most} places, and {2 * FEW} are needed to watch it turn")
    return sorted({min(one, most - 1 - FEW) for one in FARTHEST}, reverse=True)


def doubling(last: int) -> Tensor:
    """Return places 0, 1, 2, 4 ... up to the last, and some between, always FEW of them."""
    powers = [1 << n for n in range(FEW) if 1 << n < last]
    some = sorted({0, last, *powers, *MORE[: max(0, FEW - 2 - len(powers))]})
    some = [one for one in some if one <= last]
    return torch.tensor(some + [last + n for n in range(1, FEW + 1 - len(some))])


def far(asked: Asked, *, axis: int | None = None, last: int | None = None) -> Run:
    """Listen to one token at places that double, along all axes or one of them."""
    if not _takes_positions(asked):
        length = min(COUNTED, asked.trained or COUNTED)
        return run(asked, torch.arange(length), None)
    for most in farthest(asked) if last is None else [last]:
        try:
            return run(asked, doubling(most), axis, hand_over=True)
        except (IndexError, RuntimeError, ValueError) as error:  # its own table may be shorter
            failed = error
    raise failed


def counted(asked: Asked, length: int, *, seed: int | None = None, keep: bool = True) -> Run:
    """Listen to tokens side by side: one again and again, or random ones."""
    return run(asked, torch.arange(length), None, seed=seed, keep=keep)


def with_scores(asked: Asked, length: int) -> Run:
    """Listen to one token again and again, or raise CannotAsk if no scores can be heard."""
    one = counted(asked, length, keep=False)
    if any(torch.isnan(pair.heard.scores).any() for pair in one.pairs):
        raise CannotAsk("no softmax was heard; a method `weights(x, positions)` would show it")
    return one


def run(
    asked: Asked,
    places: Tensor,
    axis: int | None,
    *,
    hand_over: bool = False,
    seed: int | None = None,
    keep: bool = True,
) -> Run:
    """Listen once, and lay what was heard beside what is due."""
    errors: list[Exception] = []
    for given, wide in _ways(asked, places, axis, hand_over=hand_over):
        try:
            subject, ear = _listen(asked, places, seed, given, keep, wide=wide)
        except (RuntimeError, TypeError, IndexError) as error:
            errors.append(error)
            continue
        heard = ear.heard or _shown(subject, places, given)
        return Run(_beside(heard, asked), places, ear.looked_up, subject)
    raise errors[0]


def _ways(
    asked: Asked, places: Tensor, axis: int | None, *, hand_over: bool
) -> list[tuple[dict[str, Any], bool]]:
    """Return what to hand over, and whether in float64, the likelier ways first.

    Some compute in one type and no other. Where places have three axes, these come last, or first
    as transformers has them.
    """
    if not hand_over:
        return [({}, True), ({}, False)]
    at = [_axes(places, axis, description(asked))]
    at += [at[0].movedim(-1, 0)] if at[0].ndim == 3 else []
    return [({"positions": one}, wide) for one in at for wide in (True, False)]


def _listen(
    asked: Asked,
    places: Tensor,
    seed: int | None,
    given: dict[str, Any],
    keep: bool,
    *,
    wide: bool,
) -> tuple[Adapter, Listener]:
    subject = asked.subject()
    if isinstance(subject, HuggingFaceAdapter):
        with suppress(CannotAsk):  # which computes step by step, and so can be heard
            subject._with("eager")
    if wide and subject.module is not None:
        subject.module.double()
    ear = Listener(len(places), keep=keep)
    call = _call(subject, asked, len(places), seed, given)
    with warnings.catch_warnings(), torch.no_grad(), ear:
        warnings.simplefilter("ignore")
        call()
    return subject, ear


def _beside(heard: list[Heard], asked: Asked) -> list[Pair]:
    """Return what was heard beside what is due, or raise CannotAsk if layers were too many."""
    due = attends(asked)
    if len(heard) > len(due) and not behind_mixers(asked):
        raise CannotAsk(
            f"{len(heard)} attentions were heard, and the configuration has {len(due)} layers with "
            f"attention from layer {due[0][0]} on"
        )
    pairs = [Pair(n, one, layer) for one, (n, layer) in zip(heard, due, strict=False)]
    for pair in pairs:
        _same_heads(pair)
    return pairs


def _same_heads(pair: Pair) -> None:
    """Raise OtherHeads if as many numbers are cut into other heads than the configuration says."""
    q, due = pair.heard.q, pair.due
    if q is None or not due.n_heads or not due.head_dim:
        return
    seen, right = (len(q), q.shape[-1]), (due.n_heads, due.head_dim)
    if seen[0] != right[0] and math.prod(seen) == math.prod(right):
        said = (
            f"layer {pair.number}: your layer has {seen[0]} heads of {seen[1]} numbers, the "
            f"configuration says {right[0]} of {right[1]}"
        )
        raise OtherHeads(Fault(pair.number, "n_heads", seen[0], right[0], said))


def needs_all(asked: Asked, heard: Run) -> None:
    """Raise CannotAsk if a model has several layers, and fewer than the configuration."""
    due = attends(asked)
    several = [n for n, one in due if one.stack == due[0][1].stack]
    missing = several[len(heard.pairs) :]
    if len(heard.pairs) > 1 and missing:
        raise CannotAsk(
            f"{len(heard.pairs)} layers with attention were heard, and the configuration has "
            f"{len(several)}: nothing is known of {runs(missing)}. If that is all that you built, "
            "hand over a configuration with as many"
        )


def _takes_positions(asked: Asked) -> bool:
    subject = asked.subject(awake=False)
    like = description(asked)
    if any(one.door == "bias" for one in like.layers) and isinstance(subject, HuggingFaceAdapter):
        return False  # they are ignored there
    return subject.takes("positions")


def _axes(places: Tensor, axis: int | None, like: Description) -> Tensor:
    """Return positions (1, length), or (1, length, 3) where the configuration has three axes."""
    if not any(one.sections for one in like.layers):
        return places[None]
    at = places[:, None].expand(-1, 3)
    if axis is not None:
        at = torch.zeros_like(at)
        at[:, axis] = places
    return at[None]


def _call(
    subject: Adapter,
    asked: Asked,
    length: int,
    seed: int | None,
    given: dict[str, Any],
) -> Callable[[], Any]:
    if isinstance(subject, FunctionAdapter):
        return _of_function(subject, asked, length, seed, given)
    x = subject.constant(1, length) if seed is None else subject.tokens(1, length, seed)
    return lambda: subject.outputs(x, **given)


def _of_function(
    subject: FunctionAdapter,
    asked: Asked,
    length: int,
    seed: int | None,
    given: dict[str, Any],
) -> Callable[[], Any]:
    """Return a call with queries and keys as wide as the configuration has them."""
    _, due = attends(asked)[0]
    size = due.n_heads or subject.n_heads, due.head_dim or subject.d_head
    rng = torch.Generator().manual_seed(seed or 0)
    shape = 3, 1, size[0], 1 if seed is None else length, size[1]
    q, k, v = torch.randn(*shape, generator=rng).expand(-1, -1, -1, length, -1)
    if subject.needs_positions and not given:
        given = {"positions": torch.arange(length)[None]}
    named = {subject.called[word]: one for word, one in given.items()}

    def call() -> Any:
        planted = [one * 1.0 for one in (q.contiguous(), k.contiguous())]  # which is heard
        return subject.function(*planted, v.contiguous(), **named)

    return call


def _shown(subject: Adapter, places: Tensor, given: dict[str, Any]) -> list[Heard]:
    """Return what a module shows by methods of its own, where nothing could be heard."""
    try:
        q, k = subject.turned(places)
    except CannotAsk as reason:
        raise CannotAsk(
            f"no product, softmax or fused kernel of PyTorch was heard, and {reason}"
        ) from None
    q = q.transpose(0, 1).double()
    k_shown = k.transpose(0, 1).double() if k.ndim == 3 else None
    scores = torch.full((len(q), len(places), len(places)), torch.nan, dtype=torch.float64)
    with suppress(CannotAsk):
        x = subject.constant(1, len(places))
        scores = torch.log(subject.weights(x, **given)[0].double())
    return [Heard(scores, q, k_shown)]


def listed(one: Run) -> str:
    """Return in words what was listened to."""
    n = len(one.pairs)
    layers = f"{n} layers" if n > 1 else "one layer"
    return f"{len(one.places)} tokens, places 0 to {int(one.places.max()):,}, {layers}"
