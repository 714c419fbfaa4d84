"""What a model does with positions, in plain words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posenc.register import reading, scaling

if TYPE_CHECKING:
    from posenc.register import Description
    from posenc.register.rules import Layer

PAIRS = {
    "half": "dimension i with dimension i + n/2 (half-split, as in GPT-NeoX and Llama)",
    "interleaved": "dimensions 2i and 2i + 1 (interleaved, as in the RoFormer paper)",
}
SIGHT = {
    "full": "a query sees everything before it",
    "window": "a query sees the last {window:,} tokens, itself included",
    "chunk": "a query sees its own chunk of {window:,} tokens",
    "square": "a patch sees its own square of {window} x {window} patches",
    "none": "no attention in this layer",
}
BOTH_SIDES = {
    "full": "a query sees every token",
    "window": "a query sees itself, {side:,} tokens before it and {side:,} behind it",
}
BUCKETS = {
    "t5": "A learned bias for each of {n} buckets of distances, from {max:,} tokens on the last",
    "grid": "A learned bias for each of {n:,} distances down and right in the square",
    "log": "{n:,} rows for wider and wider groups of distances, from {max:,} tokens on the last",
    "each": "{n:,} rows, one for each distance, from {max:,} tokens on the last",
}
TERMS = {"c2p": "queries", "p2c": "keys"}
GROWS = ("dynamic", "longrope")
ASSUMES = ("yarn", "llama3", "longrope")  # from how many tokens they start
MIXERS = {
    ("recurrent", True): "{n} recurrent layer{s}, which read{v} token after token",
    ("convolution", True): "{n} convolution{s} over neighbouring tokens",
    ("recurrent", False): "{n} recurrence{s} beside attention",
}
BESIDE = {
    "parallel": "; beside attention a {mixer} reads the same input",
    "behind": "; a {mixer} follows, which reads what attention gives, too",
}
MIXED = {"recurrent": "recurrent layer", "convolution": "convolution"}
NUMBERS = {2: "two", 3: "three"}
NOTHING = "a mask that hides what comes later, and nothing else"


def explain(description: "Description", length: int | None) -> str:
    """Return several lines: the layers, the pairs at the length asked about, and what to check."""
    asked = length or description.made_for
    n_layers = len(description.layers)
    lines = [_head(description, n_layers)]
    for numbers, layer in _groups(description.layers):
        lines.append(f"\n{which(numbers, n_layers)}: {_sight(layer)}.")
        lines += [f"  {line}" for line in _layer(description, numbers[0], layer, asked)]
    ends = [*_order(description), *_endless(description, length), *_checks(description, asked)]
    towers = [f"\n\n{name}\n{explain(tower, None)}" for name, tower in description.towers]
    return printable("\n".join([*lines, "", *ends])) + "".join(towers)


def printable(text: str) -> str:
    """Return a text in which what would steer a terminal is spelled out."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def _head(description: "Description", n_layers: int) -> str:
    made, allowed = description.made_for, description.length
    return (
        f"{description.family}: {n_layers} layer{'s' if n_layers > 1 else ''}"
        + (f", made for {made:,} tokens" if made else "")
        + (f"; {allowed:,} is what its code allows" if allowed and allowed != made else "")
        + (" (default of the class, no released number)" if _by_default(description) else "")
    )


def _trained(description: "Description") -> Iterator[str]:
    """Yield what is known of the length of training, where a longer input is only calculated."""
    if description.trained:
        yield f"Trained on {description.trained:,} tokens: {description.trained_source}."
    elif description.length and any(layer.door == "rotate" for layer in description.layers):
        yield "Length of training: not known; the configuration says what the code allows."


def _order(description: "Description") -> Iterator[str]:
    """Yield where the order of tokens comes from, in models whose layers differ in that."""
    layers = description.layers
    sources = [
        words.format(n=n, s="" if n == 1 else "s", v="s" if n == 1 else "")
        for mixer, words in MIXERS.items()
        if (n := sum((layer.mixer, layer.kind == "none") == mixer for layer in layers))
    ]
    turning = sum(layer.door == "rotate" for layer in layers)
    masked = sum(layer.causal for layer in layers if layer.kind != "none")
    if turning:
        under = " under a causal mask" if masked == turning else ""
        sources.append(f"{_attending(turning)} that turn{'s' if turning == 1 else ''}{under}")
    if masked and masked != turning:
        sources.append(f"the causal mask of {_attending(masked)}")
    still = [layer for layer in layers if layer.kind != "none" and layer.door == "none"]
    if any(layer.mixer for layer in layers) or (still and turning):
        yield f"Order comes from {', and from '.join(sources)}."
    elif still and not any(layer.table for layer in layers) and not description.outside:
        yield f"Order comes from {NOTHING if still[0].causal else 'nowhere'}."
    besides = ", too" if any(layer.door != "none" for layer in layers) else ""
    for one in description.outside:
        yield f"{one['what']} over {one['over']} tokens {one['where']} tells their order{besides}."


