"""What another tuning moves: thirty cells of the third edition, each tuned five times."""

from dataclasses import replace
from functools import cache
from statistics import fmean

from posenc_book.quantities import _edition3, _read
from posenc_book.read import tuning_luck
from posenc_book.read.edition3 import over_sets, words
from posenc_book.statistics.summary import t_interval


@cache
def _found():
    """Return the mean accuracy of each cell, by the deal that tuned it."""
    return tuning_luck.scores()


@cache
def _luck():
    return tuning_luck.component(_found())


def _range(by_deal):
    return 100 * (max(by_deal.values()) - min(by_deal.values()))


def points():
    """The standard deviation of a cell's mean accuracy over its tunings."""
    return f"{_luck().points:.1f}"


def cells():
    """How many there are, and how many whose five tunings end at one and the same mean."""
    same = sum(_range(by_deal) == 0 for by_deal in _found().values())
    return {"all": str(len(_found())), "same": str(same)}


def by_set():
    """The same standard deviation on single sets, in points."""
    found, names = _found(), {dataset for dataset, _ in _found()}
    cells_of = [{cell: found[cell] for cell in found if cell[0] == name} for name in names]
    deviations = [tuning_luck.component(some).points for some in cells_of]
    return {"least": f"{min(deviations):.1f}", "most": f"{max(deviations):.1f}"}


def widest():
    """The cell whose tunings lie farthest apart, and by how many points."""
    dataset, encoding = max(_found(), key=lambda cell: _range(_found()[cell]))
    apart = f"{_range(_found()[dataset, encoding]):.1f}"
    return {"set": dataset, "encoding": words.name(encoding), "points": apart}


def of_a_pair():
    """The error of a difference of two tuned encodings: on one set, and over ten."""
    one = (2 * _luck().variance) ** 0.5
    return {"one": f"{one:.1f}", "ten": f"{one / 10**0.5:.1f}"}


def erpe_stays_ahead():
    return _wider("erpe").effect.low > 0


def tpe_is_no_longer_behind():
    return _wider("tpe").effect.high > 0


@cache
def _leads(encoding):
    """Return what it is ahead of the sinusoid in the mean of five tunings, by data set."""
    means = {cell: fmean(by_deal.values()) for cell, by_deal in _found().items()}
    names = sorted({dataset for dataset, _ in means})
    return {name: means[name, encoding] - means[name, "sinusoidal"] for name in names}


def over_tunings():
    """What eRPE and T-PE are ahead of the sinusoid in that mean, over data sets."""
    return {e: over_sets.points(t_interval([*_leads(e).values()])) for e in ("erpe", "tpe")}


def erpe_ahead():
    """Sets on which it is, and the p-value by flipping the signs of its leads in all ways."""
    leads = [*_leads("erpe").values()]
    n_ahead = sum(lead > 1e-9 for lead in leads)
    return {"sets": _read.word(n_ahead), "p": f"{over_sets.p_of_signs(leads):.1g}"}


def erpe_leads():
    """Its two largest leads in points, the sets that hold them, and the third largest."""
    leads = sorted(_leads("erpe").items(), key=lambda item: -item[1])
    (first, second, _), of_each = zip(*leads[:3], strict=True)
    most, after, third = (f"{100 * lead:.1f}" for lead in of_each)
    return {"first": first, "most": most, "second": second, "next": after, "third": third}


def erpe_reaches_zero():
    """The interval of its lead over data sets, in the mean of five tunings."""
    return t_interval([*_leads("erpe").values()]).low < 0


def tpe_where_there_is_room():
    """Its lead there in points, in the mean of five tunings."""
    return f"{100 * fmean(_leads('tpe')[name] for name in _edition3.with_room()):+.1f}"


def _wider(name):
    """Return what is answered of an encoding beside the sinusoid, with that luck."""
    one = _edition3.answer("ahead", f"{name} - sinusoidal")
    return replace(one, effect=tuning_luck.widened(one.effect, _luck()))
