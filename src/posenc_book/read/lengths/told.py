"""The protocol of the length-generalisation lab, as people read it."""

from collections.abc import Iterable

from posenc_book.read.lengths import tasks as length_tasks
from posenc_book.read.lengths import train as lab


def text() -> str:
    """Return the protocol as a section in Markdown."""
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
$ posenc bench lab --tier 1
```
"""


def _tier(number: int) -> str:
    tier = lab.TIERS[number]
    tasks = ", ".join(f"`{name}`" for name in tier.tasks)
    n = len(lab.tier_cells(number))
    return f"{tasks}; {len(tier.encodings)} encodings, {tier.seeds} seeds: {n} trainings."


def _names(encodings: Iterable[lab.Encoding]) -> str:
    return ", ".join(f"`{one.name}`" + " at random places" * one.random for one in encodings)
