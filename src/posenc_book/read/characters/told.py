"""The protocol of the model of characters, as people read it."""

from posenc_book.read.characters import train as characters


def text() -> str:
    """Return the protocol as a section in Markdown."""
    protocol, longrope = characters.PROTOCOL, characters.LATER["longrope"]
    search, limit = longrope["search"], longrope["settings"]["most_seconds"]
    settings, tuning = protocol["settings"], protocol["tuning"]
    contexts = ", ".join(map(str, protocol["contexts"]))
    longest = max(protocol["contexts"])
    return f"""\
## The model of characters: `{characters.HASH}`

**Question.** A model has read {protocol["trained"]} characters at a time. Does it predict better, \
or worse, when it is handed {longest}?

**Text.** The help topics of `pydoc`, which every Python carries \
(`posenc_book.read.characters.topics`), cut into characters; every fifth topic is the test part. \
The text belongs to the version of Python, which stands in each record beside a fingerprint of the \
text. Records of another text are not mixed in.

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
$ posenc bench text
```
"""
