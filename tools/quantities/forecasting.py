"""What position is worth in forecasting: changes of the error in per cent, and what is trained."""

from functools import cache

import numpy as np

from posenc.experiments.forecasting import protocol
from posenc.experiments.forecasting.reading import answers, complete, read_out
from posenc.experiments.forecasting.reading.effects import per_cent
from posenc.experiments.forecasting.reading.registered import FAMILIES
from posenc.experiments.forecasting.units import UNITS


@cache
def _stored():
    return complete.load_stored()


@cache
def _effects():
    """Return the sinusoid's effects by tokens and head, such as "patches_flat"."""
    found = {tokens: read_out.read_out(_stored(), tokens) for tokens in read_out.TOKENS}
    return {
        f"{tokens}_{head}": effect
        for tokens, one in found.items()
        for head, effect in one.effects.items()
    }


@cache
def _families():
    return [one for question in FAMILIES for one in answers.ask(_stored(), question)]


def units():
    """How many there are, count, and are kept apart."""
    n = {"all": UNITS, "counted": complete.COUNTED, "apart": protocol.KEPT_APART}
    return {name: str(len(some)) for name, some in n.items()}


def places():
    """On the units that count."""
    states = [s for (_, unit), s in _stored().states.items() if unit in complete.COUNTED]
    return {"whole": f"{sum(s.whole for s in states):,}", "all": f"{len(states):,}"}


def families():
    every = _families()
    return {"whole": str(sum(one.is_whole for one in every)), "all": str(len(every))}


def mean():
    """The mean change over units, by reader."""
    return {name: f"{per_cent(e.interval.mean):+.1f}" for name, e in _effects().items()}


def interval():
    """Of the mean change, by reader."""
    return {
        name: f"{per_cent(e.interval.low):+.1f} to {per_cent(e.interval.high):+.1f}"
        for name, e in _effects().items()
    }


def beyond_the_margin():
    """Units whose error changes by more than the margin, either way, by reader."""
    return {
        name: str(int((np.abs(e.by_unit) > protocol.MARGIN).sum()))
        for name, e in _effects().items()
    }


def smaller():
    """Units whose error becomes smaller, by reader."""
    return {name: str(int((e.by_unit < 0).sum())) for name, e in _effects().items()}


def unit():
    """The change on one unit, such as `patches_mean.exchange`."""
    return {
        f"{name}.{label}": f"{per_cent(change):+.1f}"
        for name, e in _effects().items()
        for label, change in zip(e.units, e.by_unit, strict=True)
    }
