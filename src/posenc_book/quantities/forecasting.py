"""What position is worth in forecasting: changes of the error in per cent, and what is trained."""

from functools import cache

import numpy as np

from posenc_book.read.forecasting import (
    answers,
    complete,
    devices,
    plan,
    read_out,
    rivals,
    tables,
)
from posenc_book.read.forecasting.effects import per_cent
from posenc_book.read.forecasting.plan import COUNTED, NONE, READERS

SINE = plan.DEFAULT
TWO = {"vic_electricity", "bike_sharing"}


@cache
def _stored():
    return complete.load_stored()


@cache
def _effects():
    return read_out.effects_of_sinusoid(_stored())


def units():
    """How many there are, count, and are kept apart."""
    n = {"all": plan.UNITS, "counted": COUNTED, "apart": plan.KEPT_APART}
    return {name: str(len(some)) for name, some in n.items()}


def places():
    """Combinations of unit, reader and encoding that are trained, of all that are planned."""
    states = _stored().states.values()
    return {"whole": f"{sum(s.whole for s in states):,}", "all": f"{len(states):,}"}


def trainings():
    """All that are stored, trials among them."""
    return f"{sum(s.trials + s.seeds for s in _stored().states.values()):,}"


def on_both_devices():
    """Trainings that a GPU and a processor made, and by how much their errors differ."""
    found = devices.load_ratios()
    n = sum(map(len, found.values()))
    return {"n": str(n), "per_cent": f"{abs(per_cent(devices.interval(found).mean)):.1f}"}


def mean():
    """The mean change over units, by reader."""
    return {name: f"{per_cent(e.interval.mean):+.1f}" for name, e in _effects().items()}


def lowers():
    """By how much an encoding lowers the error in the mean over units, such as `decoder.rotary`."""
    return {
        name: f"{-per_cent(a.effect.interval.mean):z.0f}" for name, a in _asked("worth").items()
    }


def beside_default():
    """By how much the error is above that with the sinusoid, such as `decoder.rotary`."""
    found = _asked("default").items()
    return {name: f"{per_cent(a.effect.interval.mean):z.0f}" for name, a in found}


def within():
    """How many encodings of a reader are shown to be within the margin of none."""
    return {reader: str(sum(a.within for a in _of("worth", reader).values())) for reader in READERS}


def four_lead_and_three_fall_behind():
    """Under all heads that do not flatten: beside the sinusoid, by the registered tests."""
    found = {reader: _of("default", reader) for reader in READERS if not reader.endswith("flat")}
    leaders = [
        abs(of[name].effect.interval.mean) <= plan.MARGIN
        for of in found.values()
        for name in ("learnable", "erpe", "tpe")
    ]
    last = [
        of[name].answer == "behind" for of in found.values() for name in ("alibi", "t5", "fire")
    ]
    return all(leaders) and all(last)


def placebo():
    """What a vector that is alike for all tokens changes, at most, in the mean over units."""
    found = [
        a.effect.interval.mean
        for one in answers.ask(_stored(), "controls")
        for a in one.answers
        if a.comparison.label == "placebo"
    ]
    return f"{max(abs(per_cent(x)) for x in found):.1f}"


def calendar():
    """By how much calendar features lower the error of none, such as `patches_flat.etth1`."""
    return {
        f"{reader}.{unit}": f"{-change:z.0f}"
        for reader in plan.CALENDAR_READERS
        for unit, change in tables.calendar_gain(_stored(), reader).items()
    }


def heat_and_air_gain_nothing_by_a_calendar():
    """With patches, under either head, within the margin."""
    return all(
        abs(tables.calendar_gain(_stored(), reader)[unit]) <= 100 * plan.MARGIN
        for reader in ("patches_flat", "patches_mean")
        for unit in ("etth1", "air_quality")
    )


def both_are_best_under_a_mean():
    """Units on which sinusoid and calendar together have the smallest error."""
    ways = (NONE, True), (SINE, False), (SINE, True)
    alone, sine, both = (
        tables.calendar_gain(_stored(), "patches_mean", encoding=encoding, calendar=features)
        for encoding, features in ways
    )
    return str(sum(both[unit] < min(alone[unit], sine[unit]) for unit in both))


def longer():
    """By how much a past four times as long raises the error, such as `decoder.alibi`."""
    return {
        f"{one.family.name}.{a.comparison.label}": f"{per_cent(a.effect.interval.mean):z.0f}"
        for one in answers.ask(_stored(), "longer")
        for a in one.answers
        if a.effect is not None
    }


def longer_units():
    return str(len(answers.ask(_stored(), "longer")[0].family.units))


def last_check():
    """Differences that were shown, and those whose sign the units kept apart repeat."""
    found = _repeats()
    return {"shown": str(len(found)), "repeated": str(sum(one.same_sign for one in found))}


def apart():
    """By how much the sinusoid lowers the error on what was kept apart: `steps_mean.etth2`."""
    return {
        f"{one.family.name}.{unit}": f"{-per_cent(x):z.0f}"
        for one in _repeats()
        if (one.family.question, one.shown.comparison.label) == ("worth", SINE)
        for unit, x in [
            ("all", one.again.effect.interval.mean),
            *_by_unit(one.again.effect).items(),
        ]
    }