def _attending(n: int) -> str:
    return f"{n} layer{'' if n == 1 else 's'} of attention"


def _by_default(description: "Description") -> bool:
    """Return whether nothing but the class says how long inputs may be."""
    return description.length_source == "default"


def _sight(layer: "Layer") -> str:
    """Return what a query sees."""
    if layer.mixer and layer.kind == "none":
        return f"no attention, but a {MIXED[layer.mixer]}"
    place = f"in the {layer.stack}, " if layer.stack else ""
    if layer.sections and (layer.alike or "time" not in layer.sections):
        what = "clip" if "time" in layer.sections else "picture"
        return f"{place}a query sees every patch of its {what}"
    if layer.kind in BOTH_SIDES and not layer.causal:
        return place + BOTH_SIDES[layer.kind].format(side=(layer.window or 1) - 1)
    moved = f", moved by {layer.shift} down and right" if layer.shift else ""
    packed = f", and one key for each {layer.compressed} tokens before" if layer.compressed else ""
    sight = place + SIGHT[layer.kind].format(window=layer.window) + moved + packed + _choice(layer)
    if layer.mixer is None or layer.mixer_place is None:
        return sight
    return sight + BESIDE[layer.mixer_place].format(mixer=MIXED[layer.mixer])


def _choice(layer: "Layer") -> str:
    """Return how many of the keys an indexer chooses."""
    if (rule := layer.chosen) is None:
        return ""
    pools = f", in pools of {rule['pool']}" if rule["pool"] > 1 else ""
    tail = f", besides up to {rule['pool'] - 1} behind the last whole pool" if rule["tail"] else ""
    what = "" if layer.compressed else " tokens"
    return f", of which an indexer chooses at most {rule['most']:,}{what}{pools}{tail}"


def _groups(layers: "Sequence[Layer]") -> "list[tuple[list[int], Layer]]":
    """Return layers that do the same, with their numbers."""
    groups: dict[str, tuple[list[int], Layer]] = {}
    bare = {
        id(layer): repr(replace(layer, sources={})) for layer in {id(x): x for x in layers}.values()
    }
    for number, layer in enumerate(layers):
        groups.setdefault(bare[id(layer)], ([], layer))[0].append(number)
    return list(groups.values())


def which(numbers: list[int], n_layers: int) -> str:
    if len(numbers) == n_layers:
        return "Every layer"
    steps = set(np.diff(numbers).tolist())
    if len(numbers) > 3 and len(steps) == 1:
        return f"{len(numbers)} layers ({numbers[0]}, {numbers[1]} ... {numbers[-1]})"
    listed = ", ".join(map(str, numbers[:12])) + (" ..." if len(numbers) > 12 else "")
    return f"{len(numbers)} layer{'s' if len(numbers) > 1 else ''} ({listed})"


def _layer(
    description: "Description", number: int, layer: "Layer", asked: int | None
) -> Iterator[str]:
    if layer.kind == "none":
        return
    if layer.door == "none":
        yield "No positions enter here."
    if layer.door == "rotate":
        yield from _rotation(description, number, layer, asked)
    if layer.chosen and layer.chosen["coded"]:
        yield "It scores a pool by a mean of its tokens, whose places a learned code tells."
    if layer.table:
        yield from _table(layer.table, asked)
    if layer.slopes:
        yield from _slopes(layer.slopes)
    if layer.relative:
        yield from _relative(layer.relative)
    if layer.buckets:
        yield from _buckets(layer.buckets)
    if layer.profiles:
        yield from _profiles(layer.profiles)
    if layer.convolved:
        yield f"Keys and values pass a convolution of {layer.convolved} tokens, which tells order."
    if layer.query_scaling:
        beta, every = layer.query_scaling["beta"], layer.query_scaling["every"]
        t = "(t + 1)" if layer.query_scaling["shift"] else "t"
        smooth = layer.query_scaling.get("smooth")
        steps = f"max(1, {t} / {every:,.0f})" if smooth else f"1 + floor({t} / {every:,.0f})"
        who = "Queries and what mixes the curves" if layer.profiles else "Queries"
        yield f"{who} grow with their place t: 1 + {beta:g} ln({steps})."
        if layer.query_scaling.get("counted"):
            yield "There t counts all tokens before, padding too: position_ids do not matter."
    if layer.sinks:
        yield "The softmax has a learned sink, a place that takes weight and gives nothing."
    if layer.sinks_of_tokens:
        yield "Each token makes its own sink's logit; the library has one number a head."
    if layer.softcap:
        yield f"Scores are bounded by {layer.softcap:g}."
    yield f"Scores are multiplied by {layer.scale:.6g}."


