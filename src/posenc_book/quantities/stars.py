"""What the times of readings were worth to models that tell variable stars apart."""

from dataclasses import replace
from functools import cache

from posenc_book.quantities import _read
from posenc_book.read import irregular, results
from posenc_book.read.edition3.over_sets import points
from posenc_book.statistics.answers import UNDECIDED

_SURVEYS = {"asas": "asas_stars", "sdss": "rr_lyrae"}
_CONTRASTS = {
    "rope": "RoPE, times - RoPE, numbers",
    "sinusoid": "sinusoid, times - sinusoid, numbers",
}


@cache
def _tables():
    found = irregular.stored()
    return {name: irregular.table(found, survey) for name, survey in _SURVEYS.items()}


@cache
def _answers():
    return irregular.answers(irregular.stored())


def counted():
    """How many stars of how many kinds each survey has."""
    told = {name: irregular.PLAN["surveys"][survey] for name, survey in _SURVEYS.items()}
    return {
        f"{name}.{what}": _read.word(one[what])
        for name, one in told.items()
        for what in ("stars", "kinds")
    }


def right():
    """Of a hundred new stars, how many each model tells the kind of, by survey."""
    return {
        f"{arm.replace(', ', '_').replace(' ', '_')}.{name}": f"{100 * one['accuracy'].mean:.0f}"
        for name, arms in _tables().items()
        for arm, one in arms.items()
    }


def numbers_ahead():
    """How far numbers scored above times over both surveys, in points, with the interval."""
    ahead = {name: _answers()[title].effect for name, title in _CONTRASTS.items()}
    return {
        name: points(replace(one, mean=-one.mean, low=-one.high, high=-one.low))
        for name, one in ahead.items()
    }


def neither_is_shown():
    """Both contrasts are undecided: no difference, and no equality."""
    return all(one.answer == UNDECIDED for one in _answers().values())


def p():
    """The p-values of both contrasts, corrected for one another."""
    return {name: f"{_answers()[title].p_value:.2f}" for name, title in _CONTRASTS.items()}


def speeds():
    """How many speeds of the clock five deals chose for RoPE, of four, by survey."""
    chosen = {name: {*map(_unit, _of_rope(survey))} for name, survey in _SURVEYS.items()}
    return {name: _read.word(len(units)) for name, units in chosen.items()}


def _of_rope(survey):
    """Return the trainings of RoPE over times."""
    encoding, _ = irregular.ARMS["RoPE, times"]
    every = results.load_records(f"irregular/{survey}")
    return [one for one in every if one["encoding"] == encoding and _unit(one)]


def _unit(record):
    return record["settings"]["dataset_options"].get("unit")
