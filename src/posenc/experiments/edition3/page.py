"""The protocol for people.

python -m posenc.experiments.edition3.page
"""

import json
import sys
from typing import Any

from posenc import _files
from posenc.data import recorded_facts
from posenc.experiments import results
from posenc.experiments.classification import unequal
from posenc.experiments.edition3 import budget, protocol, sets
from posenc.experiments.edition3.questions import QUESTIONS, TEN, cells

NAME = "edition-3/protocol.md"


def text() -> str:
    """Return the page."""
    stored = json.loads(_files.text(results.folder() / "edition-3" / "planned.json"))
    parts = [
        _head(),
        _data(stored["sets"]),
        _validation(stored),
        _questions(stored),
        _encodings(),
        _tuning(),
    ]
    return "\n\n".join([*parts, _analysis(), _budget(), _MISSING]) + "\n"


def _head() -> str:
    state = (
        f"Frozen on {protocol.FROZEN}."
        if protocol.FROZEN
        else "**This is a draft and not frozen.** Nothing has been trained, and both hashes change "
        "until a day stands here."
    )
    return f"""\
# The protocol of the third edition

{state} Trainings `{protocol.HASH}`, analysis `{protocol.ANALYSIS_HASH}`: both are computed from \
`posenc.experiments.edition3.protocol`, and this page is written by \
`python -m posenc.experiments.edition3.page`, which a test compares.

The second edition left questions that no analysis of it can answer: some encodings had fixed \
handicaps, and two of its most useful findings were seen after the fact. Here each question is \
asked only if it can be answered either way: a difference of {100 * protocol.MARGIN:g} points is \
shown four times of five where there is one, and where there is none, that is shown as often.

What was known when this was written: all results of the second edition. Of the sixteen unused \
sets their sizes, lengths and repeated series were counted, and nothing that ties a value to a \
label was looked at."""


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
equal series stay on one side of every deal, and the official split is not used."""


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

By a handful one draws lots. So the unused sets are dealt in halves (`deals`): half of the series \
of each class for training, equal series on one side, which leaves {halves[0]} to {halves[-1]} to \
choose by. Their accuracies are not those of the archives' official parts, and are not to be held \
beside them. The sets of the survey keep their sizes."""


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
            f"**{title}.** {one.words} ({n} {which}, {one.resamples} resamples)",
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


def _encodings() -> str:
    ten = ", ".join(f"`{name}`" for name in TEN)
    return f"""\
## Equal definitions

- Shaw's encoding whole (each offset has vectors, for keys and values) beside the clipped one.
- The DFT's table on sets of at most {protocol.TRAINING["settings"]["d_model"]} steps, the width \
of the model, where its paper defines it.
- T-PE beside its sinusoid alone, in every layer, and beside its kernel alone.
- ConvSPE beside SineSPE.
- Two hybrids that the survey draws: the sinusoid with T5's bias, tAPE with eRPE (ConvTran's pair).
- The ten of which validation chooses: {ten}. The DFT is not among them, as the counted sets have \
more steps than the model is wide.

The model is that of the second edition with a token a step (two layers of width 64), and one of \
four layers for *depth*. Everything else about a training is as it was there."""


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
any other a rate between the best two. In the second edition {rates.at_top} of {rates.chosen} \
chosen settings with steps stood at the top of the grid, 0.003, and tables could not go beyond it. \
Of the {free} that could, {free_beyond} did, to 0.009: so the new top should not be chosen by half \
of the winners. How often it is will be told beside the results."""


def _analysis() -> str:
    rules = protocol.ANALYSIS
    first = ["outcome", "about", "error", "not in the error", "difference", "equal"]
    names = [*first, "other sets", "chosen", "depth"]
    return "## Analysis\n\n" + "\n".join(f"- *{name}*: {rules[name]}" for name in names)


def _budget() -> str:
    hours = budget.hours()
    counted = sum(hours[name] for name in sets.COUNTED)
    n = cells()
    return f"""\
## What it costs

{sum(n.values()):,} trainings of {len(n)} cells, and {budget.N_TRIALS} trials of each: \
{hours["all"]:.1f} core-hours by the seconds that the second edition took, of {budget.HOURS:g} \
that are there; {counted:.1f} on the unused sets, the others on the survey's. Encodings that it \
did not train with a token a step are priced at {budget.UNMEASURED:g} times the model without any, \
and four layers at {budget.LAYERS[4]:g} times two."""


_MISSING = """\
## Missing before it can be frozen

- A small ConvTran, with its convolutions: only its pair of encodings is here.
- Trainings on deals in halves: the engine knows resamples of the official sizes alone.
- The command that trains, the GPU's command of nine minutes for the long sets and the short rows \
of tier 4, and a dry run of both on sets that were read before.
- Readers of the results, and the rules by which S19, S20, S31 and F23 are asked again."""


if __name__ == "__main__":
    _files.replace(results.folder() / NAME, text())
    sys.stdout.write(f"written: {NAME}\n")