def _table(table: Mapping[str, Any], asked: int | None) -> Iterator[str]:
    rows, first, kind = (table[name] for name in ("length", "offset", "kind"))
    if kind == "angles":
        yield f"Angles are looked up in a table of {rows:,} positions."
    elif grid := table.get("grid"):
        others = rows - grid[0] * grid[1]
        yield (
            f"A learned table of {rows:,} rows is added to the input: "
            + (f"{others} for other tokens, then " if others else "")
            + f"{grid[0]} x {grid[1]} patches, row after row. Other pictures need it interpolated."
        )
        return
    else:
        order = ", sines first, then cosines" if kind == "sinusoidal" else ""
        yield (
            f"A {kind} table of {rows:,} positions{order}, is added to the input, "
            f"from row {first} on."
        ).replace("positions, is", "positions is")
    if table.get("grows"):
        yield "Its code makes it longer where an input needs it."
    elif asked and asked > rows:
        yield f"It has no row for position {rows:,} and later ones: {asked:,} tokens fail."


def _slopes(slopes: Mapping[str, Any]) -> Iterator[str]:
    steep = sorted(slopes["values"])
    yield (
        f"ALiBi: scores fall by {steep[0]:.3g} to {steep[-1]:.3g} with each token of distance, "
        f"by one slope for each of {slopes['n_heads']} heads."
    )
    if rounding := slopes.get("rounding"):
        yield f"The code rounds slope times place to {rounding}: far places share values."
    for name, value in slopes.get("unread", {}).items():
        yield f"transformers' class does not read {name} = {value}, and takes 8; other code may."


def _relative(relative: Mapping[str, Any]) -> Iterator[str]:
    met = " and ".join(TERMS[term] for term in relative["terms"])
    what = "Sines and cosines of" if relative["kind"] == "sinusoidal" else "Learned vectors of"
    yield f"{what} distances meet {met or 'nothing'} in the scores, through the layer's weights."
    if bound := relative.get("bound"):
        yield f"Distances beyond {bound:,} tokens count as that."


def _profiles(profiles: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{profiles['n']} learned curves over the distance, up to {profiles['reach'] - 1:,} tokens "
        "back; each token mixes them for each head, and farther keys gain nothing."
    )
    if clip := profiles["clip"]:
        yield f"What they are mixed by is scaled down to a length of {clip:g} at most."
    yield "Distances count all tokens, padding too: position_ids do not matter."


def _buckets(buckets: Mapping[str, Any]) -> Iterator[str]:
    both = "" if buckets["bidirectional"] else "; tokens behind the query have no rows of their own"
    yield BUCKETS[buckets["kind"]].format(**buckets) + f"{both}."
    if buckets.get("shared"):
        yield "All layers of the stack share the table of the first."


def _rotation(
    description: "Description", number: int, layer: "Layer", asked: int | None
) -> Iterator[str]:
    where = (
        "all"
        if layer.turning == layer.head_dim
        else f"the last {layer.turning}"
        if layer.first
        else f"{layer.turning}"
    )
    source = {
        "config": "from the configuration",
        "default": "default of the class, no released number",
        "code": "by rule",
    }
    base = f"base {layer.base:,.10g} ({source[layer.sources['base']]})"
    yield f"RoPE: {where} of a head's {layer.head_dim} dimensions turn, {base}."
    yield f"Pairs in the weights: {PAIRS[layer.pairing or layer.pairing_after or 'half']}."
    if layer.pairing and layer.pairing != layer.pairing_after:
        yield f"The code reorders them before it turns: {PAIRS[layer.pairing_after or 'half']}."
    if layer.values_turn and layer.turned_back:
        yield "Values are turned, too, and what a token gets is turned back by its own place."
    elif layer.values_turn:
        yield "Values are turned, too, and not turned back: outputs depend on where a text stands."
    if layer.direction == -1:
        yield "They turn the other way round than in the paper."
    if layer.sections:
        yield _axes(layer.sections, text=not layer.alike)
    yield from _otherwise(layer)
    if layer.dealt:
        yield f"The axes take frequencies in turn: {next(iter(layer.sections or ()))} the fastest."
    if layer.alpha and layer.base:
        power = f"{layer.alpha:,.10g}^({layer.turning}/{layer.turning - 2})"
        old = layer.base / layer.alpha ** (layer.turning / (layer.turning - 2))
        yield f"By its alpha the base is {old:,.10g} x {power} = {layer.base:,.0f}, at any length."
    if layer.scaling:
        yield _schedule(layer)
    if layer.idle:
        yield f"Said, and not used by this schedule: {', '.join(layer.idle)}."
    yield from _turns(description, number, layer, asked)


