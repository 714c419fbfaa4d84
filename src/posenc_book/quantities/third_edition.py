"""What is whole of the third edition, and what its protocol plans."""

from collections import defaultdict
from dataclasses import replace
from statistics import mean

from posenc_book.data import recorded_facts
from posenc_book.quantities import _edition3, _read
from posenc_book.read.edition3 import plan, reading, tables
from posenc_book.read.edition3.questions import QUESTIONS
from posenc_book.statistics.answers import EQUAL, HERE, NEW_SERIES, NEW_SETS


def dft_over_the_sinusoid():
    """In points, where the paper defines the table."""
    return f"{_edition3.points('F23'):+.1f}"


def dft_equals_the_sinusoid():
    """Shown to be within the margin of a point, and no difference shown."""
    return _edition3.outcome("F23") == "equal"


def pairs_in_the_printed_order():
    """Of a hundred pairs of methods, those whose better one the survey's order names."""
    tau = _edition3.answer("S19").effect.mean
    return f"{50 * (1 + tau):.0f}"


def printed_order_is_shown():
    return _edition3.outcome("S19") == "ahead"


def agreement_by_set():
    """Kendall's tau with the survey's order on single sets."""
    by_set = _edition3.answer("S19").by_set
    return {"least": f"{min(by_set):+.2f}", "most": f"{max(by_set):+.2f}"}


CHANNELS = "S20", "a doubling of channels"


def by_channels():
    """Points that TUPE and SPE gain more for a doubling, on all sets and on five."""
    slopes = {
        "all": _edition3.points(*CHANNELS),
        "five": _edition3.points(*CHANNELS, "MelbournePedestrian"),
    }
    return {name: f"{slope:.1f}" for name, slope in slopes.items()}


def channels_matter_by_one_set():
    """The slope is above 0 with MelbournePedestrian, where the two lose, and may be 0 without."""
    far_behind = _edition3.by_set(*CHANNELS)["MelbournePedestrian"] < -0.05
    of_five = _edition3.answer(*CHANNELS, "MelbournePedestrian")
    return far_behind and _edition3.answer(*CHANNELS).effect.low > 0 > of_five.effect.low


def tupe_and_spe_stay_open():
    return _edition3.outcome("S31") == "undecided"


def shaw_whole_over_clipped():
    """In points."""
    return f"{_edition3.points('shaw'):.1f}"


def shaw_whole_is_ahead():
    return _edition3.outcome("shaw") == "ahead"


def two_sets_carry_it():
    """Only there the whole encoding is more than a point ahead."""
    carried = _edition3.sets_above(0.01, "shaw", "relative, whole - relative")
    return carried == {"MelbournePedestrian", "LSST"}


def one_set_runs():
    """The same on MelbournePedestrian, a number for each training run, in points."""
    scores = _edition3.scores()
    n = QUESTIONS["shaw"].resamples
    whole, clipped = (
        [scores["MelbournePedestrian", name, 2, run].accuracy for run in range(1, n + 1)]
        for name in ("relative, whole", "relative")
    )
    runs = [100 * (one - other) for one, other in zip(whole, clipped, strict=True)]
    return {"least": f"{min(runs):.1f}", "most": f"{max(runs):.1f}"}


# --- eRPE and T-PE


def erpe_over_the_sinusoid():
    """On the unused sets, in points."""
    return f"{_edition3.points('ahead', 'erpe - sinusoidal'):.1f}"


def erpe_with_interval():
    """The same with its interval by the scatter of resamples."""
    return tables.points(_edition3.answer("ahead", "erpe - sinusoidal"))


def erpe_is_ahead():
    return _edition3.outcome("ahead", "erpe - sinusoidal") == "ahead"


def erpe_is_ahead_on_nine():
    return len(_edition3.sets_above(0, "ahead", "erpe - sinusoidal")) == 9


def tpe_behind_the_sinusoid():
    """On the unused sets, in points."""
    return f"{-_edition3.points('ahead', 'tpe - sinusoidal'):.1f}"


def tpe_is_a_little_behind():
    """Shown to be behind, and by less than the margin: which is called equal."""
    return _edition3.small("ahead", "tpe - sinusoidal") < 0


def tpe_is_ahead_on_six():
    return len(_edition3.sets_above(0, "ahead", "tpe - sinusoidal")) == 6


