"""Does a gain need position, or richer tokens only? The control of encodings made from the signal.

`window_statistics` adds numbers of a window around each token to it. Its control is a model
without encoding that gets such numbers of each step as further channels of its input
(`posenc.encodings.with_window_statistics`). Where the control gains as much, richer tokens can do
what the encoding does. With a token for each step both see the same windows; with patches the
encoding's hold nine patches and the control's nine steps, so that the difference is not what
position is worth.
Both are planned by `protocol`, in tier 3 with patches and in tier 4 with steps:

    python -m experiments.classification --tier 3 --encodings none window_statistics
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.read.classification import edition
from posenc_book.read.classification import protocol as protocols
from posenc_book.statistics import summary as statistics

VARIANT = "window-statistics"
ENCODING = protocols.CONTROLLED[VARIANT]


@dataclass(frozen=True)
class Beside:
    """Gains in test accuracy over the plain model without encoding on one data set, in points.

    Attributes
    ----------
    dataset : str
    encoded, richer : array of shape (n_resamples,)
        Of the encoding `window_statistics`, and of its control, resample by resample; or, from
        `mean` and `over_planned`, data set by data set.
    """

    dataset: str
    encoded: NDArray[np.float64]
    richer: NDArray[np.float64]

    @property
    def ahead(self) -> statistics.Interval:
        """How far the encoding is ahead of its control, with Student's interval."""
        return statistics.t_interval(self.encoded - self.richer)


def load_controlled(
    model: str,
    *,
    every: bool = False,
    records: Iterable[dict] | None = None,
    controls: Iterable[dict] | None = None,
) -> list[Beside]:
    """Return the gains of the encoding and of its control on each data set that has both.

    Parameters
    ----------
    model : str
        "patch" or "time_series".
    every : bool
        Whether to take in data sets that came after the edition.
    records, controls : iterable of dict, optional
        Lines of `second-*.jsonl` and of `variant-window-statistics-*.jsonl`; by default the book's.
        Given records have no edition.

    Returns
    -------
    list of Beside
        In the order of the protocol; empty where nothing is whole.

    Raises
    ------
    ValueError
        If the edition names a data set that is not whole.

    Examples
    --------
    >>> load_controlled("patch", records=[], controls=[])
    []
    """
    frozen = not every and records is None and controls is None
    plain = edition.by_cell(edition.load_edition() if records is None else records, model)
    richer = edition.by_cell(edition.load_edition(VARIANT) if controls is None else controls, model)
    names = edition.controlled(plain, richer, VARIANT)
    if frozen and (now := edition.read_edition()) is not None:
        names = now.named(edition.kind(model, VARIANT), names)
    return [_beside(name, plain, richer) for name in names]


def over_planned(found: Sequence[Beside]) -> Beside:
    """Return the mean gains on each data set that the protocol plans for the control, as one.

    So the interval of their difference is one over data sets. Those that were trained before the
    plan was made are left out.

    Parameters
    ----------
    found : sequence of Beside

    Raises
    ------
    ValueError
        If a planned set is not among them.

    Examples
    --------
    >>> sets = [Beside(name, np.ones(5), np.zeros(5)) for name in protocols.WITHOUT_GAPS]
    >>> controlled_rows({"patches": [over_planned(sets)]})
    {'mean of 9 sets, patches': {'added': '+1.0', 'channels': '+0.0', 'added less channels': \
'+1.0 [+1.0, +1.0]'}}
    """
    by_name = {one.dataset: one for one in found}
    lacking = [name for name in protocols.WITHOUT_GAPS if name not in by_name]
    if lacking:
        raise ValueError(f"found must hold every planned data set, got none for {lacking[0]}")
    return mean([by_name[name] for name in protocols.WITHOUT_GAPS])


def mean(found: Sequence[Beside]) -> Beside:
    """Return the mean gains on each of some data sets, as one.

    Parameters
    ----------
    found : sequence of Beside

    Examples
    --------
    >>> mean([Beside("Libras", np.ones(5), np.zeros(5)), Beside("NATOPS", np.ones(5), np.ones(5))])
    Beside(dataset='mean of 2 sets', encoded=array([1., 1.]), richer=array([0., 1.]))
    """
    return Beside(
        f"mean of {len(found)} sets",
        np.array([one.encoded.mean() for one in found]),
        np.array([one.richer.mean() for one in found]),
    )


def controlled_rows(found: Mapping[str, Sequence[Beside]]) -> dict[str, dict[str, str]]:
    """Return the gains in points for a table, with the interval of their difference.

    Parameters
    ----------
    found : mapping of what a token is to a sequence of Beside

    Examples
    --------
    >>> one = Beside("Libras", np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0]))
    >>> controlled_rows({"steps": [one]})["Libras, steps"]["added less channels"]
    '+1.0 [+1.0, +1.0]'
    """
    return {f"{one.dataset}, {tokens}": _row(one) for tokens, sets in found.items() for one in sets}


def _row(one: Beside) -> dict[str, str]:
    less = one.ahead
    return {
        "added": _points(one.encoded.mean()),
        "channels": _points(one.richer.mean()),
        "added less channels": f"{_points(less.mean)} [{_points(less.low)}, {_points(less.high)}]",
    }


def _points(gain: float) -> str:
    return f"{gain:+z.1f}"  # no minus before a rounded zero


def _beside(dataset: str, plain: dict, richer: dict) -> Beside:
    resamples = range(int(protocols.TRAINING["resamples"]))

    def scores(found: dict, encoding: str) -> NDArray[np.float64]:
        return np.array([found[dataset, encoding, r]["accuracy"] for r in resamples])

    none = scores(plain, "none")
    encoded, control = scores(plain, ENCODING), scores(richer, "none")
    return Beside(dataset, 100 * (encoded - none), 100 * (control - none))