def _otherwise(layer: "Layer") -> Iterator[str]:
    """Yield what else than a turn by the place is done to queries and keys."""
    if layer.alike and layer.sections:
        wide = layer.turning // len(layer.sections)
        yield f"Each axis has all frequencies, those of RoPE over {wide} dimensions."
    if layer.of_sides:
        yield (
            "A place is 2 pi times where a patch's middle stands on the picture's side, from -1 to "
            "1: in a picture of more patches neighbours turn by less."
        )
    if layer.prefix:
        first = "token does" if layer.prefix == 1 else f"{layer.prefix} tokens do"
        yield f"The first {first} not turn."
    if layer.uneven:
        yield (
            "The two dimensions of a pair take different angles. That is no turn: scores depend on "
            "both places, not on the distance alone."
        )
    if layer.weighed:
        yield (
            "Behind the turn learned numbers weigh each dimension. Where those of a pair differ, "
            "scores depend on both places, not on the distance alone."
        )


def _axes(sections: Mapping[str, Sequence[int]], text: bool) -> str:
    shared = [f"{axis} turns {_listed(pairs)}" for axis, pairs in sections.items()]
    same = " Text has the same place on each." if text and "time" in sections else ""
    return f"Positions have {NUMBERS[len(shared)]} axes: {', '.join(shared)}.{same}"


def _listed(pairs: Sequence[int]) -> str:
    """Return pairs as a run, or as the first few."""
    if len(pairs) < 2:
        return f"pair {pairs[0]}" if pairs else "none"
    if pairs[-1] - pairs[0] == len(pairs) - 1:
        return f"pairs {pairs[0]} to {pairs[-1]}"
    return f"{len(pairs)} pairs ({', '.join(map(str, pairs[:3]))} ... {pairs[-1]})"


def _schedule(layer: "Layer") -> str:
    scaling = layer.scaling or {}
    trained = scaling.get("original_max_position_embeddings")
    gain = (
        f" Turned queries and keys are multiplied by {layer.gain:.5g}." if layer.gain != 1 else ""
    )
    return (
        f"Schedule {scaling['type']}, factor {scaling['factor']:g}"
        + (f" over {trained:,} tokens" if trained else "")
        + f".{gain}"
    )


def _assumed(layer: "Layer") -> bool:
    """Return whether nobody says from how many tokens a schedule starts."""
    kind = (layer.scaling or {}).get("type")
    return kind in ASSUMES and layer.sources.get("original_max_position_embeddings") == "code"


def _turns(
    description: "Description", number: int, layer: "Layer", asked: int | None
) -> Iterator[str]:
    """Yield how many pairs turn less than once, before a schedule and at the lengths of today."""
    if layer.dealt or layer.alike:  # places in a picture are no numbers of tokens
        return
    far = _reach(layer)
    made = description.made_for
    if far and far < (asked or made or 0):
        yield _slow(description.inv_freq(number, asked), far, "as far as a query sees")
        return
    original = (layer.scaling or {}).get("original_max_position_embeddings")
    if original and layer.base is not None and layer.head_dim is not None:
        plain = scaling.inv_freq(layer.base, layer.turning, layer.head_dim, None, original)
        yield _slow(plain, original, "before the schedule")
    lengths = {made: "made for"}
    lengths.setdefault(description.length, "allowed by its code")
    lengths.setdefault(asked, "asked about")
    for length, what in lengths.items():
        if length is not None and length != original:
            yield _slow(description.inv_freq(number, length), length, what)


def _reach(layer: "Layer") -> int | None:
    """Return how many tokens a query sees, None where it sees all, or a key for several."""
    return layer.window if layer.kind in ("window", "chunk") and not layer.compressed else None


def _slow(omega: NDArray[np.float64], length: int, what: str) -> str:
    omega = omega[omega > 0]
    slow = int((omega * length < 2 * np.pi).sum())
    return f"At {length:,} tokens ({what}), {slow} of {len(omega)} pairs make less than one turn."