def tpe_loses():
    """Points to the sinusoid, on the sets where it is behind."""
    by_set = _edition3.by_set("ahead", "tpe - sinusoidal").values()
    lost = [-100 * by for by in by_set if by < 0]
    return {"least": f"{min(lost):.1f}", "most": f"{max(lost):.1f}"}


def toe_and_arrow_bring_half():
    """ToeSegmentation1 and then ArrowHead: more than half of what eRPE is ahead."""
    by_set = _edition3.by_set("ahead", "erpe - sinusoidal")
    two = sorted(by_set, key=by_set.get)[-2:]
    more_than_half = sum(by_set[name] for name in two) > sum(by_set.values()) / 2
    return two == ["ArrowHead", "ToeSegmentation1"] and more_than_half


def erpe_without_toe():
    """In points, over the nine other sets."""
    return f"{_edition3.points('ahead', 'erpe - sinusoidal', 'ToeSegmentation1'):.1f}"


def erpe_without_toe_is_ahead():
    """Shown to be ahead, and by less than the margin."""
    return _edition3.small("ahead", "erpe - sinusoidal", "ToeSegmentation1") > 0


def tpe_hangs_on_any_of_four():
    """Left out one by one: without any of four it is no longer shown to be behind."""
    names = QUESTIONS["ahead"].datasets
    left = [_edition3.answer("ahead", "tpe - sinusoidal", name).shown for name in names]
    return left.count(False) == 4


def nearly_all():
    """Of a hundred series."""
    return f"{100 * _edition3.NEARLY_ALL:g}"


def five_sets_leave_little_to_gain():
    return len(QUESTIONS["ahead"].datasets) - len(_edition3.with_room()) == 5


def steps_of_new_sets():
    """From the shortest to the longest that count."""
    steps = [recorded_facts(name).length for name in plan.COUNTED]
    return f"{min(steps)} to {max(steps)}"


def lines_of_the_figure():
    """Pairs that have been answered."""
    return str(sum(len(_edition3.answers(title)) for title in QUESTIONS))


# --- on these very series, on new series, on new data sets


def _every():
    return {f"{title}: {a.contrast}": a for title in QUESTIONS for a in _edition3.answers(title)}


def _differ():
    return {name: one for name, one in _every().items() if one.shown}


def differences():
    """Shown on these very series, those within the margin among them."""
    return _read.word(len(_differ()))


def two_of_them_are_equal():
    """Within the margin: T-PE and the choice of validation, beside the sinusoid."""
    small = {name for name, one in _differ().items() if one.answer == EQUAL}
    return small == {"ahead: tpe - sinusoidal", "choice: chosen - sinusoidal"}


def _among_all():
    return {n for n, one in reading.among_all(reading.load_answers()).items() if one.shown}


def among_all():
    """Differences that are shown where all pairs are one family."""
    return _read.word(len(_among_all()))


def four_stand_among_all():
    """eRPE and the choice beside the sinusoid, Shaw's encoding, and T-PE without its sinusoid."""
    return _among_all() == {
        "ahead: erpe - sinusoidal",
        "choice: chosen - sinusoidal",
        "shaw: relative, whole - relative",
        "definitions: tpe - tpe, kernel alone",
    }


def no_difference_on_new_series():
    """Nor does any interval leave zero out."""
    found = [one.on_new_series for one in _every().values()]
    return not any(one.shown or one.effect.low > 0 or one.effect.high < 0 for one in found)


def erpe_alone_differs_on_new_sets():
    """By Wilcoxon's exact test over the sets, with Holm's correction in each question."""
    return {n for n, one in _every().items() if one.on_new_sets.shown} == {
        "ahead: erpe - sinusoidal"
    }


def _erpe_about():
    return _edition3.answer("ahead", "erpe - sinusoidal").about


def erpe_about():
    """Over the sinusoid, in points, with the interval on new series and on new data sets."""
    found = _erpe_about()
    return {"series": tables.points(found[NEW_SERIES]), "sets": tables.points(found[NEW_SETS])}


def erpe_on_new_sets_p():
    """Of Wilcoxon's exact test, for the two pairs of the question."""
    return f"{_erpe_about()[NEW_SETS].p_value:.4f}"


def wider_on_new_series():
    """How many times as long as on these very series the interval is, on halves."""
    here, series = (_erpe_about()[about].effect for about in (HERE, NEW_SERIES))
    return f"{(series.high - series.low) / (here.high - here.low):.1f}"


