"""What position is worth in forecasting: changes of the error in per cent, and what is trained."""

from functools import cache

import numpy as np

from posenc.experiments.forecasting import protocol
from posenc.experiments.forecasting.reading import answers, complete, read_out
from posenc.experiments.forecasting.reading.effects import per_cent
from posenc.experiments.forecasting.reading.registered import FAMILIES, NONE
from posenc.experiments.forecasting.units import UNITS

SINE = protocol.DEFAULT


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


def lowers():
    """By how much the error falls in the mean over units, by reader."""
    return {name: f"{-per_cent(e.interval.mean):.0f}" for name, e in _effects().items()}


def interval():
    """Of the mean change, by reader."""
    return {
        name: f"{per_cent(e.interval.low):+.1f} to {per_cent(e.interval.high):+.1f}"
        for name, e in _effects().items()
    }


def inside():
    """Units whose error changes by at most the margin, either way, by reader."""
    return {
        name: str(int((np.abs(e.by_unit) <= protocol.MARGIN).sum()))
        for name, e in _effects().items()
    }


def falls():
    """By how much the error falls on one unit, such as `patches_mean.exchange`."""
    return {
        f"{name}.{label}": f"{-per_cent(change):.0f}"
        for name, e in _effects().items()
        for label, change in zip(e.units, e.by_unit, strict=True)
    }


def two_lie_outside():
    """Under a flattened head, both where the sinusoid helps."""
    changes = _changes("patches_flat")
    return {unit for unit, x in changes.items() if abs(x) > protocol.MARGIN} == {
        unit for unit in ("vic_electricity", "bike_sharing") if changes[unit] < 0
    }


def days_gain_most():
    """Under a mean, of all units, those with a day of hours in their past."""
    changes = _changes("patches_mean")
    first = sorted(changes, key=changes.__getitem__)[:5]
    return set(first) == {"m4_hourly", "vic_electricity", "bike_sharing", "etth1", "air_quality"}


def without_rhythm_nothing():
    """Under a mean: within the margin."""
    changes = _changes("patches_mean")
    return all(abs(changes[u]) < protocol.MARGIN for u in ("exchange", "m3_yearly", "m3_other"))


def months_and_quarters():
    """Under a mean: the smallest and the largest fall among them, in per cent."""
    names = ("m1_monthly", "m3_monthly", "m3_quarterly", "tourism_monthly", "tourism_quarterly")
    fall = [-per_cent(_changes("patches_mean")[name]) for name in names]
    return {"least": f"{min(fall):.0f}", "most": f"{max(fall):.0f}"}


def flattened_without_beats_mean_with():
    """Units on which a flattened head without encoding has a smaller error."""
    return str(
        sum(
            _error("patches_flat", NONE, u) < _error("patches_mean", SINE, u)
            for u in complete.COUNTED
        )
    )


def ahead_of_linear():
    """By how much the error of a flattened head without encoding is below that of the map."""
    return {unit: f"{-per_cent(_beside_linear(unit)):.0f}" for unit in complete.COUNTED}


def not_ahead_of_linear():
    """Units on which it is not."""
    return str(sum(_beside_linear(unit) >= 0 for unit in complete.COUNTED))


def the_two_are_farthest_ahead_of_linear():
    """The units outside the margin under a flattened head."""
    first = sorted(complete.COUNTED, key=_beside_linear)[:2]
    return set(first) == {"vic_electricity", "bike_sharing"}


def scatter_of_seeds():
    """Around a unit's mean, in per cent, by reader."""
    return {name: f"{100 * e.of_seeds:.1f}" for name, e in _effects().items()}


def _error(reader, encoding, unit):
    return _stored().mean_score(complete.Way(reader, encoding), unit)


def _beside_linear(unit):
    return np.log(_error("patches_flat", NONE, unit) / _error("linear", NONE, unit))


def _changes(reader):
    effect = _effects()[reader]
    return dict(zip(effect.units, effect.by_unit, strict=True))
