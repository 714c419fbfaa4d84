"""Several seeds of one model behind one interface: a model alone, or a stack of them.

Everything has a leading seed axis, so the training loop need not know which of the two it drives.
"""

import copy
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from posenc_book.bench.dropout import Masks, replace_dropout

__all__ = ["Ensemble", "make"]


class Ensemble(Protocol):
    """Models of several seeds behind one interface; `make` returns one.

    Attributes
    ----------
    n_seeds : int
        How many.
    parameters : list of Tensor
        What an optimiser gets, each (n_seeds, ...) where there are several.
    """

    @property
    def n_seeds(self) -> int: ...
    @property
    def parameters(self) -> Sequence[Tensor]: ...

    def forward(self, x: Tensor, mask: Tensor | None, masks: list[Tensor]) -> Tensor:
        """Return training logits (n_seeds, batch, n_classes).

        `x` is (n_seeds, batch, length, n_channels), `mask` (n_seeds, batch, length), and each of
        the dropout's `masks` has the seed axis first.
        """

    def predict(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return logits (n_seeds, n, n_classes) of series (n_seeds or 1, n, length, n_channels)."""

    def state(self) -> dict[str, Tensor]:
        """Return parameters and buffers, each (n_seeds, ...), sharing the models' memory."""

    def only(self, left: Sequence[int]) -> "Ensemble":
        """Return some of the seeds, with memory of their own."""

    def dropout_shapes(self, x: Tensor, mask: Tensor | None) -> list[torch.Size]:
        """Return the shapes of one seed's dropout masks for a batch such as `x`, of one seed."""


def make(models: Sequence[nn.Module], *, compile: bool = False) -> Ensemble:
    """Return one model alone, or a stack of several."""
    return Alone(models[0], compile) if len(models) == 1 else Stacked(models, compile)


class Alone:
    """One model, called as it is: fused attention and all."""

    n_seeds = 1

    def __init__(self, model: nn.Module, compile: bool) -> None:
        self._masks = replace_dropout(model)
        self._model = model
        self._call = torch.compile(self._forward) if compile else self._forward
        self.parameters = list(model.parameters())

    def _forward(self, x: Tensor, mask: Tensor | None, masks: list[Tensor]) -> Tensor:
        self._masks.give(masks)
        return self._model(x, mask)

    def forward(self, x: Tensor, mask: Tensor | None, masks: list[Tensor]) -> Tensor:
        _to_training(self._model)
        first = None if mask is None else mask[0]
        return self._call(x[0], first, [one[0] for one in masks]).unsqueeze(0)

    def predict(self, x: Tensor, mask: Tensor | None) -> Tensor:
        self._model.eval()
        return self._model(x[0], None if mask is None else mask[0]).unsqueeze(0)

    def state(self) -> dict[str, Tensor]:
        return {name: t.detach().unsqueeze(0) for name, t in _tensors(self._model).items()}

    def only(self, left: Sequence[int]) -> "Alone":  # noqa: ARG002 - there is one
        return self

    def dropout_shapes(self, x: Tensor, mask: Tensor | None) -> list[torch.Size]:
        return _dropout_shapes(self._model, self._masks, x, mask)


class Stacked:
    """Models whose parameters are stacked, called at once by `vmap`.

    A model that draws random numbers of its own cannot be stacked, because one seed's numbers
    would then depend on its neighbours; `vmap` raises RuntimeError for it.
    """

    def __init__(self, models: Sequence[nn.Module], compile: bool) -> None:
        self.n_seeds = len(models)
        feeds = [replace_dropout(model) for model in models]
        self._masks, self._model = feeds[0], models[0]
        self._parameters, self._buffers = stack_module_state(list(models))
        self.parameters = list(self._parameters.values())
        self._compile = compile
        self._call = torch.compile(self._forward) if compile else self._forward

    def _forward(self, x: Tensor, mask: Tensor | None, masks: list[Tensor]) -> Tensor:
        dims = (0, 0, 0, None if mask is None else 0, 0)
        call = vmap(self._one, in_dims=dims, randomness="error")
        return call(self._parameters, self._buffers, x, mask, masks)

    def _one(
        self, parameters: dict, buffers: dict, x: Tensor, mask: Tensor | None, masks: list[Tensor]
    ) -> Tensor:
        self._masks.give(masks)
        return functional_call(self._model, (parameters, buffers), (x, mask))

    def forward(self, x: Tensor, mask: Tensor | None, masks: list[Tensor]) -> Tensor:
        _to_training(self._model)
        return self._call(x, mask, masks)

    def predict(self, x: Tensor, mask: Tensor | None) -> Tensor:
        self._model.eval()
        x = x.expand(self.n_seeds, *x.shape[1:])
        mask = None if mask is None else mask.expand(self.n_seeds, *mask.shape[1:])
        dims = (0, 0, 0, None if mask is None else 0, None)
        call = vmap(self._one, in_dims=dims, randomness="error")
        return call(self._parameters, self._buffers, x, mask, [])

    def state(self) -> dict[str, Tensor]:
        return {name: t.detach() for name, t in {**self._parameters, **self._buffers}.items()}

    def only(self, left: Sequence[int]) -> "Stacked":
        some = copy.copy(self)
        some.n_seeds = len(left)
        some._parameters = {
            name: t.detach()[left].requires_grad_() for name, t in self._parameters.items()
        }
        some._buffers = {name: t[left] for name, t in self._buffers.items()}
        some.parameters = list(some._parameters.values())
        some._call = torch.compile(some._forward) if self._compile else some._forward
        return some

    def dropout_shapes(self, x: Tensor, mask: Tensor | None) -> list[torch.Size]:
        return _dropout_shapes(self._model, self._masks, x, mask)


def _to_training(model: nn.Module) -> None:
    """Set training mode; at the smallest sizes each module's switch shows in a step's time."""
    if not model.training:
        model.train()


def _tensors(model: nn.Module) -> dict[str, Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


@torch.no_grad()
def _dropout_shapes(
    model: nn.Module, masks: Masks, x: Tensor, mask: Tensor | None
) -> list[torch.Size]:
    model.train()
    masks.give(None)
    masks.shapes.clear()
    copies = {name: t.clone() for name, t in model.named_buffers()}  # running statistics stay
    functional_call(model, copies, (x, mask))
    return list(masks.shapes)
