"""The protocols of the smaller trainings as a page for people, `results/small-protocols.md`.

    python -m posenc.study.small_protocols

They are those of the lab, the model of characters, the range probe, and series with gaps.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from posenc.bench import gaps, lab, probes
from posenc.bench import text as characters
from posenc.data import length_tasks
from posenc.study import results

PAGE = "small-protocols.md"


def text() -> str:
    """Return the protocols for people, in Markdown.

    Returns
    -------
    str
        The page `results/small-protocols.md`, a test compares.

    Examples
    --------
    >>> print(text().splitlines()[0])
    # The protocols of the smaller trainings
    """
    return "\n".join([_HEAD, _lab(), _characters(), _probe(), _gaps()])


_HEAD = """\
# The protocols of the smaller trainings

Four experiments: on inputs longer than in training, on distances, and on gaps. Each has a hash \
that stands in its records as `protocol`. This page is made from the code by \
`python -m posenc.study.small_protocols`, and a test compares.
"""


def _lab() -> str:
    protocol = lab.PROTOCOL
    settings = protocol["settings"]
    tasks = "\n".join(
        f"- `{name}`: {length_tasks.task(name).source} As in "
        f"`{length_tasks.draw(name, n=1, length=5, seed=9).words(0)}`."
        for name in protocol["tasks"]
    )
    tiers = "\n".join(f"- **Tier {number}**: {_tier(number)}" for number in lab.TIERS)
    tested = ", ".join(map(str, protocol["tested"]))
    warm = round(settings["warmup"] * settings["steps"])
    return f"""\
## The length-generalisation lab: `{lab.HASH}`

It was frozen before a training of the protocol was run. Sizes, steps and the learning rate come \
from a pilot of a few trainings with seed 1000, which is none of the protocol's: they were chosen \
so that `rotary` copies 20 letters and a training with its tests takes about two minutes of one \
core. The pilot printed longer lengths, too; nothing was chosen by them.

**Question.** What a model has learned from sequences of up to {protocol["trained"]} symbols, does \
it still do with more?

**Tasks.** A sequence is read from left to right, and its last part is to be predicted, each token \
from those before it. Examples have length 5.

{tasks}

