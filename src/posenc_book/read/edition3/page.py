"""The protocol for people.

python -m posenc_book.read.edition3.page
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

from posenc._wall import behind
from posenc_book import _files
from posenc_book.bench import convtran
from posenc_book.data import recorded_facts
from posenc_book.read import results
from posenc_book.read.classification import unequal
from posenc_book.read.edition3 import budget, claims, gpu, protocol, sets
from posenc_book.read.edition3.claims import CLAIMS, Claim
from posenc_book.read.edition3.questions import (
    GPU_RESAMPLES,
    ON_GPU,
    QUESTIONS,
    TEN,
    cells,
    cells_on_gpu,
)

NAME = "edition-3/protocol.md"


def text() -> str:
    """Return the page."""
    stored = json.loads(_files.text(results.folder() / "edition-3" / "planned.json"))
    parts = [
        _head(),
        _data(stored["sets"]),
        _validation(stored),
        _questions(stored),
        _claims(stored["claims"]),
        _encodings(),
        _tuning(),
    ]
    return "\n\n".join([*parts, _analysis(), _budget(), _running(), LOOKS, _gpu()]) + "\n"


def _head() -> str:
    return f"""\
# The protocol of the third edition

Frozen on {protocol.FROZEN}, before anything was trained on an unused set. Trainings \
`{protocol.HASH}`, analysis `{protocol.ANALYSIS_HASH}`: both are computed from \
`posenc_book.read.edition3.protocol`, and this page is written by \
`python -m posenc_book.read.edition3.page`, which a test compares.

The second edition left questions that no analysis of it can answer: some encodings had fixed \
handicaps, and two of its most useful findings were seen after the fact. Here each question is \
asked only if it can be answered either way: a difference of {100 * protocol.MARGIN:g} points is \
shown four times of five where there is one, and where there is none, that is shown as often.

What was known when this was written: all results of the second edition. Of the sixteen unused \
sets their sizes, lengths and repeated series were counted, and deals of them were made to see \
that equal series stay together. Nothing that ties a value to a label was looked at. The command \
was rehearsed on a set of the survey, with a few steps a training."""


def _data(rows: dict[str, dict[str, Any]]) -> str:
    lines = [
        "| set | train | test | steps | one difference scatters by | chance of the test part "
        "| here for |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for name, row in rows.items():
        numbers = f"{row['train']:,} | {row['test']:,} | {row['steps']}"
        scatter = f"{100 * row['within']:.1f} | {100 * row['of the test part']:.1f}"
        lines.append(f"| {name} | {numbers} | {scatter} | {_role(name)} |")
    alone = [row["alone"] for row in rows.values() if row["alone"]]
    table = "\n".join(lines)
    return f"""\
## The data

{table}

In points. *One difference scatters by* is the luck of one training and one deal of the series, as \
the sets of the second edition had it, by their sizes. It hardly depends on them: small training \
parts cost no precision that large test parts would buy back. *Chance of the test part* is how far \
two encodings lie apart by chance if both are right nine times of ten, on different series. It \
decides which sets carry a question: {" and ".join(sets.TOO_FEW)} have too few test series. By \
itself one set with five trainings decides differences of \
{100 * min(alone):.1f} to {100 * max(alone):.1f} points, so no question is about single sets.

{sets.NOT_TUNED[0]} has one training series a class, and nothing can be chosen by validation. \
{", ".join(sets.LONG)} have more than 300 steps and wait for a GPU; no answer counts them. \
{sets.SHARED[0]} has \
{recorded_facts(sets.SHARED[0]).repeats[2]} test series that also stand in its training part: \
equal series stay on one side of every deal, and the official split is not used. What is held out \
for validation may still hold a copy of a training series, in sets with such copies \
({_copies()})."""


def _copies() -> str:
    """Return the sets in which series occur more than once."""
    facts = [recorded_facts(name) for name in (*sets.UNUSED, *sets.SURVEY)]
    return ", ".join(one.name for one in facts if any(one.repeats))


def _validation(stored: dict[str, Any]) -> str:
    rows = [stored["sets"][name] for name in sets.COUNTED]
    official, halves = (
        sorted(row[key] for row in rows) for key in ("validation", "validation, halves")
    )
    chosen = stored["chosen by"]
    numbers = " | ".join(chosen)
    gains = " | ".join(_points(value) for value in chosen.values())
    bars = "--:|" * len(chosen)
    return f"""\
