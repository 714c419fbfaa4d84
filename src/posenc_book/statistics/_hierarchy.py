"""The posterior of the hierarchical comparison in `equality`, summed over a grid.

Source: Corani, Benavoli, Demšar, Mangili and Zaffalon (2017), Statistical comparison of classifiers
through Bayesian hierarchical modelling. They sample with Stan; three common unknowns, and one per
set that can be summed out by itself, need no sampling.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import special


class PosteriorGrid:
    """The posterior of centre, scale and tails of the distribution of the sets' differences.

    The likelihood of a set is Student's distribution around its mean, as shares of equal cells;
    shares, not densities, so that a narrow one loses nothing. Priors as in Corani et al. (2017):
    the centre uniform within the largest difference seen, the scale uniform, the degrees of
    freedom 1 + Gamma with uniform shape in [1, 2] and rate in [0.01, 0.1]. The noise within a set
    has the density 1 / sigma, uniform there: so the likelihood of a set is what `correlated_t` says
    of it, and two resamples are enough.
    """

    N_SPREADS = 40
    TAIL_EDGES = (1, 1.15, 1.3, 1.5, 1.75, 2, 2.5, 3.2, 4.2, 6, 9, 15, 30, 70, np.inf)
    MOST_CENTRES = 161
    MOST_CELLS = 1201

    def __init__(
        self, means: NDArray, scales: NDArray, freedom: int, step: float, bound: float
    ) -> None:
        reach = max(np.abs(means).max() + 6 * np.median(scales), bound) + 4 * step
        half = int(np.ceil(reach / step))
        if 2 * half + 1 > self.MOST_CELLS:  # very wide data: coarser cells will do
            half = self.MOST_CELLS // 2
            step = reach / half
        self.step, self.half = step, half
        cells = step * np.arange(-half, half + 1)
        self.shares = _cell_shares(cells, step, means, scales, freedom)
        widest = max(1, int(np.ceil(bound / step)))
        stride = int(np.ceil(2 * widest / self.MOST_CENTRES))
        self.offsets = stride * np.arange(-(widest // stride), widest // stride + 1)
        self.centres, self.spacing = step * self.offsets, step * stride
        far = 20 * max(means.std(), np.median(scales), step)
        edges = np.concatenate([[0], np.geomspace(step / 2, far, 20)])
        self._set_spreads(edges)
        self.tails, self.tail_chances = _tails((1, 2, 6, np.inf))
        kept = np.flatnonzero(self.posterior().sum(axis=(0, 2)) > 1e-5)
        finer = np.linspace(kept[0], kept[-1] + 1, self.N_SPREADS + 1)
        self._set_spreads(np.interp(finer, np.arange(edges.size), edges))
        self.tails, self.tail_chances = _tails(self.TAIL_EDGES)

    def _set_spreads(self, edges: NDArray) -> None:
        self.spreads, self.spread_widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)

    def nodes(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return centres, spreads and tails, to be broadcast to (n_tails, n_spreads, n_centres)."""
        return self.centres, self.spreads[:, None], self.tails[:, None, None]

    def posterior(self) -> NDArray[np.float64]:
        """Return the probabilities of the nodes, (n_tails, n_spreads, n_centres)."""
        logs = np.array([[self._log_likelihood(s, t) for s in self.spreads] for t in self.tails])
        weights = np.exp(logs - logs.max()) * self.tail_chances[:, None, None]
        weights *= self.spread_widths[:, None]
        return weights / weights.sum()

    def _log_likelihood(self, spread: float, tail: float) -> NDArray[np.float64]:
        """Return the log-likelihood of all sets for each centre, (n_centres,)."""
        edges = self.step * (np.arange(2 * self.half + 1) + 0.5) / spread
        beyond = special.stdtr(tail, -edges)
        side = -np.diff(beyond)  # from the upper tail, so that small shares are right
        kernel = np.concatenate([side[::-1], [1 - 2 * beyond[0]], side])
        rows = sliding_window_view(kernel, 2 * self.half + 1)[self.half - self.offsets]
        return np.log(np.maximum(rows @ self.shares, np.finfo(float).tiny)).sum(axis=1)


def _cell_shares(
    cells: NDArray, step: float, means: NDArray, scales: NDArray, freedom: int
) -> NDArray[np.float64]:
    """Return how much of each set's Student distribution lies in each cell, (n_cells, n_sets)."""
    edges = np.append(cells - step / 2, cells[-1] + step / 2)
    edges[0], edges[-1] = -np.inf, np.inf  # the last cells hold what lies beyond them
    return _between(freedom, (edges[:, None] - means) / scales)


def _between(freedom: float, edges: NDArray) -> NDArray[np.float64]:
    """Return the shares of Student's distribution between edges along the first axis.

    Beyond the middle the upper tail is subtracted, so that small shares are right on both sides.
    """
    low, high = edges[:-1], edges[1:]
    flip = low + high > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    return special.stdtr(freedom, high) - special.stdtr(freedom, low)


def _tails(edges: tuple[float, ...]) -> tuple[NDArray, NDArray]:
    """Return degrees of freedom, each the prior's median between two edges, and their chances."""
    nodes = np.arange(0.05, 1, 0.1)
    shape, rate = (a.ravel() for a in np.meshgrid(1 + nodes, 0.01 + 0.09 * nodes))
    values = np.append(0, np.geomspace(1e-4, 5000, 4000))
    below = special.gammainc(shape, rate * values[:, None]).mean(axis=1)
    reached = np.interp(np.array(edges) - 1, values, below, right=1)
    return 1 + np.interp((reached[1:] + reached[:-1]) / 2, below, values), np.diff(reached)
