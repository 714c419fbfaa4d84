"""Statistics of a window of the series as its position, and the control without an encoding."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.maps import weight_type
from posenc.attention.numerics import exporting, precise
from posenc.encodings.signal import FromSignal
from posenc.encodings.starts import empty_linear

STATISTICS = {
    "mean_std_slope": ("mean", "standard deviation", "slope"),
    "winstat": ("mean", "maximum", "minimum", "standard deviation"),
    "winstat_lag": ("mean", "maximum", "minimum", "standard deviation"),
}
LAGS = (3, 5, 7)
_LEAST_VARIANCE = 1e-6  # keeps the slope of the root finite where a window is constant


class WindowStatistics(FromSignal):
    """Mean, standard deviation and slope of the tokens around, by a learned map.

    The plainest encoding from the signal: each dimension of the tokens gets three numbers of a
    window around each step, cut at the ends, and a linear map of all of them is added. Moya-Mota
    et al. (2026) gave the idea; these three statistics and windows around a step are ours.

    With `statistics="winstat"` they are the paper's: mean, maximum, minimum and standard deviation
    of the last steps, the first value repeated where a window begins before the series. With
    "winstat_lag" the differences to some earlier values come with them. Both were read in a
    program whose classes have the paper's names, in an index of code that names no repository; of
    the paper itself only the abstract and excerpts were read.
    There windows have 24 steps, and the numbers stand beside the values of the input, whose map to
    tokens is a convolution; here they are made from tokens and added, as other encodings are.

    The other three of that family are not here: WinStatFlex, WinStatTPE and WinStatSPE add these
    numbers, sinusoids, learned vectors and a fourth encoding, each behind a layer norm, with
    learned weights that sum to 1. They are mixtures of encodings which stand here by themselves.

    The same numbers can be given to a model as further channels of its input, without an encoding.
    `with_window_statistics` does that: it is the control that says whether what is gained is owed
    to a position or to richer tokens. With "winstat" it makes the input of the authors' model.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    window : int
        Tokens of a window, at least 2. A token stands in its middle; of an even number there is
        one more before than behind.
    past : bool
        Whether a window ends with its token, so that causal layers are served. The paper's always
        do.
    statistics : {"mean_std_slope", "winstat", "winstat_lag"}
    lags : sequence of int
        For "winstat_lag": how many steps back the earlier values stand, each at least 1.

    Notes
    -----
    Parameters to learn: `3 * d_model**2`, or 4 times that square with "winstat", and one more for
    each lag. Cost: O(L d_model (window + d_model)) per batch row,
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

    remedy = "; past=True lets windows end with their token"

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        window: int = 9,
        past: bool = False,
        statistics: str = "mean_std_slope",
        lags: Sequence[int] = LAGS,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.window = _checks.count("window", window, minimum=2)
        self.past = _checks.flag("past", past)
        self.statistics, self.lags = _checked(statistics, lags)
        n = len(STATISTICS[self.statistics]) + len(self.lags)
        self.project = empty_linear(n * self.d_model, self.d_model)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        self.project.reset_parameters()

    @property
    def looks_back(self) -> bool:
        return self.past or self.statistics != "mean_std_slope"

    def vectors(self, x: Tensor) -> Tensor:
        found = window_statistics(
            precise(x),
            self.window,
            past=self.past,
            statistics=self.statistics,
            lags=self.lags or LAGS,
        )
        return self.project(found.to(weight_type(self.project) or x.dtype))


