"""The protocol of what people would try first, as people read it."""

from posenc_book.read.lengths import repairs
from posenc_book.read.lengths import tasks as length_tasks

_READINGS = {
    repairs.CUT: "each answer from the last tokens only, as many as the longest training input has",
    "linear": "all frequencies divided by the factor by which the longest test is longer",
    "ntk": "the base raised for the same factor",
    "yarn": "YaRN for the same factor",
    repairs.DROPPED: "its rotary encoding taken away",
    repairs.AS_TRAINED + repairs.FURTHER: "after the further training",
    repairs.DROPPED + repairs.FURTHER: "its rotary encoding taken away, after the further training "
    '("DroPE", Gelberg et al. 2025)',
}


def text() -> str:
    """Return the protocol as a section in Markdown."""
    protocol = repairs.PROTOCOL
    settings, further = protocol["settings"], protocol["further"]
    tested = ", ".join(map(str, protocol["tested"]))
    task = length_tasks.task("recall")
    example = length_tasks.draw("recall", n=1, length=7, seed=9).words(0)
    readings = "\n".join(f"- `{name}`: {said}." for name, said in _READINGS.items())
    return f"""\
## What people would try first: `{repairs.HASH}`

A second protocol of the lab, of 27 November 2026. The first one is as it was, with its hash and \
its records. It was frozen before a training of it was run. Steps come from a pilot of a few \
trainings with seed 1000, which is none of the protocol's: few, but enough for `rotary` to learn \
`recall` at length {protocol["trained"]}. The pilot printed longer lengths, too, and `recall` was \
changed after it: in its first form, without the correction, RoPE had nearly all answers right at \
any length.

**Question.** Of what people would try first, what helps a model that must read further than in \
training? And does it help where the far context is needed, or only where it misleads?

**Tasks.** `flip_flop` of the lab, where the answer stands near in most cases, and `recall`, where \
it stands far away.

- `recall`: {task.source} As in `{example}`.

**Models.** Those of the lab, of the same sizes: `rotary`; `rotary, half of each head`, of which \
half of the dimensions turn, with the frequencies of a head of half the size; `rotary, then none`, \
whose second layer has no position; `none`.

**Readings.** Each model with rotary encoding in both layers and all dimensions is read as it was \
trained, and in these ways:

{readings}

**Course.** That of the lab, in {settings["steps"]:,} steps. The further training takes \
{further["steps"]} steps more, at the trained lengths, with a rise and a cosine from \
{further["learning_rate"]:g}.

**Lengths and seeds.** Learned up to {protocol["trained"]}, tested at {tested}, \
{protocol["n_test"]} sequences each; {protocol["seeds"]} seeds. Pages read the seeds of which \
every training is finished.

```console
$ posenc bench lab --repairs
```
"""
