"""The survey's Algorithms 1 and 2 as outlines, and the outline of a model that ran."""

from collections.abc import Iterable, Sequence
from functools import partial, wraps

import torch
from torch import Tensor, nn

from posenc.attention import Position

_LAYER = ["attention", "batch norm", "feed-forward", "batch norm"]
ALGORITHM_1 = ["linear", "batch norm", "position", *4 * _LAYER, "linear"]
ALGORITHM_2 = ["convolution", "position", *4 * ["attention", "feed-forward"], "linear", "linear"]

# Attention is two maps in code and so is the feed-forward network; the first of each counts.
_BY_NAME = {"qkv": "attention", "expand": "feed-forward", "out": "", "contract": ""}
_BY_KIND = {
    "Linear": "linear",
    "BatchNorm": "batch norm",
    "LayerNorm": "layer norm",
    "Conv1d": "convolution",
}

_SILENT = (nn.Dropout, nn.Identity)

Step = tuple[str, str, tuple[int, ...]]


def trace(model: nn.Module, series: Tensor) -> list[Step]:
    """Return the steps that a model takes: name, kind, and the shape of what comes out.

    Parameters
    ----------
    model : nn.Module
        Its encoding adds to the tokens, a step called "position". Parts without parameters and
        doors, such as dropout and the pooling, are no steps. It is left in evaluation mode.
    series : (batch, steps, channels)
    """
    steps: list[Step] = []
    hooks = []
    for name, module in model.named_modules():
        if not list(module.children()) and not isinstance(module, (*_SILENT, Position)):
            note = partial(_note, steps, name)
            hooks.append(module.register_forward_hook(note))
    first = next(module for module in model.modules() if isinstance(module, Position))
    embed = first.embed

    @wraps(embed)
    def noting(x: Tensor, *rest: object) -> Tensor:
        steps.append(("embed", "position", tuple(x.shape)))
        return embed(x, *rest)

    first.embed = noting  # type: ignore[method-assign]  # for one pass
    try:
        with torch.no_grad():
            model.eval()(series)
    finally:
        del first.embed
        for hook in hooks:
            hook.remove()
    return steps


def _note(steps: list[Step], name: str, module: nn.Module, _: object, out: Tensor) -> None:
    steps.append((name, type(module).__name__, tuple(out.shape)))


def outline(steps: Iterable[Step]) -> list[str]:
    """Return the steps in the words of the algorithms."""
    last = [(name.split(".")[-1], kind) for name, kind, _ in steps]
    words = [_BY_NAME.get(name, _BY_KIND.get(kind, kind)) for name, kind in last]
    return [word for word in words if word]


def contains(long: Sequence[str], short: Sequence[str]) -> bool:
    """Return whether all steps of one outline occur in another, in their order."""
    rest = iter(long)
    return all(step in rest for step in short)