def window_statistics(
    x: Tensor,
    window: int,
    *,
    past: bool = False,
    statistics: str = "mean_std_slope",
    lags: Sequence[int] = LAGS,
) -> Tensor:
    """Return mean, standard deviation and slope of a window around each step, or other statistics.

    After the idea of Moya-Mota et al. (2026); the choice of the three is ours, "winstat" and
    "winstat_lag" are theirs.

    Parameters
    ----------
    x : (batch, length, n_channels)
        Floating-point values at equal steps.
    window : int
        Steps of a window, at least 2; at the ends it holds what there is. It may be longer than
        the series, for which no more time or memory is needed.
    past : bool
        Whether a window ends with its step rather than standing around it.
    statistics : {"mean_std_slope", "winstat", "winstat_lag"}
    lags : sequence of int
        For "winstat_lag".

    Returns
    -------
    (batch, length, n * n_channels)
        All means, then all standard deviations (about the mean, divided by the number of steps; of
        a variance of at least 1e-6), then all slopes of the least-squares line, per step: n = 3.
        With "winstat" all means, maxima, minima and standard deviations (divided by one step less,
        of a variance of at least 1e-6, too) of windows that end with their step, the first value
        repeated before the series: n = 4.
        With "winstat_lag" then the differences to the value each lag back, repeated alike.

    Raises
    ------
    ValueError
        If `window` is below 2, `statistics` another name, or a lag below 1.

    Examples
    --------
    >>> line = torch.arange(5.0).view(1, 5, 1)
    >>> window_statistics(line, 3)[0, 2].round(decimals=2).tolist()
    [2.0, 0.8199999928474426, 1.0]
    """
    window, past = _checks.count("window", window, minimum=2), _checks.flag("past", past)
    statistics, lags = _checked(statistics, lags)
    length = x.shape[1]
    if not length:
        return x.repeat(1, 1, len(STATISTICS[statistics]) + len(lags))
    if statistics != "mean_std_slope":
        return torch.cat([*_winstat(x, window), *(x - _earlier(x, lag) for lag in lags)], -1)
    if not exporting():  # a program for every length is not to compare them
        window = min(window, max(length if past else 2 * length - 1, 2))  # all there is
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


def _winstat(x: Tensor, window: int) -> tuple[Tensor, ...]:
    """Return mean, maximum, minimum and standard deviation of the last steps, each like `x`."""
    width = window if exporting() else min(window, x.shape[1])
    first, repeats = x[:, :1], window - width  # how often the first value stands in all windows
    values = torch.cat((first.expand(-1, width - 1, -1), x), 1).unfold(1, width, 1)
    own = values.mean(-1)
    mean = own + repeats * (first - own) / window
    squares = width * (values.var(-1, correction=0) + (own - mean).square())
    variance = (squares + repeats * (first - mean).square()) / (window - 1)
    return mean, values.amax(-1), values.amin(-1), variance.clamp(min=_LEAST_VARIANCE).sqrt()


def _earlier(x: Tensor, lag: int) -> Tensor:
    """Return the values some steps back, the first one where there are none."""
    lag = min(lag, x.shape[1])
    return torch.cat((x[:, :1].expand(-1, lag, -1), x), 1)[:, : x.shape[1]]


def _checked(statistics: str, lags: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Return both, without lags where they mean nothing, or raise ValueError."""
    statistics = _checks.choice("statistics", statistics, STATISTICS)
    if not isinstance(lags, Iterable):
        raise ValueError(f"lags must be a sequence of integers of at least 1, got {lags!r}")
    lags = tuple(_checks.count("lags", lag, minimum=1) for lag in lags)
    if not lags:
        raise ValueError("lags must name at least one number of steps, got none")
    return statistics, lags if statistics == "winstat_lag" else ()


def _windows(x: Tensor, window: int, behind: int) -> Tensor:
    """Return what stands around each step, zeros beyond the ends: (..., length, width, window)."""
    filled = nn.functional.pad(x, (0, 0, window - 1 - behind, behind))
    return torch.stack([filled[:, i : i + x.shape[1]] for i in range(window)], -1)


def with_window_statistics(
    x: Tensor,
    window: int = 9,
    *,
    past: bool = False,
    statistics: str = "mean_std_slope",
    lags: Sequence[int] = LAGS,
) -> Tensor:
    """Return a series with its window statistics as further channels: the control.

    Statistics beside the input are what Moya-Mota et al. (2026) describe. A model of
    4 * n_channels channels with the position "none" reads them, or of as many as there are.

    Parameters
    ----------
    x, window, past, statistics, lags
        As for `window_statistics`.

    Returns
    -------
    (batch, length, (1 + n) * n_channels)

    Raises
    ------
    ValueError
        As `window_statistics`.

    Examples
    --------
    >>> with_window_statistics(torch.randn(2, 20, 3)).shape
    torch.Size([2, 20, 12])
    """
    found = window_statistics(x, window, past=past, statistics=statistics, lags=lags)
    return torch.cat((x, found), -1)