def _longer(description: "Description", rotating: "Sequence[Layer]", asked: int) -> str:
    """Return what to do for inputs that are longer than what a model is made for."""
    length = description.made_for or asked
    wide = [layer for layer in rotating if (_reach(layer) or asked) > length]
    if not wide:
        far = max(layer.window or 0 for layer in rotating)
        return f"Layers that turn see at most {far:,} of them, so that no schedule is needed."
    scaled = [layer.scaling for layer in wide if layer.scaling]
    if scaled:
        return _stretched(scaled[0], asked)
    where = "" if len(wide) == len(rotating) else " in the layers that see everything"
    counted = "" if description.trained else " Count it from the length of training, once you know."
    return (
        f"YaRN or NTK scaling with factor {asked / length:.3g} is valid{where}, best with more "
        f"training.{counted}"
    )


def reaches(scaling: Mapping[str, Any]) -> int | None:
    """Return the tokens that YaRN is made for: its factor times the length of training."""
    start = scaling.get("original_max_position_embeddings")
    return round(start * scaling["factor"]) if start and scaling["type"] == "yarn" else None


def _stretched(scaling: Mapping[str, Any], asked: int) -> str:
    """Return what to do where a schedule stands already."""
    reached, start = reaches(scaling), scaling.get("original_max_position_embeddings")
    if reached is None or start is None:
        return "Its schedule would have to be set anew; a second one on top is not valid."
    whole = f"{scaling['factor']:g} times {start:,}, reaches {reached:,} tokens"
    if asked <= reached:
        return f"Its schedule, {whole}: nothing has to be set anew."
    return (
        f"Its schedule, {whole}. Set its factor anew, to {asked / start:.3g}; a second schedule on "
        "top is not valid."
    )


def _endless(description: "Description", length: int | None) -> Iterator[str]:
    """Yield what to think of a length where the configuration names none."""
    if length and description.length is None and not any(x.table for x in description.layers):
        yield (
            f"The configuration names no length. Nothing in it ends before {length:,} tokens, and "
            "nothing says that it was trained for them."
        )


def _checks(description: "Description", asked: int | None) -> Iterator[str]:
    """Yield what to do for longer inputs, and what to check."""
    rotating = [layer for layer in description.layers if layer.door == "rotate"]
    length = description.made_for
    kinds = {layer.scaling["type"] for layer in rotating if layer.scaling}
    if rotating and length and asked and asked > length:
        says = "the default of its class"
        if not _by_default(description):
            says = "what the configuration says"
        if length != description.length:
            says = "the length of training"
        yield f"{asked:,} tokens are {asked / length:.3g} times {says}."
        yield _longer(description, rotating, asked)
    if any(layer.causal for layer in rotating):  # others need all tokens at once
        grows = sorted(kinds & set(GROWS))
        if grows:
            kind = " and ".join(grows)
            yield f"A cache does not survive growth: under {kind}, longer inputs turn keys anew."
        else:
            yield "A cache stays valid as the input grows: no frequency looks at its length."
    if any(layer.sources.get("base") == "default" for layer in rotating):
        yield "Check: the base is the default of the class. Released models mostly say their own."
    assumed = [layer.scaling or {} for layer in rotating if _assumed(layer)]
    if assumed:
        start = assumed[0]["original_max_position_embeddings"]
        yield (
            f"Check: the schedule does not say original_max_position_embeddings, and {start:,} is "
            "taken, as max_position_embeddings says. If training ended earlier, say so there."
        )
    yield from (f"Check: {one}." for one in description.checks)
    yield from description.notes
    yield from _trained(description)
    if description.others:
        yield f"Not read: {', '.join(description.others)}. Give such a part by itself."
    if description.address:
        yield f"Numbers: {description.address}."
    if description.released:
        yield f"Released: {description.released}, as {description.released_source} says."
    if description.unproved:
        yield f"Not compared in such a configuration: {', '.join(description.unproved)}."
    yield from (f"Not read: {one}" for one in description.unread)
    proved = ", ".join(description.proved)
    if description.unread:
        yield "Not proved: nothing reads these entries. See what the code does with them."
        return
    yield (
        f"Compared with transformers' own layers, in {_compared(description)} of this family: "
        f"{proved}."
        if proved
        else "Not proved: compare one layer with the code before you trust this."
    )


def _compared(description: "Description") -> str:
    n = reading.families()[description.family]["compared"]
    return f"{n} configuration{'' if n == 1 else 's'}"
