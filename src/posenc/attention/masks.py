"""Who sees whom: padding, masks of pairs, causality and windows become one boolean mask."""

import torch
from torch import Tensor

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
    _check_type(mask)
    if mask.shape != x.shape[:2]:
        raise ValueError(
            f"mask must have shape (batch, length) = {tuple(x.shape[:2])}, got {tuple(mask.shape)}"
        )


def sort_mask(
    mask: Tensor | None, batch: int, n_queries: int, n_keys: int, n_before: int = 0
) -> tuple[Tensor | None, Tensor | None]:
    """Return a mask as (padding, pairs), one of them None, or raise ValueError for other shapes.

    Parameters
    ----------
    mask : optional, bool
        (batch, n_keys) is padding; (n_queries, n_all) or (batch or 1, n_queries, n_all) says of
        every pair whether the query may look at the key. What fits both is padding.
    batch, n_queries, n_keys : int
    n_before : int
        Keys in a cache; `n_all` is `n_before + n_keys`.

    Returns
    -------
    padding : (batch, n_keys) or None
    pairs : (batch or 1, 1, n_queries, n_all) or None
    """
    if mask is None:
        return None, None
    _check_type(mask)
    shape, pairs = tuple(mask.shape), (n_queries, n_before + n_keys)
    if shape == (batch, n_keys):
        return mask, None
    if shape in (pairs, (1, *pairs), (batch, *pairs)):
        return None, mask.view(-1, 1, *pairs)
    raise ValueError(
        f"mask must have shape (queries, keys) = {pairs} for who sees whom, the same behind a "
        f"batch axis, or (batch, length) = {(batch, n_keys)}, got {shape}"
    )


def who_sees_whom(
    padding: Tensor | None,
    pairs: Tensor | None,
    n_queries: int,
    n_keys: int,
    device: torch.device,
    *,
    causal: bool = False,
    window: int | None = None,
) -> Tensor | None:
    """Return (batch or 1, 1, n_queries or 1, n_keys) bool, True where a query looks, or None.

    With a cache there are more keys than queries, and the queries are the last ones.
    """
    seen = None if padding is None else padding[:, None, None, :]
    if pairs is None and window is None and not causal:
        return seen
    for more in (pairs, _by_order(n_queries, n_keys, device, causal, window)):
        if more is not None:
            seen = more if seen is None else seen & more
    return seen


def merge(bias: Tensor | None, seen: Tensor | None, q: Tensor) -> Tensor | None:
    """Return one additive or boolean attention mask of 4 axes, or None."""
    if bias is not None:
        bias = bias.to(torch.promote_types(q.dtype, torch.float32))
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
    n_queries: int, n_keys: int, device: torch.device, causal: bool, window: int | None
) -> Tensor | None:
    """Return what order allows, (1, 1, n_queries, n_keys), or None if that is everything."""
    if window is None and (not causal or n_queries == 1):
        return None
    step = torch.arange(n_keys, device=device)
    behind = step[n_keys - n_queries :, None] - step
    seen = behind >= 0 if causal else None
    if window is not None:
        near = behind.abs() < window
        seen = near if seen is None else seen & near
    return seen[None, None]


def _check_type(mask: Tensor) -> None:
    if not isinstance(mask, Tensor):
        raise ValueError(
            f"mask must be a bool tensor, True for real tokens, or None, got {mask!r:.80}; "
            "torch.as_tensor makes one"
        )
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool, True for real tokens, got dtype {mask.dtype}")
