"""What training runs, their steps and one decoded token cost on the machines that measured them."""

import json
from functools import cache

from posenc_book.quantities import _read
from posenc_book.read import results

# Columns of the page, in the order in which they stand there.
SHARES = (
    "linear maps reach",
    "alone, in cache",
    "alone, outside",
    "attention",
    "dropout",
    "optimiser",
    "all else",
    "compiled takes",
)
DEAR = ("transformer_xl", "sine_spe", "path", "conv_spe")
KEPT = (64, 512)  # tokens in the cache


@cache
def _stored(name):
    found = json.loads((results.folder() / f"{name}.json").read_text(encoding="utf-8"))
    if found.get("busy"):
        raise ValueError(
            f"{name}.json was measured on a busy machine: measure again on an idle one"
        )
    return found


def _ends(values, form="{:.0f}"):
    return {"least": form.format(min(values)), "most": form.format(max(values))}


# --- training runs


@cache
def _beside_tsai():
    runs = _stored("engine")
    return [(profile, one) for profile in ("laptop", "full") for one in runs[profile]]


def times_as_many_runs():
    """As tsai ends in an hour."""
    return _ends([one["ratio"] for _, one in _beside_tsai()], "{:.1f}")


def training_runs():
    rows = [
        (
            profile,
            one["length"],
            f"{one['tsai_an_hour']:,}",
            f"{one['ours_an_hour']:,}",
            f"{one['ratio']:.1f}",
        )
        for profile, one in _beside_tsai()
    ]
    head = ("profile", "steps", "tsai, training runs an hour", "here", "ratio")
    return _read.table(head, rows, numbers_from=1)


# --- a step


def _percents(column, of="steps"):
    return [round(100 * row[column]) for row in _stored(of)["rows"]]


def products_reach():
    """Of the machine's rate, in a step."""
    return _ends(_percents("linear maps reach"))


def products_in_cache():
    return _ends(_percents("alone, in cache"))["least"]


def products_outside():
    return _ends(_percents("alone, outside"))


def _rates(of):
    return [row["limit, GFLOP/s"] for row in _stored(of)["rows"]]


def rate():
    return _ends(_rates("steps"))


def rate_of_the_other():
    return _ends(_rates("steps-2026-11-23"))


def the_other_is_nearly_twice_as_quick():
    here, there = _rates("steps"), _rates("steps-2026-11-23")
    least, most = min(there) / min(here), max(there) / max(here)
    return 1.75 < least < 2 and 1.75 < most < 2


def products_reach_on_the_other():
    return _ends(_percents("linear maps reach", "steps-2026-11-23"))


def less_is_reached_on_the_other():
    here, there = (_percents("linear maps reach", of) for of in ("steps", "steps-2026-11-23"))
    return all(a < b for a, b in zip(there, here, strict=True))


def compiled():
    """A compiled step, on the shortest and on the longest series."""
    short, *_, long = _percents("compiled takes")
    return {"short": str(short), "long": str(long)}


def all_else():
    return _ends(_percents("all else"))


def largest_of_the_rest():
    """The three largest parts of all else at 8 tokens are those that the page names."""
    short = _stored("steps")["rows"][0]
    columns = list(short)
    rest = columns[columns.index("compiled takes") + 1 :]
    largest = sorted(rest, key=short.get, reverse=True)[:3]
    return largest[0] == "Python" and {*largest[1:]} == {"around attention", "around products"}


def python():
    short, *_, long = _percents("Python")
    return {"short": str(short), "long": str(long)}


def around():
    """Attention and the products, at 8 tokens."""
    return {what: str(_percents(f"around {what}")[0]) for what in ("attention", "products")}


def shares():
    rows = [
        (row["tokens"], *(f"{round(100 * row[name])} %" for name in SHARES))
        for row in _stored("steps")["rows"]
    ]
    head = ("tokens", "products in a step", "the same, in cache", "the same, outside")
    head += ("share of attention", "of dropout", "of the optimiser", "of all else")
    return _read.table((*head, "compiled step"), rows, numbers_from=0)


