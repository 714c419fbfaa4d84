"""Who sees whom: padding, masks of pairs, causality and windows become one boolean mask."""

from typing import NamedTuple

import torch
from torch import Tensor

from posenc.attention.numerics import exporting

_HUGE = 1e4  # no token of a network that works has such entries


def check_mask(mask: Tensor | None, x: Tensor) -> None:
    """Raise ValueError unless `mask` is None or bool of shape (batch, length) like `x`.

    Parameters
    ----------
    mask : (batch, length) bool, or None
    x : (batch, length, d_model)

    Returns
    -------
    None

    Raises
    ------
    ValueError
        For another type or shape.

    Examples
    --------
    >>> check_mask(torch.tensor([[True, False]]), torch.zeros(1, 2, 8))
    """
    if mask is None:
        return
    _check_type("mask", mask)
    if mask.shape != x.shape[:2]:
        raise ValueError(
            f"mask must have shape (batch, length) = {tuple(x.shape[:2])}, got {tuple(mask.shape)}"
        )


class Masks(NamedTuple):
    """Which tokens are real, and which query may look at which key: two masks that are told apart.

    Parameters
    ----------
    padding : bool Tensor of shape (batch, keys), or None
    pairs : bool Tensor of shape (batch or 1, 1, queries, keys), or None

    Examples
    --------
    >>> Masks(torch.tensor([[True, False]])).pairs is None
    True
    """

    padding: Tensor | None = None
    pairs: Tensor | None = None

    def or_none(self) -> "Masks | None":
        """Return these masks, None if nothing is masked."""
        return None if self.padding is None and self.pairs is None else self


def sort_masks(
    mask: Tensor | tuple[Tensor | None, Tensor | None] | None,
    padding: Tensor | None,
    pairs: Tensor | None,
    batch: int,
    n_queries: int,
    n_keys: int,
    n_before: int = 0,
    *,
    keys: str = "length",
) -> Masks:
    """Return what a layer was told of padding and of pairs, or raise ValueError if it is unclear.

    Parameters
    ----------
    mask : optional, bool
        Either of the others, if its shape says which, or both as a tuple; alone.
    padding : optional, bool (batch, n_keys)
    pairs : optional, bool
        (n_queries, n_all), or (batch or 1, n_queries, n_all), also with a 1 for the heads behind
        the batch.
    batch, n_queries, n_keys : int
    n_before : int
        Keys in a cache; `n_all` is `n_before + n_keys`.
    keys : str
        What `n_keys` is called, for messages.
    """
    of_tokens, of_pairs = (batch, n_keys), (n_queries, n_before + n_keys)
    if mask is not None and not (padding is None and pairs is None):
        raise ValueError("mask must be None where `padding` or `pairs` is given, got both")
    if isinstance(mask, tuple) and len(mask) == 2:
        padding, pairs = mask
    elif mask is not None:
        _check_type("mask", mask)
        # in a program for any length, to compare them would tie it to some
        if mask.shape == of_tokens and not exporting() and mask.shape == of_pairs:
            raise ValueError(
                f"mask must mean one thing, but {tuple(mask.shape)} is both (batch, {keys}) and "
                "(queries, keys); write padding=mask if True marks a real token, or pairs=mask if "
                "True lets a query, the row, look at a key, the column"
            )
        padding, pairs = (mask, None) if mask.shape == of_tokens else (None, mask)
    if padding is not None:
        _check_type("padding", padding)
        if padding.shape != of_tokens:
            raise ValueError(
                f"padding must have shape (batch, {keys}) = {of_tokens}, got {tuple(padding.shape)}"
            )
    if pairs is None:
        return Masks(padding)
    _check_type("pairs", pairs)
    if pairs.shape not in _forms(of_pairs, batch):
        name, either = "pairs", ""
        if isinstance(mask, Tensor):
            name, either = "mask", f", or, for padding, (batch, {keys}) = {of_tokens}"
        raise ValueError(
            f"{name} must have shape (queries, keys) = {of_pairs} for who sees whom, the same "
            f"behind a batch axis{either}, got {tuple(pairs.shape)}"
        )
    return Masks(padding, pairs.view(-1, 1, *of_pairs))


def _forms(of_pairs: tuple[int, int], batch: int) -> list[tuple[int, ...]]:
    """Return the shapes that a mask of pairs may have."""
    each = [(n, *heads, *of_pairs) for n in (1, batch) for heads in ((), (1,))]
    return [of_pairs, *each]


def who_sees_whom(
    padding: Tensor | None,
    pairs: Tensor | None,
    n_queries: int,
    n_keys: int,
    device: torch.device,
    *,
    causal: bool = False,
    window: int | None = None,
    order: Tensor | None = None,
) -> Tensor | None:
    """Return (batch or 1, 1, n_queries or 1, n_keys) bool, True where a query looks, or None.

    With a cache there are more keys than queries, and the queries are the last ones; `order`,
    (n_keys,), says how many tokens came before each key if some are not kept.
    """
    seen = None if padding is None else padding[:, None, None, :]
    if pairs is None and window is None and not causal:
        return seen
    for more in (pairs, _by_order(n_queries, n_keys, device, causal, window, order)):
        if more is not None:
            seen = more if seen is None else seen & more
    return seen


def merge(bias: Tensor | None, seen: Tensor | None, q: Tensor) -> Tensor | None:
    """Return one additive or boolean attention mask of 4 axes, or None."""
    if bias is not None:
        if bias.dtype != q.dtype or bias.dtype.itemsize < 4:
            bias = bias.to(torch.promote_types(q.dtype, torch.float32))
        if bias.ndim < 4:
            bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
    if seen is None:
        return bias
    if bias is None:
        return seen
    return bias.masked_fill(~seen, torch.finfo(q.dtype).min)


def without_padding(x: Tensor, padding: Tensor | None) -> Tensor:
    """Return (batch, length, width) or (batch, heads, length, width), zeros where it is padded.

    A weight of nothing does not stop what stands there: 1e-26 times 1e30 is a lot.
    """
    if padding is None:
        return x
    real = padding[:, None, :, None] if x.ndim == 4 else padding[..., None]
    return x.where(real, 0)


def tamed(x: Tensor, padding: Tensor | None) -> Tensor:
    """Return the tokens with zeros for what is huge or no number where there is no real one.

    There a token asks still, though nobody sees it, and 0 times infinity is NaN in a gradient.
    """
    return x if padding is None else x.where(padding.unsqueeze(-1) | (x.abs() < _HUGE), 0)


def _by_order(
    n_queries: int,
    n_keys: int,
    device: torch.device,
    causal: bool,
    window: int | None,
    order: Tensor | None,
) -> Tensor | None:
    """Return what order allows, (1, 1, n_queries, n_keys), or None if that is everything."""
    if window is None and (not causal or n_queries == 1):
        return None
    step = torch.arange(n_keys, device=device) if order is None else order
    behind = step[n_keys - n_queries :, None] - step
    earlier = behind >= 0
    if window is None:
        return earlier[None, None]
    near = behind.abs() < window
    return (near & earlier if causal else near)[None, None]


def _check_type(name: str, mask: Tensor) -> None:
    true = "where a query looks at a key" if name == "pairs" else "for real tokens"
    if not isinstance(mask, Tensor):
        raise ValueError(
            f"{name} must be a bool tensor, True {true}, or None, got {mask!r:.80}; "
            "torch.as_tensor makes one"
        )
    if mask.dtype != torch.bool:
        raise ValueError(f"{name} must be bool, True {true}, got dtype {mask.dtype}")
