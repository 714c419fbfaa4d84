"""How the benchmark's second edition is analysed: frozen, with a hash, before results are read.

`ANALYSIS` says which data sets decide, what is compared, which difference counts as none, and by
which tests; `second` does what it says. The trainings have a hash of their own, see
`protocol`. Both parts stand in `results/protocol.md`, written by

    python -m posenc_book.read.classification.analysis
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from posenc._wall import behind
from posenc_book.read import results
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.protocol import TRAINING
from posenc_book.records.hashes import hashed
from posenc_book.statistics.friedman import ZEROS

ANALYSIS: dict[str, Any] = {
    "edition": 2,
    "outcome": "accuracy",
    "secondary": ["balanced_accuracy"],
    "baseline": "none",
    "margin": 0.01,
    "alpha": 0.05,
    "least_power": 0.8,
    "unit": "data set, or family of sets that share series: the mean over sets and resamples",
    "families": {
        "Pedestrians": ["MelbournePedestrian", "Chinatown"],
        "Phalanges": ["PhalangesOutlinesCorrect", "DistalPhalanxTW", "ProximalPhalanxTW"],
        "Words": ["FiftyWords", "WordSynonyms"],
    },
    "complete": "all encodings of the tier have all resamples of the set",
    "learned": "above_largest_class",
    "decides": {
        "above_largest_class": "sign flips of whole resamples, mean of all encodings",
        "above_none": "sign flips of whole resamples, largest mean gain of an encoding",
        "level": 0.05,
    },
    "primary": {
        "gain": "Wilcoxon over learned units, encoding minus none, Holm over encodings",
        "equal": "two one-sided t tests within the margin, learned units, Holm over encodings",
        "ranking": "Friedman counted or permuted, encodings without none, deciding units",
        "pairs": "Wilcoxon, deciding units, Holm over all pairs",
    },
    "beside": ["all sets", "sets of the survey", "Bayesian signed ranks with the margin as rope"],
    "models": "apart; each model is a family of its own",
}

HASH = hashed(ANALYSIS)


def text() -> str:
    """Return the protocol for people, in Markdown."""
    parts = [_HEAD, _training(), _analysis(), _HASHES, _zeros(), _unequal(), _ADDITIONS]
    return "\n\n".join(parts) + "\n"


_HEAD = f"""\
# The protocol of the second edition

Two parts, each with a hash. The first decides what is trained and stands in every record as \
`protocol`. The second was frozen before any result of the second edition was looked at, except \
those of a pilot with the model without encoding, which chose the length of the trainings and was \
not stored. Both are made from the code: this page is written by \
`python -m posenc_book.read.classification.analysis`, and a test compares.