def where_there_is_room():
    """Over the sinusoid, in points, with the interval on these very series."""
    asked = replace(QUESTIONS["ahead"], datasets=tuple(_edition3.with_room()))
    found = reading.question(asked, _edition3.scores())
    return {name: tables.points(found.answer(f"{name} - sinusoidal")) for name in ("erpe", "tpe")}


def room_occupancy_carries():
    """Per cent of the variance of the means that it enters, least and most, of shown and of all."""
    told = {}
    for name, some in (("shown", _differ()), ("all", _every())):
        shares = [
            100 * one.carried[QUESTIONS[n.split(": ")[0]].datasets.index("RoomOccupancy")]
            for n, one in some.items()
            if "RoomOccupancy" in QUESTIONS[n.split(": ")[0]].datasets
        ]
        told |= {f"{name}.least": f"{min(shares):.0f}", f"{name}.most": f"{max(shares):.0f}"}
    return told


def room_occupancy_is_one_of_six():
    """Or of five: a sixth of each mean."""
    return {len(q.datasets) for q in QUESTIONS.values() if "RoomOccupancy" in q.datasets} == {5, 6}


# --- hybrids and ConvTran's block


def tape_over_erpe_alone():
    """In points."""
    return f"{_edition3.points('hybrids', 'tape + erpe - erpe'):.1f}"


def tape_helps_erpe():
    return _edition3.outcome("hybrids", "tape + erpe - erpe") == "ahead"


def two_sets_bring_nearly_all_of_it():
    """Of what tAPE's table adds: only there by more than a point."""
    carried = _edition3.sets_above(0.01, "hybrids", "tape + erpe - erpe")
    return carried == {"MelbournePedestrian", "RoomOccupancy"}


def t5_over_the_sinusoid_alone():
    """In points."""
    return f"{_edition3.points('hybrids', 'sinusoidal + t5 - sinusoidal'):+.1f}"


def t5_beside_the_sinusoid_is_open():
    return _edition3.outcome("hybrids", "sinusoidal + t5 - sinusoidal") == "undecided"


def t5_on():
    """What its bias gains beside the sinusoid on single sets, and what it loses, in points."""
    by_set = _edition3.by_set("hybrids", "sinusoidal + t5 - sinusoidal")
    named = ("RacketSports", "RoomOccupancy", "LSST")
    return {name: f"{100 * abs(by_set[name]):.1f}" for name in named}


def t5_wins_and_loses():
    """More than two points on RacketSports alone, and as much lost on two others alone."""
    by_set = _edition3.by_set("hybrids", "sinusoidal + t5 - sinusoidal")
    won = _edition3.sets_above(0.02, "hybrids", "sinusoidal + t5 - sinusoidal")
    lost = {n for n, by in by_set.items() if by < -0.02}
    return (won, lost) == ({"RacketSports"}, {"RoomOccupancy", "LSST"})


def convolutions():
    """What they bring in front of ConvTran's pair, in points."""
    return f"{_edition3.points('convtran', 'convtran - tape + erpe'):.1f}"


def convolutions_help():
    """On average, and on four of six sets; on RoomOccupancy they harm most."""
    by_set = _edition3.by_set("convtran", "convtran - tape + erpe")
    helps = _edition3.outcome("convtran", "convtran - tape + erpe") == "ahead"
    most_harmed = min(by_set, key=by_set.get) == "RoomOccupancy"
    return helps and most_harmed and sum(by > 0 for by in by_set.values()) == 4


def cost_of_the_pair():
    """Behind ConvTran's convolutions, in points."""
    return f"{-_edition3.points('convtran', 'convtran - convtran, none'):.1f}"


def the_pair_costs():
    return _edition3.outcome("convtran", "convtran - convtran, none") == "behind"


def the_pair_helps_on_one_set():
    return _edition3.sets_above(0, "convtran", "convtran - convtran, none") == {
        "MelbournePedestrian"
    }


# --- halves of T-PE, and two pairs


def kernel_adds_nothing_to_the_sinusoid():
    """T-PE is shown to be equal to its sinusoid alone."""
    return _edition3.outcome("definitions", "tpe - tpe, sinusoid alone") == "equal"


