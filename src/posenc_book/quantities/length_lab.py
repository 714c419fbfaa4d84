"""Models trained to one length and read at longer ones: the tasks of the lab, and characters."""

from functools import cache

import numpy as np

from posenc_book.guide import evidence
from posenc_book.quantities import _read
from posenc_book.read import results
from posenc_book.read.characters import plan
from posenc_book.read.characters import read as text
from posenc_book.read.lengths import plan as lab_plan
from posenc_book.read.lengths import read as lab
from posenc_book.read.lengths import read_message, read_repairs
from posenc_book.records import labels
from posenc_book.statistics.answers import WORDS


def records_beyond_the_limit():
    """Of seconds, in which pauses of the machine count; no training failed for it."""
    limit, found = lab.PROTOCOL["settings"]["most_seconds"], lab.load_lab()
    if found.failed:
        raise ValueError(f"trainings of the lab failed: {', '.join(map(str, found.failed))}")
    told = {(*cell, seed) for cell, seeds in found.runs.items() for seed in seeds}
    stored = [one for one in results.load_records("lab") if one["protocol"] == lab_plan.HASH]
    beyond = [one for one in stored if one["seconds"] > limit]
    return _read.word(sum((r["dataset"], labels.label_of(r), r["seed"]) in told for r in beyond))


def rope_is_last_of_sixteen():
    """On the learned tasks, in the mean; the first four are those that the first page names."""
    shares = evidence.reach().shares
    *_, last = order = sorted(shares, key=shares.get, reverse=True)
    four = {"fire", "relative", "kerple", "rotary, random places"}
    return (len(order), order[0], last) == (16, "fire", "rotary") and {*order[:4]} == four


@cache
def _places(without):
    """Return the place of each encoding in the mean over the learned tasks but one."""
    return lab.places(lab.load_lab(), _tasks(without))


def _tasks(without=""):
    return [task for task in evidence.reach().leaders if task != without]


def rope_by_seed():
    """The best and the worst place of plain RoPE in any seed, over all tasks and without `sort`."""
    found = lab.load_lab()
    seeds = [lab.of_seed(found, seed) for seed in range(lab_plan.TIERS[4].seeds)]
    told = {}
    for name, without in (("all", ""), ("without_sort", "sort")):
        each = [lab.places(one, _tasks(without))["rotary"] for one in seeds]
        told[name] = f"{min(each)} to {max(each)}"
    return told


def rope_is_last_without_any_other():
    """Leave out one learned task at a time: with `sort` kept, plain RoPE stays last."""
    return all(_places(task)["rotary"] == len(_places(task)) for task in _tasks("sort"))


def without_sort_rope_is_thirteenth():
    """Ahead of none, the sinusoid and the learned table."""
    behind = {name for name, place in _places("sort").items() if place > 13}
    return _places("sort")["rotary"] == 13 and behind == {"none", "sinusoidal", "learnable"}


def without_sort_random_places_are_seventh():
    return _places("sort")["rotary, random places"] == 7


def each_leads_without_one():
    """Over three of the four tasks: four encodings, another one for each task that is left out."""
    first = {min(_places(task), key=_places(task).get) for task in _tasks()}
    return len(first) == len(_tasks())


def by_mean_place_rope_is_fourteenth():
    """Of its places on each of the four tasks."""
    found = lab.load_lab()
    by_task = [lab.places(found, [task]) for task in _tasks()]
    sums = {name: sum(of[name] for of in by_task) for name in by_task[0]}
    return sum(one < sums["rotary"] for one in sums.values()) == 13


def sort():
    """What a rule without a model has right on longer inputs, what the best has, and plain RoPE."""
    found = lab.load_lab()
    shares = {
        "rule": lab.repeated("sort"),
        "best": found.beyond("sort", found.order("sort")[0]),
        "rope": found.beyond("sort", "rotary"),
    }
    return {name: f"{100 * share:.0f}" for name, share in shares.items()}


def rope_leads_on_none():
    """Of the learned tasks."""
    return "rotary" not in evidence.reach().leaders.values()


@cache
def _losses():
    return text.load_losses()


def python():
    """Whose help topics are the text."""
    return _losses().python


@cache
def _rises():
    """Return schedule -> whether the loss rises to 192, to 256 and to 384 characters."""
    curves = text.curves(_losses(), (128, 192, 256, 384))["as trained"]
    return {name: (np.diff(seeds.mean(0)) > 0.1).tolist() for name, seeds in curves.items()}