**In short.** {len(protocols.DATASETS)} data sets of the UCR and UEA archives; eleven \
encodings, `none` among them; two small transformers. Each encoding is tuned alike, by four short \
trials on validation data ([which did not make everything equal](#what-was-not-equal)), and then \
trained five times, until validation has stopped improving. \
Gains over `none` are judged over independent data sets: by Wilcoxon's signed ranks with Holm's \
correction an encoding helps or hurts, by two one-sided tests it makes no difference within a \
point, or the question is open. What was changed later has a date, and says what was known by \
then."""


def _names(encodings: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in encodings)


_HASHES = """\
## What the hashes hold

The first holds the data sets, the eleven encodings, the number of resamples, the settings of a \
training, and rates, number and steps of the trials. The two models, the tiers and what the fourth \
trial is stand in the words above and in the code, and each record names its own model and \
settings. So tiers may grow or shrink without another hash, and every such change has a date below.

The second holds outcome, baseline, level and margin; what a unit, a whole, a learned and a \
deciding set is; the four primary tests; what is shown for all sets, the survey's sets and by \
Bayesian signed ranks; that models are judged apart. The mixed model, the power for single gains \
and the smallest reachable p stand in the words above and are shown beside the verdicts, but no \
rule depends on them, and they are not in the hash. It holds a least power of 0.8 that no page \
uses so far. What these answers mean for sentences of the sources is judged by the \
rules of the Audit (`posenc_book.audit.rules`), from readings in `posenc_book.audit.survey.trained`.

2026-11-23: beside the one mixed model of all gains, each model has one of its own, since gains \
with steps scatter far more than gains with patches. Norms are not among the effects of the one \
model before tier 3, as in tier 1 they go with what a token is.

2026-11-25: in the mixed models, and where gains are shown by the number of patches, sets that \
share series count as one, as they do in the tests. They had counted as several.

Later on that day, after the results were read: the mixed model with norms has effects of its own \
for what a token is on a set, and for the norm on a set. Without them the two norms on one set had \
counted as two answers about its tokens; the difference between steps and patches had p = 0.0005 \
then, and a narrower interval.

Two things were written down as late, with no rule changed. *Luck* among the conditions above \
takes resamples as independent, though they share series, so it lets more sets pass than its level \
says; the page of details says how many. (The sentence on what the test part is for was \
made exact on 2026-11-23, as trials are scored on it, too.) And when the second part was frozen \
the first trainings may already have been running; none had been looked at."""


def _zeros() -> str:
    """Return what becomes of ties, and what the other treatment would have shown."""
    from posenc_book.read.classification import second  # which needs the analysis above

    told = []
    for model, tokens in second.TOKENS.items():
        grid = second.load_grid(model)
        n = len(grid.encodings) - 1
        asked = (
            (second.pairs_shown, grid.units()),
            (second.pairs_shown, second.deciding(grid)),
            (second.gains_shown, second.learned(grid)),
        )
        every, deciding, gains = (
            " and ".join(str(shown(units, zeros=zeros)) for zeros in ZEROS)
            for shown, units in asked
        )
        told.append(
            f"- With {tokens}, of {math.comb(n, 2)} pairs: {every} over all units, {deciding} over "
            f"those that decide. Of {n} gains over `none`: {gains}."
        )
    return (
        "2026-11-26, after the results were read: what becomes of a unit on which two encodings "
        "tie was not written down, though it had been in the code before this part was frozen. "
        "Wilcoxon's test takes such a difference of zero by Pratt's rule: the unit is ranked, but "
        "has no sign. By Wilcoxon's own rule it is left out. What is shown in this edition, by "
        "Pratt's rule and by the other:\n\n" + "\n".join(told)
    )


def _unequal() -> str:
    """Return what four trials for each encoding did not make equal, with its numbers."""
    from posenc_book.read.classification import second, unequal  # which need the analysis above

    steps, patches = (unequal.rates(model) for model in second.TOKENS)
    (in_steps, n_steps), (in_patches, n_patches) = map(unequal.stretched, second.TOKENS)
    settings = TRAINING["settings"]
    return f"""\
## What was not equal

2026-11-26, after the results were read. Every encoding had the same four trials, which is what \
*tuned alike* means. That did not make the comparison equal: six decisions, all taken before a \
result was read, may have held encodings back, and most of what would tell how far was not trained.

- `relative` is Shaw's, clipped at {unequal.CLIPPED} tokens and with vectors for the keys alone. \
The survey's relative encoding is not clipped and has vectors for the values, too.
- `dft` has orthonormal rows for as many tokens as the model is wide, {settings["d_model"]}. For \
longer series its table is stretched, and its rows are neither orthogonal nor of norm 1: with \
steps on {in_steps} of the {n_steps} units that are learned, with patches on {in_patches} of \
{n_patches}.
- `tpe` is a sinusoid in every layer and a kernel over the tokens. There is no control with the \
kernel and without the sinusoid, so it is not known to which of them a gain belongs.
- `sine_spe` is stochastic encoding in its sinusoidal form. The survey defines the convolutional \
one, `conv_spe`, which tier 3 trains on fewer sets.
- The models have {settings["n_layers"]} layers of width {settings["d_model"]}; the survey's \
algorithms have four layers. Tier 3 has a model of four layers with patches, for three encodings.
- Of the chosen learning rates, those without an encoding among them, {steps.at_top} of \
{steps.chosen} with steps ({steps.at_top / steps.chosen:.0%}) and {patches.at_top} of \
{patches.chosen} with patches ({patches.at_top / patches.chosen:.0%}) are {unequal.TOP:g}, the \
highest of the three that all try. An encoding that is added to the tokens cannot go beyond it, as \
its fourth trial is another size of its rows: {steps.added_at_top} of {steps.added} such rates \
with steps and {patches.added_at_top} of {patches.added} with patches stand there. The others try \
a higher one there, and took it {steps.beyond} and {patches.beyond} times."""


_ADDITIONS = f"""\
## Later additions

2026-11-22: tier 3, with its ten varied sets, was added two and a half hours after the second part \
was frozen. All trainings of PenDigits, and those of SmoothSubspace in patches, were stored by \
then; of the ten varied sets, all trials and four trainings of MelbournePedestrian in patches. \
Later on that day the extension of tier 3 was added, then the control of the encodings made from \
the signal. (This entry was written on 2026-11-25.)

2026-11-24: with the other norm and in the larger model tier 3 trains \
{_names(protocols.COMPARED["large"])} in place of all eleven. What is asked there is whether a \
gain goes with the norm or with the size, not for another ranking, and eleven were beyond the \
processors at hand. No model of either kind had been trained by then.

2026-11-25, before a training with another norm, of another size or of one of the encodings below \
was read (ten with another norm, on MelbournePedestrian, had been trained), but for \
`window_statistics` and its control on five other sets, which are kept:

- With the other norm `tupe` is trained besides, one of those that the survey calls advanced, \
since its sentence on norms (S50) is about these.
- The extension of tier 3 is trained on the ten varied sets in place of all, which were beyond the \
processors at hand.
- *With the other norm, and in the larger model,* two questions are asked, of steps and patches \
apart, over the units that both models learn. Does an encoding help there? That is judged as \
above, by Holm over the encodings trained there. Does the gain change? On each set the mean gain \
of {_names(protocols.COMPARED["large"][1:])} in the plain model is taken from that in the other \
one. It is *larger* or *smaller* there if Wilcoxon's signed ranks show it, by Holm over the four \
questions (norm and size, steps and patches), those that are not yet whole counted with p = 1. It \
makes *no difference* if two one-sided t tests, corrected likewise, show it to lie within \
±{100 * ANALYSIS["margin"]:g} point. Otherwise it is *open*. S50 is read as: `tupe` gains more \
over `sinusoidal` with batch norm than with layer norm, in both models.
- *The five other encodings, and those of the extension,* are each a family of its own: the gain \
over `none` is judged as above, and so is the difference from the mean of the ten encodings of \
tier 1 in the same resample. Holm counts the family.

2026-11-25, later on that day, for the same reason: the larger model with steps goes to tier 4, \
the trainings that were not run, and the five other encodings are trained with steps on the ten \
varied sets in place of the nineteen. No training of either kind had been made. (The question \
whether a gain changes in the larger model with steps still counts among the four.)

2026-11-25: the extension stands on nine of the ten varied sets. MelbournePedestrian has missing \
steps, and the two encodings made from the signal refuse a mask, as their vectors are made from \
the tokens around. The eight others had been trained there with patches; these trainings are kept, \
and no table reads them.

2026-11-25: data sets that a later tier plans enter an edition together, when the tier, or the \
kind of training in it, is whole. Those of the first tier came in one by one, and a part of an \
answer had been looked at four times.

2026-11-25: two more kinds of training go to tier 4, those that were not run, for the same reason \
as the larger model with steps. One is the extension with steps, its control included: none of it \
had been trained but `window_statistics` and its control on two other sets, PenDigits and \
SmoothSubspace, which are kept. The other is the five other encodings with patches on the sets \
above 100 steps: none had been trained there, and what had been trained of them on the sets of up \
to 100 steps had not been read.

2026-11-26, before a training with steps on a set above 100 steps was read: tier 2 held the sets \
of 101 to 180 steps, and those above were in tier 4. A GPU was to be had for fifteen minutes. It \
trained Adiac, the last set of tier 2, and then the sets of tier 4 with steps in the order of \
their lengths. Five were whole when the time was over, those of 181 to 275 steps, and they join \
tier 2. CricketX, UWaveGestureLibrary, OSULeaf and Earthquakes were trained in part; these \
trainings are kept, and no table reads them.

An encoding that comes later is trained by the same first part and compared with `none` and with \
the encodings above, in a family of its own; it changes neither hash and none of the tables above. \
Those that joined the library are the extension of tier 3, with patches, and of tier 4, with \
steps: `--tier 3` trains them after all else, and `--tier 3 --encodings kerple` one alone. Your \
own is trained by

```console
$ posenc bench protocol --encoding mine:Nearby --datasets RacketSports --out mine
```"""


def _training() -> str:
    settings, trials = TRAINING["settings"], TRAINING["tuning"]
    rates = ", ".join(f"{rate:g}" for rate in trials["rates"])
    return f"""\
## Training: `{protocols.HASH}`

**Data sets.** {len(TRAINING["datasets"])}, in the order of their lengths; the ten varied ones \
were named before second-edition results on them were read, when those of the first edition, \
which had six of them, were known:

{_groups()}

At most {settings["max_cases"]:,} series of each part, classes in their proportions; only \
EMGGestures, LSST, MelbournePedestrian and PenDigits have more. Channels are standardised by the \
training part.

**Encodings.** {_names(TRAINING["encodings"])}.

**Models.** Steps as tokens (`time_series`) and patches of {settings["patch"]} steps (`patch`): \
{settings["n_layers"]} layers, width {settings["d_model"]}, {settings["n_heads"]} heads, \
feed-forward {settings["d_ff"]}, dropout {settings["dropout"]:g}, the norm of each model's own \
algorithm.

**Resamples.** {TRAINING["resamples"]}: the official split and {TRAINING["resamples"] - 1} others \
of the official sizes and class counts; where series come in groups, whole groups change sides. A \
set whose official split must not be touched keeps it, and gets as many seeds. Resample and seed \
go together and are the same for all encodings. Of each training part {settings["validation"]:.0%} \
is held out for validation.

**Course.** AdamW, weight decay {settings["weight_decay"]:g}, {settings["batch_size"]} series a \
step, a linear rise over the first {round(settings["warmup"] * settings["steps"])} steps and then \
a constant rate. The validation part is looked at every {settings["check_every"]} steps. Training \
ends when for {settings["patience_steps"]} steps neither the validation accuracy has risen nor the \
validation loss has fallen by one per cent (an accuracy of 1 cannot rise), after at least \
{settings["least_steps"]} and at most {settings["steps"]:,} steps. The weights with the best \
validation accuracy are kept, of equal ones those with the lowest loss. The test part \
chooses nothing; a training is scored on it once, at the end.

**Tuning.** {trials["trials"]} trials of {trials["steps"]} steps for each encoding, model and set, \
on the official split, chosen by validation: learning rates {rates}, then one more. An encoding \
that is added to the tokens tries the other size of its rows at the best rate (norm 1 or \
sqrt(d_model / 2)); every other one tries one more rate, beyond the best at the edge, between the \
best two otherwise. (Trials are scored on the official test part as well, and nothing reads that. \
Their validation series can stand in the test parts of other resamples.)

**Precision.** Float32 on every device. With steps, the sets of tier 2 from Adiac on were trained \
on a GPU (trials of Adiac excepted), all others on processors; on one set all encodings are \
trained on the same kind. `agreement.json` says how far five steps on the two kinds are apart. \
24 trainings of Adiac had been made on a processor when the GPU was to be had, and were made anew \
on it, with other dropout masks (`agreement-Adiac.jsonl`): the GPU's accuracies are 0.3 points \
lower on average, with a 95 % interval of -3.7 to +3.2; a pair differs by 8.1 points (a standard \
deviation), which is the luck of a training there.

**Tiers**, each complete in itself. Tier 1 is the comparison; an extension has encodings that came \
to the library after the protocol was frozen, or the control of those made from the signal; tier 4 \
is planned and has not been run, but for a part of its first row that no table reads.

{_tiers()}"""


def _tiers() -> str:
    """Return the tiers as a table, a row for each kind of training."""
    heads = ("tier", "a token is", "model", "encodings", "data sets", "training runs")
    lines = ["| " + " | ".join(heads) + " |", "|---|---|---|---|---|--:|"]
    for number, blocks in protocols.TIERS.items():
        kinds: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
        for block in blocks:
            kind = block.model, block.variant, block.encodings
            kinds.setdefault(kind, []).append(block.dataset)
        lines += [_row(number, *kind, sets) for kind, sets in kinds.items()]
    return "\n".join(lines)


def _row(number: int, model: str, variant: str, names: tuple[str, ...], sets: list[str]) -> str:
    late = names == protocols.LATER or variant in protocols.CONTROLS
    cells = (
        f"{number}, extension" if late else str(number),
        _TOKENS[model],
        _said(protocols.Block(model, "", variant=variant).changes),
        "the eleven" if names == protocols.ENCODINGS else _names(names),
        _SETS.get(tuple(sets)) or ", ".join(sets),
        f"{len(names) * len(sets) * TRAINING['resamples']:,}",
    )
    return "| " + " | ".join(cells) + " |"


def _said(changes: Mapping[str, Any]) -> str:
    """Return what makes a model another one than the plain one, in words."""
    if not changes:
        return "plain"
    if "norm" in changes:
        return f"{changes['norm']} norm"
    if "input_statistics" in changes:
        return "statistics of a window as channels of the input"
    return (
        f"width {changes['d_model']}, {changes['n_layers']} layers, {changes['n_heads']} heads, "
        f"feed-forward {changes['d_ff']}"
    )


_TOKENS = {"time_series": "a step", "patch": "a patch"}
_SETS = {
    protocols.DATASETS: "all data sets",
    protocols.UP_TO_100: "the sets of up to 100 steps",
    protocols.UP_TO_275: "the sets of 101 to 275 steps",
    protocols.ABOVE_275: "the sets above 275 steps",
    protocols.ABOVE_100: "the sets above 100 steps",
    protocols.VARIED: "the ten varied sets",
    protocols.WITHOUT_GAPS: "the nine varied sets without missing steps",
}


def _groups() -> str:
    """Return which sets the tiers' groups hold."""
    left_out = (protocols.DATASETS, protocols.ABOVE_100, protocols.WITHOUT_GAPS)
    groups = {sets: name for sets, name in _SETS.items() if sets not in left_out}
    return "\n".join(f"- {name}: {', '.join(sets)}" for sets, name in groups.items())


def _analysis() -> str:
    margin, alpha = 100 * ANALYSIS["margin"], ANALYSIS["alpha"]
    families = "; ".join(" and ".join(sets) for sets in ANALYSIS["families"].values())
    return f"""\
## Analysis: `{HASH}`

**Unit and outcome.** The data set; its value is the mean test accuracy over its resamples. Sets \
that share series are one unit, with the mean over its sets: {families}. The two models are \
judged apart. A set enters a table when all encodings have all its resamples.

**Which sets count.** A set is *learned* by a model if (1) its trainings are above the largest \
class by more than luck. It *decides rankings* if, besides, (2) at least one encoding is above \
`none` by more than luck. Luck: under the hypothesis of no difference the sign of all differences \
of one resample may be flipped; all {2 ** TRAINING["resamples"]} flips are counted, and the share \
that reaches the observed mean (of all encodings in 1, of the best encoding in 2) must be at most \
{ANALYSIS["decides"]["level"]:g}. Condition (2) chooses sets by the gains that are to be judged, \
so it serves for rankings among encodings only; and every table is given for all sets as well.

**Does an encoding help?** Its gain over `none`: Wilcoxon's signed ranks over the learned units, \
corrected by Holm over the encodings, level {alpha:g}. It *helps* or *hurts* if that is shown. It \
makes *no difference* if two one-sided t tests, corrected likewise, show the mean gain to lie \
within ±{margin:g} point of accuracy. Otherwise the question is *open*. Beside it stand the mean \
gain with its 95 % interval, the probabilities of worse, equal and better by Bayesian signed ranks \
with the same margin, and the power for {margin:g} and {2 * margin:g} points.

**Does it matter which?** Over the deciding units, Friedman's test of the encodings without \
`none`, counted or permuted, with the smallest p-value that such data can reach; pairs by Wilcoxon \
with Holm over all pairs.

**Beside the primary tables**: all sets; the survey's sets; balanced accuracy; one mixed model for \
length, channels, training size, norm and tokens."""


def _main(_: Sequence[str]) -> int:
    """Write the page into the folder of results."""
    path = results.folder() / "protocol.md"
    path.write_text(text(), encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(behind(_main))