def kernel_beside_the_sinusoid():
    """What T-PE has over its sinusoid alone, in points."""
    return f"{_edition3.points('definitions', 'tpe - tpe, sinusoid alone'):+.1f}"


def sinusoid_beside_the_kernel():
    """What T-PE has over its kernel alone, in points."""
    return f"{_edition3.points('definitions', 'tpe - tpe, kernel alone'):.1f}"


def sinusoid_helps_the_kernel():
    return _edition3.outcome("definitions", "tpe - tpe, kernel alone") == "ahead"


def kernel_alone_falls_behind_on():
    """Points on MelbournePedestrian."""
    pair = "tpe - tpe, kernel alone"
    return f"{100 * _edition3.by_set('definitions', pair)['MelbournePedestrian']:.1f}"


def other_sets_lose_little():
    """Without the sinusoid: at most two points or so, on each other set, and none on average."""
    by_set = _edition3.by_set("definitions", "tpe - tpe, kernel alone")
    others = [by for name, by in by_set.items() if name != "MelbournePedestrian"]
    return max(map(abs, others)) < 0.025 and abs(sum(others)) < 0.01


def tables_and_draws_are_equal():
    """The DFT's table and the sinusoid, ConvSPE and SineSPE."""
    pairs = ("dft - sinusoidal", "conv_spe - sine_spe")
    return all(_edition3.outcome("definitions", pair) == "equal" for pair in pairs)


def draws():
    """ConvSPE beside SineSPE, in points, on two sets."""
    by_set = _edition3.by_set("definitions", "conv_spe - sine_spe")
    return {name: f"{100 * by_set[name]:+.1f}" for name in ("RoomOccupancy", "MelbournePedestrian")}


# --- encodings of today


def _today():
    return {one.contrast: one.answer for one in _edition3.answers("tokens")}


def none_of_today_is_ahead():
    """FIRE, KERPLE, PoPE and Transformer-XL's scores, beside the sinusoid."""
    return not any(outcome == "ahead" for outcome in _today().values())


def two_of_today_are_equal():
    """PoPE and Transformer-XL's scores alone."""
    equal = {name for name, outcome in _today().items() if outcome == "equal"}
    return equal == {"pope - sinusoidal", "transformer_xl - sinusoidal"}


def worth_where_today_is_tried():
    """What the sinusoid brings over none on the sets of that question, in points."""
    names = QUESTIONS["tokens"].datasets
    return f"{_over(('sinusoidal', 2), ('none', 2), names):.1f}"


def fire_is_behind():
    return _edition3.outcome("tokens", "fire - sinusoidal") == "behind"


def fire_behind_the_sinusoid():
    """In points."""
    return f"{-_edition3.points('tokens', 'fire - sinusoidal'):.1f}"


def kerple_stays_open():
    return _edition3.outcome("tokens", "kerple - sinusoidal") == "undecided"


def all_of_today_lose_in_the_room():
    """On RoomOccupancy, and FIRE most on RacketSports."""
    fire = _edition3.by_set("tokens", "fire - sinusoidal")
    in_the_room = [_edition3.by_set("tokens", pair)["RoomOccupancy"] for pair in _today()]
    return max(in_the_room) < 0 and min(fire, key=fire.get) == "RacketSports"


def pope_on_lsst():
    """In points, beside the sinusoid."""
    return f"{100 * _edition3.by_set('tokens', 'pope - sinusoidal')['LSST']:.1f}"


# --- two layers and four


def _over(first, other, names=QUESTIONS["depth"].datasets):
    """Return the mean difference of two (encoding, layers) over data sets, in points."""
    return mean(_edition3.per_cent(n, *first) - _edition3.per_cent(n, *other) for n in names)


def worth():
    """What an encoding brings over none in so many layers, in points, mean over the sets."""
    return {
        f"{name}.{word}": f"{_over((name, layers), ('none', layers)):.1f}"
        for name in ("sinusoidal", "erpe")
        for word, layers in (("two", 2), ("four", 4))
    }


def two_more_layers_cost_the_sinusoid():
    """Of its worth, in points."""
    return f"{-_edition3.points('depth', 'sinusoidal - none'):.1f}"


def sinusoid_is_worth_less_in_four():
    return _edition3.outcome("depth", "sinusoidal - none") == "behind"


def erpe_in_four_is_open():
    return _edition3.outcome("depth", "erpe - none") == "undecided"