**Lengths.** A training batch has one length, drawn evenly from 1 (or the task's least) to \
{protocol["trained"]}, as in Ruoss et al. (2023). Tests have {protocol["n_test"]} sequences of \
each of the lengths {tested}, the same for every model.

**Model.** `posenc.models.LanguageModel`: {settings["n_layers"]} layers, width \
{settings["d_model"]}, {settings["n_heads"]} heads, feed-forward {settings["d_ff"]}, no dropout.

**Encodings.** First {_names(lab.FIRST)}; then {_names(lab.MORE)}. Options are the library's \
own, but FIRE's threshold starts at {dict(lab.FIRST[6].options)["threshold"]:g} places, a \
quarter of the longest training input; the 512 of its authors would lie beyond every test. \
Where it says *random places*, tokens stand in training and in tests at sorted places drawn from \
0 to {protocol["random_positions"] - 1}, one draw a batch (Ruoss et al. 2023). Tables are made \
large enough for the longest test, so that `learnable` does not refuse: its later rows are \
untrained.

**Course.** AdamW, weight decay {settings["weight_decay"]:g}, {settings["batch_size"]} sequences a \
step, {settings["steps"]:,} steps, a linear rise over the first {warm} and a cosine to 0 from \
{settings["learning_rate"]:g}, the same for every encoding. Nothing is chosen by a validation \
part: the last weights count. No encoding is tuned, so one that wants another rate is at a \
disadvantage.

**Limit.** {settings["most_seconds"]:g} seconds of the processor's time for a training with its \
tests. What is not done by then is stored as *unfinished*, named in every table, and left out of \
means.

**Scores.** *Exact*: {protocol["scores"]["exact"]}. *Token*: {protocol["scores"]["token"]}. \
Encodings are ordered {protocol["order"]}. An order is compared with a published one only on \
tasks that some encoding has *learned*: mean token accuracy of at least {protocol["learned"]:g} at \
length {protocol["trained"]}. What the small model has not learned says nothing on longer inputs.

**Tiers**, each complete in itself:

{tiers}

The last two were one tier until 24 November 2026: dividing it changed no training, only when the \
first five seeds of all encodings are read.

```console
$ python -m posenc.bench lab --tier 1
```
"""


def _probe() -> str:
    protocol = probes.PROTOCOL
    settings, task = protocol["settings"], protocol["task"]
    distances = ", ".join(map(str, protocol["distances"]))
    tested = " and ".join(map(str, protocol["tested"][1:]))
    warm = round(settings["warmup"] * settings["steps"])
    return f"""\
## The range probe: `{probes.HASH}`

The batch size and the fewest steps come from a pilot of a few trainings with seed 1000, chosen by \
validation so that small DFT rows find the task at distance 1; test parts were printed, too, and \
nothing was chosen by them.

**Question.** At which distances does a model find the relation of two positions, with rows of \
which size, and what does it do on longer series and at later places?

**Task.** The synthetic `range_probe`: two pulses, {distances} steps apart on a ring of \
{task["length"]}, and the class says which came first; {task["n"]:,} series for training and \
validation, noise {task["noise"]:g}.

**Encodings.** At every distance {_variants(probes.SIZED)}, where *unit* means rows of norm 1 and \
*loud* of norm sqrt(d_model / 2); at distance {protocol["others_at"]} besides \
{_variants(probes.OTHERS)}.

**Model and course.** `posenc.models.TimeSeriesTransformer`: {settings["n_layers"]} layers, width \
{settings["d_model"]}, {settings["n_heads"]} heads, feed-forward {settings["d_ff"]}, no dropout; \
AdamW, weight decay {settings["weight_decay"]:g}, {settings["batch_size"]} series a step, a linear \
rise over the first {warm} steps and then the constant rate {settings["learning_rate"]:g}, the \
same for every encoding: none is tuned. Of each training part {settings["validation"]:.0%} is held \
out and looked at every {settings["check_every"]} steps. Training ends when for \
{settings["patience_steps"]} steps neither the validation accuracy has risen nor the loss has \
fallen by one per cent; not before {settings["least_steps"]:,} steps unless all of the validation \
part is right, as a long plateau comes before the task is found; and at {settings["steps"]:,} at \
the latest. The weights with the best validation count.

**Seeds.** {protocol["seeds"]}, each with series and a split of its own, the same for every \
encoding, and with a draw of the initial weights: they are equal where encodings draw as many \
numbers.

**Scores.** A training *found* the task if its validation accuracy is at least \
{protocol["found"]:g}. Accuracy on the test part; and for {tested} steps on {protocol["n_test"]:,} \
series each, which are *longer*, or as long as in training and at the end of a longer frame whose \
other steps are masked, *later*. An encoding that cannot be built there refuses, and says why.

```console
$ python -m posenc.bench probes
```
"""


def _variants(variants: Sequence[probes.Variant]) -> str:
    return ", ".join(f"`{one.label.removeprefix('posenc.audit.')}`" for one in variants)


def _characters() -> str:
    protocol, longrope = characters.PROTOCOL, characters.LATER["longrope"]
    search, limit = longrope["search"], longrope["settings"]["most_seconds"]
    settings, tuning = protocol["settings"], protocol["tuning"]
    contexts = ", ".join(map(str, protocol["contexts"]))
    longest = max(protocol["contexts"])
    return f"""\
## The model of characters: `{characters.HASH}`

**Question.** A model has read {protocol["trained"]} characters at a time. Does it predict better, \
or worse, when it is handed {longest}?

**Text.** The help topics of `pydoc`, which every Python carries (`posenc.data.topics`), cut into \
characters; every fifth topic is the test part. The text belongs to the version of Python, which \
stands in each record beside a fingerprint of the text. Records of another text are not mixed in.

**Model and course.** `posenc.models.LanguageModel`: {settings["n_layers"]} layers, width \
{settings["d_model"]}, {settings["n_heads"]} heads, feed-forward {settings["d_ff"]}; AdamW, weight \
decay {settings["weight_decay"]:g}, {settings["batch_size"]} sequences of {protocol["trained"]} \
characters a step, {settings["steps"]:,} steps, a linear rise over the first \
{round(settings["warmup"] * settings["steps"])} and a cosine to 0 from \
{settings["learning_rate"]:g}; {protocol["seeds"]} seeds. Encodings: \
{", ".join(f"`{name}`" for name in protocol["encodings"])}.

**Reading.** At {protocol["n_windows"]} places of the test part the same {protocol["asked"]} \
characters are predicted from inputs of {contexts} characters that end with them, and their mean \
cross-entropy in nats is noted: only the context differs. Rotary encoding is read as trained, and \
with {", ".join(f"`{name}`" for name in protocol["schedules"])} in place of its frequencies, for a \
factor of {longest / protocol["trained"]:g}.

**Fine-tuning.** Each of these, and the two other encodings, is then trained on for \
{tuning["steps"]} steps with {tuning["batch_size"]} sequences of {longest} characters at a \
constant rate of {tuning["learning_rate"]:g}, and read again.

**Limit.** {settings["most_seconds"]:g} seconds of the processor's time for a training with all \
its readings; beyond it, the cell is *unfinished*.

**Later schedules.** For each the models with rotary encoding are trained once more, in the same \
way and from the same seeds; what was read before stays.

- `llama3`, `{characters.LATER_HASHES["llama3"]}`. 2026-11-25, before it was read: with its \
authors' limits of one and four turns.
- `longrope`, `{characters.LATER_HASHES["longrope"]}`. 2026-11-25, before it was read: its \
divisors are searched for each model on the training text, to lose least at {longest} characters, \
at {protocol["n_windows"]} places that are evenly spread. The search is that of its authors: \
{search["population"]} lists that never fall, begun with those of `linear`, `ntk` and `yarn`, \
then {search["rounds"]} rounds of {search["mutations"]} changes and {search["crossings"]} \
crossings of the best {search["parents"]}; divisors from 1 to {search["highest"]:g} times the \
factor, in steps of {search["step"]:g}. Limit: {limit:,.0f} seconds.

```console
$ python -m posenc.bench text
```
"""


def _gaps() -> str:
    protocol = gaps.PROTOCOL
    settings = protocol["settings"]
    most = f"{settings['max_cases']:,}"
    return f"""\
## Gaps: `{gaps.HASH}`

It was frozen before a training of the protocol was run; a few of thirty steps showed what a step \
costs. Short trainings of the first edition on three of the sets were known.

**Question.** Steps of a series are lost. What is it worth to a model to know when the others were?

**Data.** The sets of the benchmark with 15 to 51 steps, where half of them is still a series, and \
at most {most} series for training: {", ".join(protocol["datasets"])}. Of larger test parts {most} \
series are taken. Of the steps of each series {protocol["lost"]:.0%} are lost, at random and one \
by one: the result says nothing on long gaps. With the clock *times* those that are left keep \
their places, and a mask covers the gaps; with *indices* they are moved together and counted. \
Steps that the recording itself misses are treated alike. The values are the same.

**Encodings.** Two that know the place of a step, {_pair("place")}, and two that know the offset \
of two steps, {_pair("offset")}; the first of each pair is a formula in time, the second a table \
that is learned, with a row for each place or offset, half as many with indices. \
`{gaps.CONTROL}` cannot tell the clocks apart: it should come out near 0, and is shown and not \
subtracted.

**Model and course.** That of the benchmark with a token a step, \
`posenc.models.TimeSeriesTransformer`, and its settings, but none is tuned: all have the rate \
{settings["learning_rate"]:g}, and rows of the size of the paper. Of each training part \
{settings["validation"]:.0%} is held out and looked at every {settings["check_every"]} steps; \
training ends when for {settings["patience_steps"]} steps neither the validation accuracy has \
risen nor the loss has fallen by one per cent, not before {settings["least_steps"]} steps and at \
{settings["steps"]:,} at the latest. The weights with the best validation count.

**Seeds.** {protocol["seeds"]}: which steps are lost, the resample of the set (but of \
RoomOccupancy, which has its official split only) and its validation part come from the seed, the \
same for every encoding and both clocks. The initial weights are drawn with it, and are equal \
where encodings draw as many numbers. Steps are lost behind the resample, so that equal \
series stay in one part.

**Analysis**, frozen with the rest. What true times are worth to a group is {protocol["outcome"]}: \
one number a set. {" and ".join(gaps.SHARED)} share series and are one unit, with the mean of \
both. The test: {protocol["test"]}. On some sets position is worth little with all steps there; \
they stay in the test and weaken it. What it does not show is open, not absent. The difference of \
the groups, and which encoding has the higher accuracy with times, are shown and not tested.

```console
$ python -m posenc.bench gaps
```
"""


def _pair(group: str) -> str:
    return " and ".join(f"`{name}`" for name in gaps.GROUPS[group])


def _tier(number: int) -> str:
    tier = lab.TIERS[number]
    tasks = ", ".join(f"`{name}`" for name in tier.tasks)
    n = len(lab.tier_cells(number))
    return f"{tasks}; {len(tier.encodings)} encodings, {tier.seeds} seeds: {n} trainings."


def _names(encodings: Iterable[lab.Encoding]) -> str:
    return ", ".join(f"`{one.name}`" + " at random places" * one.random for one in encodings)


def _main() -> int:
    """Write the page, and say where."""
    path = Path(results.folder()) / PAGE
    path.write_text(text(), encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