## What validation can choose

Rates and encodings are chosen by validation, which is a quarter of the training part. In their \
official sizes the counted sets have {official[0]} to {official[-1]} series for that, half of them \
at most {official[len(official) // 2 - 1]}. What does it bring to choose the best of ten by so \
few? In the second edition, with a token a step, this much over the sinusoid:

| series to choose by | {numbers} |
|---|{bars}
| points | {gains} |

By a handful one draws lots. So the unused sets are dealt in halves (`posenc.data.resamples`): \
half of the series of each class for training, of an odd number the smaller half, equal series on \
one side, which leaves {halves[0]} to {halves[-1]} to choose by. Their accuracies are not those of \
the archives' official parts, and are not to be held beside them. The sets of the survey keep \
their sizes, of at most {protocol.TRAINING["settings"]["max_cases"]:,} series a part."""


def _role(name: str) -> str:
    if name in sets.COUNTED:
        return "unused, counted"
    if name in sets.SURVEY:
        return "survey, read before"
    if name in sets.LONG:
        return "unused, too long for a processor"
    return "unused, not tuned" if name in sets.NOT_TUNED else "unused, too few test series"


def _questions(stored: dict[str, Any]) -> str:
    parts = ["## The questions"]
    for title, one in QUESTIONS.items():
        n = len(one.datasets)
        which = "unused sets" if one.datasets == sets.COUNTED else "sets of the survey"
        lines = [
            f"**{title}.** {one.words} ({n} {which}, {one.resamples} resamples"
            f"{_layers(one.layers)})",
            "",
            "| compared | scatter from | effect | margin | answered either way "
            "| over sets: margin | sets it would take |",
            "|---|---|--:|--:|---|--:|--:|",
        ]
        for pair, row in stored["questions"][title].items():
            these, every = row["on these"], row["over sets"]
            lines.append(
                f"| {pair} | {row['pilot']} | {_points(these['effect'])} "
                f"| {_points(these['margin'])} | {_yes(these['answerable'])} "
                f"| {_points(every['margin'])} | {every['sets for the margin'] or 'over 150'} |"
            )
        parts.append("\n".join(lines))
    parts.append(_left_out(stored))
    return "\n\n".join(parts)


def _layers(layers: tuple[int, ...]) -> str:
    return "" if layers == (2,) else f", layers: {' and '.join(map(str, layers))}"


def _left_out(stored: dict[str, Any]) -> str:
    every = [row["over sets"] for one in stored["questions"].values() for row in one.values()]
    needed = [row["sets for the margin"] for row in every if row["sets for the margin"]]
    n = sum(row["answerable"] for row in every)
    more = len(sets.COUNTED) + len(sets.LONG)
    pairs = [
        f"{title}, {pair}"
        for title, one in QUESTIONS.items()
        for pair, row in stored["questions"][title].items()
        if one.datasets == sets.COUNTED and (row["over sets"]["sets for the margin"] or more) < more
    ]
    return f"""\
In points; *effect* is the smallest that is shown, and *margin* the narrowest within which \
equality is shown, each four times of five at the first step of Holm's correction. Scatter is that \
of a contrast of the second edition, which may be a relative of the pair (`planned`).

**What is left out.** All questions are about the mean of these very sets. Whether an answer holds \
for other sets like them is another question: sets differ far more than trainings. It would take \
{min(needed)} to {max(needed)} sets, of {len(every)} comparisons {n or "none"} can be answered so, \
and none is asked: the page shows means and intervals over sets, and no test. With the sets that \
wait for a GPU there would be {more} unused ones, enough for: {"; ".join(pairs) or "none"}."""


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _claims(stored: dict[str, Any]) -> str:
    rows = [
        "| claim | what the source says | what is measured here | what is trained | effect "
        "| margin | tested |",
        "|---|---|---|---|--:|--:|---|",
    ]
    rows += [_claim_row(name, one, stored[name]) for name, one in CLAIMS.items()]
    table = "\n".join(rows)
    order = ", ".join(f"`{name}`" for name in claims.PRINTED_ORDER)
    return f"""\
## Four claims, asked again

{table}

*Effect* and *margin* are what is shown four times of five, as for the questions: of Kendall's tau \
for S19, in points for the others (for S20 of each trend). Margins are those of the ledger. What \
is trained is trained on the six sets of the survey, with a token a step.

The ledger's verdicts on these four rest on the second edition: other sets, and encodings that \
were not what the sources define. They stay. Beside them we write what comes of the sources' own \
definitions. The methods are those of the survey, on the six of its sets that can be had; the \
DFT's table is asked only where its paper defines it. The printed order is that of the survey's \
Table 4, the worst first: {order}. tAPE is that of its authors, as the printed formula has lost a \
letter (S3); SPE is ConvSPE, which the survey's text describes; eRPE has one scalar for each \
offset, for all heads; Shaw's vectors are those that Table 2 counts. Both architectures are \
claimed and only one is trained here, so the half of S19, S20 and S31 that is about patches keeps \
its verdict as it is, and so does the half of S31 about cost.

What may be written: {protocol.ANALYSIS["verdicts"]}. {_untested(stored)}"""


def _claim_row(name: str, one: Claim, stored: dict[str, dict[str, Any]]) -> str:
    unit = 1 if one.of == claims.ORDER else 100
    effects, margins = (
        " / ".join(f"{unit * row[key]:.{2 if unit == 1 else 1}f}" for row in stored.values())
        for key in ("effect", "margin")
    )
    trained = f"{', '.join(f'`{e}`' for e in one.encodings)}; {one.resamples} resamples"
    if one.of == claims.ORDER:
        trained = f"all eight; {one.resamples} resamples"
    tested = "no" if one.of == claims.TREND else f"at {unit * one.margin:g}"
    return f"| {name} | {one.words} | {one.asked} | {trained} | {effects} | {margins} | {tested} |"


def _untested(stored: dict[str, Any]) -> str:
    trends = {name: one for name, one in CLAIMS.items() if one.of == claims.TREND}
    [(name, one)] = trends.items()
    least = min(max(row["effect"], row["margin"]) for row in stored[name].values())
    return (
        f"Why no test for {name}? Its margin is {100 * one.margin:g} points, and six sets cannot "
        f"decide less than {100 * least:.1f}: no answer could be reached, so none is asked. The "
        "slopes are shown."
    )


def _encodings() -> str:
    ten = ", ".join(f"`{name}`" for name in TEN)
    return f"""\
## Equal definitions

- Shaw's encoding whole (each offset has vectors, for keys and values, in each head) beside the \
clipped one.
- The DFT's table on sets of at most {protocol.TRAINING["settings"]["d_model"]} steps, the width \
of the model, where its paper defines it; beyond, it refuses.
- T-PE beside its sinusoid alone, in every layer, and beside its kernel alone.
- ConvSPE beside SineSPE.
- Two hybrids that the survey draws: the sinusoid with T5's bias, tAPE with eRPE (ConvTran's pair).
- A third one, a small ConvTran (`convtran`): {convtran.N_FILTERS} filters of {convtran.WINDOW} \
steps for each channel, then a map of all channels at each step, in the place of our linear map; \
then its pair of encodings, one block, and the mean of the tokens. It is an option of our model: \
norms, attention and training are those of the model that it is compared with, so that a \
difference is owed to the convolutions. Beside it stand the same pair without the convolutions and \
the convolutions without the pair, in one block as well.
- The ten of which validation chooses: {ten}. The DFT is not among them, as the counted sets have \
more steps than the model is wide.

The model is that of the second edition with a token a step (two layers of width \
{protocol.TRAINING["settings"]["d_model"]}), one of four layers for *depth* and of one for \
*convtran*. Everything else about a training is as it was there."""


def _tuning() -> str:
    rates = unequal.rates(protocol.MODEL)
    free, free_beyond = rates.chosen - rates.added, rates.beyond
    low, *_, top = protocol.RATES
    return f"""\
## Tuning

Five trials of {protocol.TRIAL_STEPS} steps for each encoding and set, \
chosen by validation, on a deal of their own (for the survey's sets, the official split): \
learning rates from {low:g} to {top:g}, the same four for all, then one \
more. An encoding that is added to the tokens tries the other size of its rows at the best rate, \
any other a rate between the best two. Where all five fail, {protocol.UNTUNED:g} is trained. In \
the second edition {rates.at_top} of {rates.chosen} \
chosen settings with steps stood at the top of the grid, 0.003, and tables could not go beyond it. \
Of the {free} that could, {free_beyond} did, to 0.009: so the new top should not be chosen by half \
of the winners. How often it is will be told beside the results."""


def _analysis() -> str:
    rules = protocol.ANALYSIS
    first = ["outcome", "about", "error", "not in the error", "difference", "equal", "both"]
    more = ["neither", "interval", "other sets", "chosen", "depth", "failed", "missing"]
    lines = "\n".join(f"- *{name}*: {rules[name]}" for name in [*first, *more])
    return f"""\
## Analysis

{lines}

`python -m posenc_book.read.edition3.reading` says all of this from the stored trainings, and \
tests hold it against trainings that were made up, whose truth is known."""


def _budget() -> str:
    hours = budget.hours()
    counted = sum(hours[name] for name in sets.COUNTED)
    n, ratio = cells(), budget.ratio()
    return f"""\
## What it costs

{sum(n.values()):,} trainings of {len(n)} cells, and {budget.N_TRIALS} trials of each: \
{hours["all"]:.1f} core-hours, of {budget.HOURS:g} that are there; {counted:.1f} on the unused \
sets, the others on the survey's. The seconds of a step were measured for every cell on one core, \
on random series of the sets' sizes (`measured`); the number of steps is what the second edition \
took. Its trainings took {ratio:.2f} times what is measured here for the same ones, by which \
all of this is {"multiplied" if ratio > 1 else "not lessened"}."""


def _running() -> str:
    return f"""\
## How it is run

```console
$ python -m posenc_book.read.edition3 --seconds 3600 --workers 2
$ python -m posenc_book.read.edition3 --sets RacketSports --rehearse 20 --out rehearsal
$ python -m posenc_book.read.edition3.reading --lock
```

The first command trains what is missing, set by set: four trials of each cell, the fifth, and \
then its resamples at the best rate. It stops in time and goes on where it was; `--retry-failed` \
tries once more what has failed. `--sets` names some of the sets, `--families` some of the \
questions and claims, `--device cuda` a GPU. Resamples of a cell are trained together as far as \
their length allows: up to 4 on a processor, 16 on a GPU (the first trainings of RacketSports were \
trained one by one). Each set has two files in \
`results/edition-3`, whose lines hold this protocol's hash (`{protocol.HASH}`) and the digests of \
the series and of the encoding's code. The second command rehearses all cells of a set of the \
survey, into another folder and under no protocol. The third locks the scores by the digests of \
their files, and prints the answers."""


LOOKS = """\
## When it was read

A family is read when all of its trainings are there, and not before. 2026-11-28: the four claims, \
then *shaw*, then *hybrids* and *convtran*, then *definitions*, then *tokens*, then *depth*, then \
*ahead*, and at last *choice*."""


def _gpu() -> str:
    n = cells_on_gpu()
    names = ", ".join(f"`{name}`" for name in ON_GPU)
    return f"""\
## Nine minutes of a GPU, not run

```console
$ python -m posenc_book.read.edition3.gpu --seconds {gpu.SECONDS:g} --workers 16
```

**This has not been run.** It trains the short rows of tier {gpu.TIER} of the second edition \
(today's encodings, and the larger model, with a token a step), by that edition's protocol and \
into its files, and then the three longest sets of this one: {names}, {GPU_RESAMPLES} deals each, \
{sum(n.values())} trainings and {budget.N_TRIALS * len(n)} trials. No answer counts them. Their \
differences are shown beside *ahead*, with intervals and no test. It stops in time, and the same \
command goes on from there."""


def _main(_: Sequence[str]) -> None:
    _files.replace(results.folder() / NAME, text())
    sys.stdout.write(f"written: {NAME}\n")


if __name__ == "__main__":
    sys.exit(behind(_main))
