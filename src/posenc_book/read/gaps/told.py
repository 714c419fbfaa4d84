"""The protocol of series with gaps, as people read it."""

from posenc_book.read.gaps import protocol as gaps


def text() -> str:
    """Return the protocol as a section in Markdown."""
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
$ posenc bench gaps
```
"""


def _pair(group: str) -> str:
    return " and ".join(f"`{name}`" for name in gaps.GROUPS[group])