def rope_rises_at_once():
    """And at twice the length it is no better than no encoding."""
    means = {
        n: np.mean(_losses().loss(n, "as trained", 256, "as trained")) for n in ("rotary", "none")
    }
    return bool(all(_rises()["rotary"]) and means["rotary"] > means["none"])


def repaired_curves_rise_where_told():
    """Dynamic NTK behind 192 characters, NTK behind 256, the other schedules nowhere."""
    rises = {name.removeprefix("rotary, "): where for name, where in _rises().items()}
    flat = not any(
        rises["yarn"] + rises["llama3"] + rises["longrope"][1:]
    )  # its list changes there
    later = (rises["dynamic_ntk"], rises["ntk"]) == ([False, True, True], [False, False, True])
    return flat and later


def longrope_loses_least():
    """In each seed, of all schedules without further training, at four times the length."""
    longrope, *others = (
        _losses().loss("rotary", schedule, 512, "as trained")
        for schedule in ("longrope", *plan.PROTOCOL["schedules"], "llama3")
    )
    return all(one < two for other in others for one, two in zip(longrope, other, strict=True))


def truncation_loses_least():
    """In the mean: RoPE at its trained length, and all else at four times that."""
    found, (short, far) = _losses(), (plan.PROTOCOL["trained"], max(plan.PROTOCOL["contexts"]))
    cut = np.mean(found.loss("rotary", plan.AS_TRAINED, short, "as trained"))
    others = [np.mean(found.loss(*name, far, kind)) for name in text.NAMES for kind in text.KINDS]
    return bool(cut < min(others))


def trained_again_they_lose_the_same():
    """Each of the later trainings, to four digits."""
    found = _losses()
    planned = {(name, seed) for name in plan.LATER for seed in range(3)}
    apart = [
        abs(value - found.runs["rotary", seed][name]["as trained"][context])
        for (_, seed), again in found.later.items()
        for name in ("loss", "tuned_loss")
        for context, value in again[name]["as trained"].items()
    ]
    return {*found.later} == planned and max(apart) < 5e-4


def nats():
    """Lost at the trained length and at four times it, and at both after further training."""
    one = evidence.stretch()
    said = {}
    for name in ("rotary", "none", "alibi", "yarn", "llama3", "longrope"):
        said[f"{name}.short"] = one.mean_text(name, one.short)
        said[f"{name}.far"] = one.mean_text(name, one.far)
        said[f"{name}.tuned"] = one.mean_text(name, one.far, tuned=True)
        said[f"{name}.short_tuned"] = one.mean_text(name, one.short, tuned=True)
    return said


@cache
def _farthest(task):
    """Return row -> its mean at four times the trained length."""
    found = read_repairs.load_tried()
    return {row: found.at(task, row, 80).mean for row in found.rows(task)}


def cutting_is_best_where_near():
    """On flip_flop, of all rows."""
    shares = _farthest("flip_flop")
    return max(shares, key=shares.get) == "rotary: cut"


def cutting_guesses_where_far():
    """On recall, where a guess is right once in ten."""
    return abs(_farthest("recall")["rotary: cut"] - 0.1) < 0.05


def two_gain_where_far():
    """On recall NTK and YaRN, by more than ten points over RoPE."""
    shares = _farthest("recall")
    return min(shares["rotary: ntk"], shares["rotary: yarn"]) > shares["rotary"] + 0.1


def a_layer_without_gains_where_far():
    """On recall, over RoPE in both layers."""
    shares = _farthest("recall")
    return shares["rotary, then none"] > shares["rotary"]


def dropping_is_not_yet_learned():
    """On both tasks, at the trained length, in the mean."""
    found = read_repairs.load_tried()
    tasks, row = ("flip_flop", "recall"), "rotary: dropped, further"
    return all(found.at(task, row, 20).mean < found.at(task, "rotary", 20).low for task in tasks)


def half_helps_on_neither_much():
    """At four times the trained length, the lowest seed of the half beside the highest of all."""
    found = read_repairs.load_tried()
    half, whole = "rotary, half of each head", "rotary"
    return all(
        found.at(task, half, 80).low <= found.at(task, whole, 80).high
        for task in ("flip_flop", "recall")
    )


def message_beside():
    """What is answered of the turned message beside each other: word by word, the tasks of it."""
    told = read_message.compared(read_message.load_message())
    return {other: _by_word(told, other) for other in read_message.BESIDE}


def _by_word(told, other):
    found = {pair[0]: one.answer for pair, one in told.items() if pair[1] == other}
    groups = {word: [f"`{task}`" for task, said in found.items() if said == word] for word in WORDS}
    return ", ".join(f"{word} on {_read.joined(of)}" for word, of in groups.items() if of)