def yearly_tourism_gains_nothing():
    """Of the sinusoid, under a mean."""
    found = apart()
    return all(int(found[f"{r}.tourism_yearly"]) <= 0 for r in ("steps_mean", "patches_mean"))


def tested_read_out():
    """The sinusoid's worth under a mean less that under a flattened head, by tokens."""
    (one,) = answers.ask(_stored(), "read-out")
    told = {}
    for a in one.answers:
        interval, label = a.effect.interval, a.comparison.label
        told[label] = f"{per_cent(interval.mean):+.1f}"
        told[f"{label}.interval"] = (
            f"{per_cent(interval.low):+.1f} to {per_cent(interval.high):+.1f}"
        )
        told[f"{label}.p"] = f"{a.p_value:.4f}"
    return told


def interval():
    """Of the mean change, by reader."""
    return {
        name: f"{per_cent(e.interval.low):+.1f} to {per_cent(e.interval.high):+.1f}"
        for name, e in _effects().items()
    }


def inside():
    """Units whose error changes by at most the margin, either way, by reader."""
    return {
        name: str(int((np.abs(e.by_unit) <= plan.MARGIN).sum())) for name, e in _effects().items()
    }


def falls():
    """By how much the error falls on one unit, such as `patches_mean.exchange`."""
    return {
        f"{name}.{label}": f"{-per_cent(change):z.0f}"
        for name, e in _effects().items()
        for label, change in zip(e.units, e.by_unit, strict=True)
    }


def two_lie_outside():
    """Under a flattened head of patches, both where the sinusoid helps."""
    return _two_lie_outside("patches_flat")


def the_same_two_with_steps():
    """Lie outside, and are farthest ahead of the linear map."""
    return _two_lie_outside("steps_flat") and _farthest_ahead("steps_flat") == TWO


def _two_lie_outside(reader):
    changes = _changes(reader)
    outside = {unit for unit, x in changes.items() if abs(x) > plan.MARGIN}
    return outside == TWO and all(changes[unit] < 0 for unit in TWO)


def days_gain_most():
    """Under a mean, of all units, those with a day of hours in their past."""
    changes = _changes("patches_mean")
    first = sorted(changes, key=changes.__getitem__)[:5]
    return set(first) == {"m4_hourly", "vic_electricity", "bike_sharing", "etth1", "air_quality"}


def without_rhythm_nothing():
    """Under a mean: within the margin."""
    changes = _changes("patches_mean")
    return all(abs(changes[u]) < plan.MARGIN for u in ("exchange", "m3_yearly", "m3_other"))


def months_and_quarters():
    """Under a mean: the smallest and the largest fall among them, in per cent."""
    names = ("m1_monthly", "m3_monthly", "m3_quarterly", "tourism_monthly", "tourism_quarterly")
    fall = [-per_cent(_changes("patches_mean")[name]) for name in names]
    return {"least": f"{min(fall):z.0f}", "most": f"{max(fall):z.0f}"}


def flattened_without_beats_mean_with():
    """Units on which a flattened head without encoding has a smaller error."""
    return str(
        sum(_error("patches_flat", NONE, u) < _error("patches_mean", SINE, u) for u in COUNTED)
    )


def ahead_of_linear():
    """By how much the error of a flattened head without encoding is below that of the map."""
    return {unit: f"{-per_cent(_beside_linear(unit)):z.0f}" for unit in COUNTED}


def not_ahead_of_linear():
    """Units on which it is not."""
    return str(sum(_beside_linear(unit) >= 0 for unit in COUNTED))


def third_ahead_of_linear():
    """By how much the error of a flattened head of patches is below that of the map, at rank 3."""
    third = sorted(_beside_linear(unit) for unit in COUNTED)[2]
    return f"{-per_cent(third):z.0f}"


def ahead():
    """Units on which a reader, with the encoding that validation chose, is ahead of a rival."""
    found = rivals.standings(_stored(), rivals.load_rivals())
    return {f"{one.reader}.{one.rival}": str(len(one.ratios) - len(one.behind)) for one in found}


def the_two_are_farthest_ahead_of_linear():
    """The units outside the margin under a flattened head of patches."""
    return _farthest_ahead("patches_flat") == TWO


def _farthest_ahead(reader):
    """Return the two units on which a reader without encoding leaves the linear map farthest."""
    return set(sorted(COUNTED, key=lambda unit: _beside_linear(unit, reader))[:2])


def scatter_of_seeds():
    """Around a unit's mean, in per cent, by reader."""
    return {name: f"{100 * e.of_seeds:.1f}" for name, e in _effects().items()}


def _error(reader, encoding, unit):
    return _stored().mean_score(complete.Way(reader, encoding), unit)


def _beside_linear(unit, reader="patches_flat"):
    return np.log(_error(reader, NONE, unit) / _error("linear", NONE, unit))


def _changes(reader):
    return _by_unit(_effects()[reader])


def _by_unit(effect):
    return dict(zip(effect.units, effect.by_unit, strict=True))


@cache
def _repeats():
    return answers.repeats(_stored())


@cache
def _of(question, reader):
    """Return the answers of a reader by encoding."""
    (one,) = (a for a in answers.ask(_stored(), question) if a.family.name == reader)
    return {a.comparison.label: a for a in one.answers}


def _asked(question):
    """Return the answers of a question by reader and encoding, such as "decoder.rotary"."""
    return {f"{r}.{name}": a for r in READERS for name, a in _of(question, r).items()}
