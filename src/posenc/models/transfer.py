"""From one length to another: the weights of a module in one that is built for more tokens."""

from typing import TypeVar

import torch
from torch import nn

Model = TypeVar("Model", bound=nn.Module)


@torch.no_grad()
def transfer(source: nn.Module, target: Model) -> Model:
    """Return `target` with the weights of `source`.

    Constants that follow from the length, such as a sinusoidal table, are no weights: `target`
    keeps its own. They must not be in the `state_dict` (`Position.register_exact`).

    Parameters
    ----------
    source, target : nn.Module
        Of one class; a model or an encoding.

    Returns
    -------
    nn.Module
        The target.

    Raises
    ------
    ValueError
        If a weight has another shape in `target`, as a table with one row per position has. Some
        weights may have been copied by then.

    Examples
    --------
    >>> from posenc import encodings
    >>> short, long = (encodings.make("t5", 8, 2, n) for n in (10, 50))
    >>> bool((transfer(short, long).values == short.values).all())
    True
    """
    weights, places = source.state_dict(), target.state_dict()
    if weights.keys() != places.keys():
        differing = ", ".join(sorted(weights.keys() ^ places.keys()))
        raise ValueError(f"target must have the weights of source, they differ in {differing}")
    for name, place in places.items():
        if place.shape != weights[name].shape:
            raise ValueError(
                f"{name} has shape {tuple(weights[name].shape)} in the fitted module and "
                f"{tuple(place.shape)} in the new one{_remedy(name, target)}"
            )
        place.copy_(weights[name])
    return target


def _remedy(name: str, target: nn.Module) -> str:
    """Return what to do about a buffer, which may be a constant that was stored as a weight."""
    if name in dict(target.named_parameters()):
        return "; posenc.encodings.resize makes a learned table for another length"
    return "; if it is a constant, store it with register_exact, or with persistent=False"
