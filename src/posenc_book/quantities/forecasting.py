"""What position is worth in forecasting: changes of the error in per cent, and what is trained."""

from functools import cache

import numpy as np

from posenc_book.figures import forecasting as figures
from posenc_book.quantities import _read
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
from posenc_book.read.forecasting.plan import COUNTED, KEPT_APART, NONE, READERS
from posenc_book.statistics.summary import t_interval

SINE = plan.DEFAULT
TWO = {"vic_electricity", "bike_sharing"}
FLAT = ("patches_flat", "steps_flat")
FAR_AHEAD = np.log(0.9)  # of the linear map: an error that is a tenth smaller
SIMPLE = ("seasonal_naive", "theta")


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


def repeats():
    """Of the differences between encodings: how many, how many independent ones they amount to,
    and the share of its size that one keeps (the median)."""
    found = [one for one in _repeats() if one.family.question != "read-out"]
    before, again = (
        np.array([getattr(one, which).effect.by_unit for one in found])
        for which in ("shown", "again")
    )
    kept = np.median(again.mean(1) / before.mean(1))
    told = {"n": str(len(found)), "independent": f"{_independent(before):.1f}"}
    return told | {"kept": f"{100 * kept:.0f}", "hold_0": str(sum(map(_holds_0, found)))}


def _independent(effects):
    """Return how many independent rows (n_effects, n_units) vary as these do: n^2 / sum of r^2."""
    return len(effects) ** 2 / np.square(np.corrcoef(effects)).sum()


def _holds_0(one):
    interval = one.again.effect.interval
    return interval.low < 0 < interval.high


def each_kept_apart_has_siblings():
    """Other units of its archive count."""
    archives = {_archive(unit) for unit in COUNTED}
    return all(_archive(unit) in archives for unit in KEPT_APART)


def _archive(unit):
    """Return "ett" of "etth1", "m1" of "m1_yearly"."""
    return "ett" if unit.startswith("ett") else unit.split("_")[0]


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


def by_lead():
    """What the sinusoid changes under a flattened head, where it leads the linear map by less
    than a tenth, and by how much it lowers the error where it leads by more."""
    told = {}
    for reader in FLAT:
        near, far = _by_lead(reader)
        one = t_interval(near)
        told |= {
            f"{reader}.near.n": str(len(near)),
            f"{reader}.near": f"{per_cent(one.mean):+z.1f}",
            f"{reader}.near.interval": f"{per_cent(one.low):+.1f} to {per_cent(one.high):+.1f}",
            f"{reader}.far.n": _read.word(len(far)),
            f"{reader}.far": f"{-per_cent(np.mean(far)):.0f}",
        }
    return told


def near_the_linear_map_nothing_changes():
    """By the interval of either flattened head, which lies within the margin."""
    near = [t_interval(_by_lead(reader)[0]) for reader in FLAT]
    return all(one.low > -plan.MARGIN and one.high < plan.MARGIN for one in near)


def over_all_a_flattened_head_is_not_shown_to_gain():
    """By the intervals, which hold 0."""
    return all(_effects()[r].interval.low < 0 < _effects()[r].interval.high for r in FLAT)


def _by_lead(reader):
    """Return the changes where the lead over the linear map is small, and where it is large."""
    changes = _changes(reader)
    far = {unit for unit in COUNTED if _beside_linear(unit, reader) < FAR_AHEAD}
    return [[x for unit, x in changes.items() if (unit in far) == side] for side in (False, True)]


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


def ahead_of_best():
    """Units on which a reader is ahead of the best of several rules: `patches_flat.simple`."""
    names = {"simple": SIMPLE, "with_trees": rivals.STORED_RIVALS}
    return {
        f"{reader}.{name}": str(
            len(COUNTED) - len(set().union(*(_behind(reader)[r] for r in some)))
        )
        for reader in READERS
        for name, some in names.items()
    }


def theta_is_ahead_in_competitions_alone():
    """Of a flattened head of patches: months of M1; years, quarters and months of M3."""
    return _behind("patches_flat")["theta"] == {
        "m1_monthly",
        "m3_yearly",
        "m3_quarterly",
        "m3_monthly",
    }


def _behind(reader):
    """Return the units on which a reader is not ahead of a rival, by rival."""
    found = rivals.standings(_stored(), rivals.load_rivals())
    return {one.rival: {*one.behind} for one in found if one.reader == reader}


def along():
    """By how much the sinusoid lowers the validation error after so many steps."""
    return {f"{r}.{n}": fall for r in READERS for n, fall in _along(r).items()}


def bikes_along():
    """The same under a mean of patches, on the hired bikes."""
    return _along("patches_mean", ["bike_sharing"])


def _along(reader, units=COUNTED):
    every = plan.TRAINING["settings"]["check_every"]
    found = tables.gain_along(_stored(), reader, units)
    return {str(n): f"{-found[n // every - 1]:z.0f}" for n in tables.TOLD_AT}


def steps_gain_to_the_end():
    """The gain of single steps, under a mean and in the decoder, grows from check to check."""
    found = [tables.gain_along(_stored(), reader) for reader in ("steps_mean", "decoder")]
    return all(bool((np.diff(one) <= 0.05).all()) for one in found)


def flattened_heads_gain_little_at_any_time():
    """In the mean the validation error changes by less than two per cent, either way."""
    return all(max(abs(tables.gain_along(_stored(), reader))) < 2 for reader in FLAT)


def rates():
    """Choices of a learning rate, and those at an end of what was tried."""
    low, *_, high = plan.RATES
    chosen = [
        (way.encoding, state.rate)
        for (way, unit), state in _stored().states.items()
        if unit in COUNTED and way.part == "encodings"
    ]
    lowest, highest = ([name for name, rate in chosen if rate == end] for end in (low, high))
    told = {"all": len(chosen), "edge": len(lowest) + len(highest), "highest": len(highest)}
    told["each"] = len(chosen) // len(plan.ENCODINGS)
    told |= {f"highest.{name}": highest.count(name) for name in (NONE, SINE)}
    return {name: str(n) for name, n in told.items()}


def released():
    """Forecasters of the table."""
    return _read.word(len(_heads()))


def no_released_one_averages():
    """Its tokens, of those in the table."""
    return not any("mean" in head or "average" in head for head in _heads())


def _heads():
    return [row["the forecast comes from"] for row in figures.read_outs().rows.values()]


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
