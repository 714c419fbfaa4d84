"""The protocol of the range probe, as people read it."""

from collections.abc import Sequence

from posenc_book.read.range_probe import protocol as probes


def text() -> str:
    """Return the protocol as a section in Markdown."""
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
$ posenc bench probes
```
"""


def _variants(variants: Sequence[probes.Variant]) -> str:
    return ", ".join(f"`{one.label.removeprefix('posenc_book.audit.')}`" for one in variants)