# --- one token


@cache
def _times(column):
    """Return (kind, tokens kept) -> our time, and the quickest elsewhere and whose it is."""
    found = {}
    for row in _stored("decoding")["rows"]:
        ours = row["whose"].startswith("posenc")
        both = found.setdefault((row["kind"], row["prompt"]), ([], []))
        both[0 if ours else 1].append((row[column], row["whose"]))
    return {key: (min(ours)[0], min(theirs, default=None)) for key, (ours, theirs) in found.items()}


@cache
def _over_none():
    """Return (kind, tokens kept) -> the time of a layer of many over that of `none`."""
    times = {key: ours for key, (ours, _) in _times("of many").items()}
    return {(kind, kept): time / times["none", kept] for (kind, kept), time in times.items()}


def _elsewhere(kind, column, kept):
    """Return our time over the quickest elsewhere, or nothing."""
    ours, theirs = _times(column)[kind, kept]
    return theirs and ours / theirs[0]


def _all_elsewhere(kind, columns=("alone", "of many")):
    return [_elsewhere(kind, column, kept) for column in columns for kept in KEPT]


def one_token():
    """The table, by what an encoding adds with 512 tokens kept, as the table shows it."""
    costs = _over_none()
    kinds = {kind for kind, _ in costs}
    rows = [
        (
            f"`{kind}`",
            *(f"{costs[kind, kept]:.2f}" for kept in KEPT),
            *(f"{ratio:.2f}" if ratio else "" for ratio in _all_elsewhere(kind)),
        )
        for kind in sorted(kinds, key=lambda kind: (round(costs[kind, 512], 2), kind))
    ]
    head = ("time of one token", "over `none`, 64 kept", "512 kept")
    head += ("over elsewhere, alone, 64", "512", "of many, 64", "512")
    return _read.table(head, rows, numbers_from=1)


def all_others_decode():
    """Those made from the signal, and those of several axes, are the ones that are not timed."""
    from posenc import encodings  # here, as only what runs a model needs torch

    timed = {kind for kind, _ in _over_none()}
    without = {*encodings.names("signal"), *encodings.names("axes")}
    return timed.isdisjoint(without) and timed >= {*encodings.names()}


def cheapest_add_nothing():
    added = ("sinusoidal", "learnable", "dft", "tape", "learnable_frequency", "sine_linear")
    return all(abs(_over_none()[kind, kept] - 1) < 0.035 for kind in added for kept in KEPT)


def shared_biases_add():
    """Those whose row of biases the first layer works out for all."""
    added = [_over_none()[kind, kept] for kind in ("alibi", "t5") for kept in KEPT]
    return _ends([100 * cost - 100 for cost in added])


def rope_and_kerple_add():
    added = [_over_none()[kind, kept] for kind in ("rotary", "kerple") for kept in KEPT]
    return _ends([100 * cost - 100 for cost in added])


def dear():
    """Those that the page names one by one, with 512 kept."""
    forms = dict(zip(DEAR, ("{:.2f}", "{:.1f}", "{:.0f}", "{:,.0f}"), strict=True))
    return {kind: form.format(_over_none()[kind, 512]) for kind, form in forms.items()}


def transformer_xl_is_dearest():
    """Apart from the three that begin anew at each token."""
    costs = _over_none()
    others = max(costs[kind, 512] for kind, _ in costs if kind not in DEAR)
    return others < costs["transformer_xl", 512]


def all_are_quicker():
    """In all four columns, wherever somebody else has the encoding."""
    return max(_every_ratio()) < 1


def beside_elsewhere():
    return _ends(_every_ratio(), "{:.2f}")


def _every_ratio():
    ratios = [ratio for kind, _ in _over_none() for ratio in _all_elsewhere(kind)]
    return [ratio for ratio in ratios if ratio is not None]
