"""Statistics of a window of the series as its position, and the control without an encoding."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.numerics import precise
from posenc.encodings.signal import FromSignal

STATISTICS = ("mean", "standard deviation", "slope")
_LEAST_VARIANCE = 1e-6  # keeps the slope of the root finite where a window is constant


class WindowStatistics(FromSignal):
    """Mean, standard deviation and slope of the tokens around, by a learned map.

    The plainest encoding from the signal: each dimension of the tokens gets three numbers of a
    window around each step, cut at the ends, and a linear map of all of them is added. Moya-Mota
    et al. (2025) gave the idea: their WinStat family augments inputs with statistics over a sliding
    window. Of that paper only the abstract and excerpts were at hand, so the choice of the
    statistics and of the window is ours.

    The same numbers can be given to a model as further channels of its input, without an encoding.
    `with_window_statistics` does that: it is the control that says whether what is gained is owed
    to a position or to richer tokens.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    window : int
        Tokens of a window, at least 2. A token stands in its middle; of an even number there is
        one more before than behind.
    past : bool
        Whether a window ends with its token, so that causal layers are served.

    Notes
    -----
    Parameters to learn: `3 * d_model**2`. Cost: O(L d_model (window + d_model)) per batch row,
    once per forward pass.

    Raises
    ------
    ValueError
        If a size or option is out of range; in a forward pass, for given positions, a cache, a mask
        that marks padding, and in a causal layer unless `past`.

    Examples
    --------
    >>> WindowStatistics(8, 2, 100).embed(torch.randn(1, 20, 8)).shape
    torch.Size([1, 20, 8])
    """

    def __init__(
        self, d_model: int, n_heads: int, max_length: int, *, window: int = 9, past: bool = False
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.window = _checks.count("window", window, minimum=2)
        self.past = _checks.flag("past", past)
        self.project = nn.Linear(len(STATISTICS) * self.d_model, self.d_model, bias=False)

    @property
    def looks_back(self) -> bool:
        return self.past

    def vectors(self, x: Tensor) -> Tensor:
        found = window_statistics(precise(x), self.window, past=self.past)
        return self.project(found.to(self.project.weight.dtype))


def window_statistics(x: Tensor, window: int, *, past: bool = False) -> Tensor:
    """Return mean, standard deviation and slope of a window around each step.

    After the idea of Moya-Mota et al. (2025); the choice of the three is ours.

    Parameters
    ----------
    x : (batch, length, n_channels)
        Floating-point values at equal steps.
    window : int
        Steps of a window, at least 2; at the ends it holds what there is.
    past : bool
        Whether a window ends with its step rather than standing around it.

    Returns
    -------
    (batch, length, 3 * n_channels)
        All means, then all standard deviations (about the mean, divided by the number of steps; of
        a variance of at least 1e-6), then all slopes of the least-squares line, per step.

    Raises
    ------
    ValueError
        If `window` is below 2.

    Examples
    --------
    >>> line = torch.arange(5.0).view(1, 5, 1)
    >>> window_statistics(line, 3)[0, 2].round(decimals=2).tolist()
    [2.0, 0.8199999928474426, 1.0]
    """
    window = _checks.count("window", window, minimum=2)
    behind = 0 if past else (window - 1) // 2
    inside = _windows(torch.ones_like(x[:1, :, :1]), window, behind)
    values = _windows(x, window, behind)
    count = inside.sum(-1)
    steps = torch.arange(window, device=x.device, dtype=x.dtype)
    steps = (steps - ((inside * steps).sum(-1) / count)[..., None]) * inside
    mean = values.sum(-1) / count
    about = (values - mean[..., None]) * inside
    spread = (about.square().sum(-1) / count).clamp(min=_LEAST_VARIANCE).sqrt()
    slope = (about * steps).sum(-1) / steps.square().sum(-1).clamp(min=0.5)
    return torch.cat((mean, spread, slope), -1)


def _windows(x: Tensor, window: int, behind: int) -> Tensor:
    """Return what stands around each step, zeros beyond the ends: (..., length, width, window)."""
    filled = nn.functional.pad(x, (0, 0, window - 1 - behind, behind))
    return torch.stack([filled[:, i : i + x.shape[1]] for i in range(window)], -1)


def with_window_statistics(x: Tensor, window: int = 9, *, past: bool = False) -> Tensor:
    """Return a series with its window statistics as further channels: the control.

    Statistics beside the input are what Moya-Mota et al. (2025) describe. A model of
    4 * n_channels channels with the position "none" reads them.

    Parameters
    ----------
    x, window, past
        As for `window_statistics`.

    Returns
    -------
    (batch, length, 4 * n_channels)

    Raises
    ------
    ValueError
        As `window_statistics`.

    Examples
    --------
    >>> with_window_statistics(torch.randn(2, 20, 3)).shape
    torch.Size([2, 20, 12])
    """
    return torch.cat((x, window_statistics(x, window, past=past)), -1)