def three_sets_take_it():
    """More than three points of the sinusoid's worth, and one set gives more than two."""
    by_set = _edition3.by_set("depth", "sinusoidal - none")
    taken = {name for name, by in by_set.items() if by < -0.03}
    given = _edition3.sets_above(0.02, "depth", "sinusoidal - none")
    three = {"MelbournePedestrian", "RoomOccupancy", "EMGGestures"}
    return (taken, given) == (three, {"RacketSports"})


def depth_without_melbourne():
    """What the sinusoid is worth in four layers less that in two, in points, on five sets."""
    return f"{_edition3.points('depth', 'sinusoidal - none', 'MelbournePedestrian'):+.1f}"


def depth_without_melbourne_is_open():
    return _edition3.outcome("depth", "sinusoidal - none", "MelbournePedestrian") == "undecided"


def melbourne():
    """Accuracies on MelbournePedestrian, in per cent."""
    return {
        f"{name}.{word}": f"{_edition3.per_cent('MelbournePedestrian', encoding, layers):.1f}"
        for name, encoding in (("without", "none"), ("sinusoidal", "sinusoidal"))
        for word, layers in (("two", 2), ("four", 4))
    }


def worth_is_melbournes():
    """Without that set the sinusoid brings less than a point over none, in two layers and four."""
    pairs = [(("sinusoidal", layers), ("none", layers)) for layers in (2, 4)]
    names = [name for name in QUESTIONS["depth"].datasets if name != "MelbournePedestrian"]
    return all(abs(_over(*pair, names)) < 1 for pair in pairs)


def better_by_depth():
    """Accuracy in four layers less that in two, in points, mean over the sets."""
    return {name: f"{_over((name, 4), (name, 2)):+.1f}" for name in ("none", "sinusoidal")}


def erpe_gains_by_depth_on_melbourne():
    """In points of accuracy, from two layers to four."""
    two, four = (_edition3.per_cent("MelbournePedestrian", "erpe", layers) for layers in (2, 4))
    return f"{four - two:.1f}"


# --- a set that nobody learns


def share_price():
    """Accuracies on SharePriceIncrease, means of encodings, and the share of its larger class."""
    name, by_encoding = "SharePriceIncrease", defaultdict(list)
    for (dataset, encoding, layers, _), one in _edition3.scores().items():
        if dataset == name:
            by_encoding[encoding, layers].append(100 * one.accuracy)
    means = [mean(every) for every in by_encoding.values()]
    counts = [sum(both) for both in recorded_facts(name).class_counts.values()]
    larger = 100 * max(counts) / sum(counts)
    return {"least": f"{min(means):.0f}", "most": f"{max(means):.0f}", "larger": f"{larger:.0f}"}


def verdicts_stay_without_share_price():
    """Of all answered questions."""
    of_both = [
        [[one.answer for one in _edition3.answers(title, without)] for title in QUESTIONS]
        for without in (None, "SharePriceIncrease")
    ]
    return of_both[0] == of_both[1]


# --- what is planned


def most_series():
    """Of a part, that are trained or tested on."""
    return f"{plan.TRAINING['settings']['max_cases']:,}"


def _needed():
    """Return how many sets each pair would take to be answered for others like them."""
    of_questions = _edition3.planned()["questions"].values()
    return [row["over sets"]["sets for the margin"] for of in of_questions for row in of.values()]


def sets_it_would_take():
    """From the fewest to the most, where simulated numbers of sets are enough."""
    some = [n for n in _needed() if n]
    return f"{min(some)} to {max(some)}"


def one_pair_would_take_more():
    """Than the most that were simulated."""
    return _needed().count(None) == 1


def most_sets_simulated():
    return str(plan.MOST_SETS_SIMULATED)


def part():
    """Training series of the unused sets that count, in their official parts."""
    sizes = [recorded_facts(name).train for name in plan.COUNTED]
    return {"smallest": str(min(sizes)), "largest": str(max(sizes))}


def resamples():
    """Of a question or a claim."""
    numbers = [one.resamples for one in _edition3.ASKED.values()]
    return f"{min(numbers)} to {max(numbers)}"


def trial_steps():
    return str(plan.TRAINING["tuning"]["steps"])


def margin():
    """In points."""
    return f"{100 * plan.MARGIN:g}"
