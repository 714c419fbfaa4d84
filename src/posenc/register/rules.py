"""One rule for all: what a configuration, a family's defaults and the probe say of each layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from posenc.register import distances
from posenc.register import scaling as schedule
from posenc.register.reading import ConfigError
from posenc.register.values import NAMES, Values, above_zero, mapping

WINDOWED = ("sliding_attention", "hybrid_sliding")
CHUNKED = ("chunked_attention",)
MIXERS = {  # what stands in place of attention, and whether it tells the order of tokens
    "linear_attention": "recurrent",
    "mamba": "recurrent",
    "recurrent": "recurrent",
    "conv": "convolution",
    "moe": None,
    "mlp": None,
}
ATTENDS = (
    "full_attention",
    "attention",
    "global",
    "indexed_attention",
    "hybrid",
    "deepseek_sparse_attention",
)
KNOWN = {*WINDOWED, *CHUNKED, *MIXERS, *ATTENDS}
MOST_WIDE = 100_000
MOST_NUMBERS = 10_000_000  # of slopes and pairs, in all layers that differ


@dataclass(frozen=True)
class Layer:
    """How one layer treats positions.

    Attributes
    ----------
    door : {"rotate", "embed", "bias", "none"}
        Where positions enter. A table is added to the input once; each layer lists it.
    kind : {"full", "window", "chunk", "square", "none"}
        What a query may see; "none" where the layer has no attention.
    window : int or None
        Tokens in sight, the query's own included, or of a chunk, or of a square's side. A query
        that sees both sides sees as many on each, its own counted on both.
    shift : int
        Places by which the squares of a picture are moved.
    causal : bool
        Whether a query sees nothing of what stands behind it.
    stack : {"encoder", "decoder"} or None
        Where the layer stands, in models that have both.
    n_heads : int or None
        Heads of queries.
    width : int or None
        Width of tokens, where what is added to scores is made of them.
    head_dim, turning, first : int or None
        Dimensions of a head, how many turn, and the first of those.
    pairing, pairing_after : {"half", "interleaved"} or None
        Which dimensions form a pair: as the weights have them, and where they are turned.
    direction : int or None
        1 as in the paper, -1 the other way round.
    base : float or None
        Base of the frequencies.
    scaling : mapping or None
        The schedule: its type and numbers.
    gain : float
        What turned queries and keys are multiplied by.
    scale : float or None
        What scores are multiplied by before the softmax.
    sinks : bool
        Whether the softmax has a learned place that no token takes.
    sinks_of_tokens : bool
        Whether each token makes the logit of that place, which is else one number a head.
    softcap : float or None
        Bound of the scores.
    query_scaling : mapping or None
        Queries at place t are multiplied by 1 + beta ln(1 + floor((t + shift) / every)), or where
        that is "smooth", by 1 + beta ln(max(1, (t + shift) / every)), and so is what mixes
        `profiles`; where they are "counted", t is the number of tokens before, whatever their
        positions.
    sections : mapping or None
        Numbers of the pairs that each axis turns, where positions have several.
    dealt : bool
        Whether the axes take frequencies in turn, from the fastest on, not one after the other.
    alike : bool
        Whether each axis has all frequencies, those of RoPE over its own dimensions.
    of_sides : bool
        Whether a place is a share of the picture: 2 pi times where a patch's middle stands on an
        axis, from -1 to 1.
    prefix : int
        How many tokens before the patches do not turn.
    uneven : bool
        Whether the two dimensions of a pair take different angles, which is no turn: dimension i
        of an axis takes frequency i modulo their number.
    weighed : bool
        Whether learned numbers weigh each dimension of queries and keys once they are turned, so
        that scores hang on where both stand.
    chosen : mapping or None
        What an indexer lets a query see of the keys in sight, or of those that stand for several
        tokens: at `most` how many tokens or such keys, in pools of how many (`pool`), whether a
        learned code tells places in a pool (`coded`), and whether the tokens behind the last whole
        pool are seen besides (`tail`).
    table : mapping or None
        Length, offset (row of position 0), width and kind of a table of positions. In a
        "sinusoidal" one sines come first, then cosines; one of "angles" is looked up where queries
        are turned.
    slopes : mapping or None
        ALiBi's: the number of heads, and what scores lose with each token of distance, by head.
    buckets : mapping or None
        Rows of a learned table that distances take: their number, the distance from which all take
        the same, and whether tokens behind the query have rows of their own. `Description.rows`.
    relative : mapping or None
        Vectors of distances that meet queries (c2p) or keys (p2c) in the scores.
    profiles : mapping or None
        Curves over the distance that all heads share and each token mixes: how many, the `reach`
        from which on they add nothing, and how long what they are mixed by may be (`clip`), if
        that is bounded. Distances are those in the order of the tokens, padded ones counted.
    values_turn : bool
        Whether values are turned as well as queries and keys.
    turned_back : bool
        Whether what a token gets of turned values is turned back by the place of its query.
    compressed : int or None
        How many tokens each further key and value stands for, behind those in sight.
    convolved : int or None
        Tokens that a convolution over keys and values spans, the last one their own.
    mixer : {"recurrent", "convolution"} or None
        What else tells the order of tokens in a layer: in place of attention where `kind` is
        "none", and beside it elsewhere.
    mixer_place : {"parallel", "behind"} or None
        Where it stands beside attention: on the same input, or on what attention gives, too.
    alpha : float or None
        What the base has grown by already: `alpha ** (turning / (turning - 2))`, at any length.
    idle : tuple of str
        Numbers that the configuration says of a schedule, and that this schedule does not use.
    sources : mapping
        Where each value is from: "config", "default" (of the class), "code" (by rule) or "probe".
    """

    door: str = "none"
    kind: str = "full"
    window: int | None = None
    shift: int = 0
    causal: bool = True
    stack: str | None = None
    n_heads: int | None = None
    width: int | None = None
    head_dim: int | None = None
    turning: int = 0
    first: int | None = None
    pairing: str | None = None
    pairing_after: str | None = None
    direction: int | None = None
    base: float | None = None
    scaling: Mapping[str, Any] | None = None
    gain: float = 1.0
    scale: float | None = None
    sinks: bool = False
    sinks_of_tokens: bool = False
    softcap: float | None = None
    query_scaling: Mapping[str, float] | None = None
    sections: Mapping[str, tuple[int, ...]] | None = None
    dealt: bool = False
    alike: bool = False
    of_sides: bool = False
    prefix: int = 0
    uneven: bool = False
    weighed: bool = False
    chosen: Mapping[str, Any] | None = None
    table: Mapping[str, Any] | None = None
    slopes: Mapping[str, Any] | None = None
    buckets: Mapping[str, Any] | None = None
    relative: Mapping[str, Any] | None = None
    profiles: Mapping[str, Any] | None = None
    values_turn: bool = False
    turned_back: bool = False
    compressed: int | None = None
    convolved: int | None = None
    mixer: str | None = None
    mixer_place: str | None = None
    alpha: float | None = None
    idle: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


def layers(config: Mapping[str, Any], family: Mapping[str, Any]) -> list[Layer]:
    """Return what each layer of a model does."""
    for name, known in family.get("refuses", {}).items():
        if config.get(name) not in (None, known):
            raise ConfigError(
                f"{name} = {config[name]!r:.60} changes layers of this family in a way that is not "
                f"read here; known is {known!r:.60} alone"
            )
    values = Values(config, family.get("defaults", {}))
    if "squares" in family:
        return [_square(number) for number in distances.squares(values)]
    found = []
    for stack, own in family.get("stacks", [(None, {})]):
        part = _switched(values, {**family, **own, "stack": stack})
        found += _stack(values, part)
    return found


def check_misread(config: Mapping[str, Any], family: Mapping[str, Any]) -> None:
    """Raise ConfigError for an entry that means something else here than in other families."""
    for name in family.get("misreads", ()):
        if config.get(name) is None:
            continue
        without = {entry: value for entry, value in config.items() if entry != name}
        one, other = (
            [replace(layer, sources={}) for layer in layers(part, family)]
            for part in (config, without)
        )
        if one != other:
            raise ConfigError(
                f"{name} = {config[name]!r:.60} means something else in this family's code than in "
                "others', and is not read here"
            )


def _stack(values: Values, family: Mapping[str, Any]) -> list[Layer]:
    """Return the layers of a stack; those that do the same are one object."""
    made: dict[tuple[str, bool, float | None, int | None], Layer] = {}
    found, numbers = [], 0
    for number, kind in enumerate(layer_types(values, family)):
        turns = family["door"] == "rotate" and _rotates(values, family, kind, number)
        base = _own_base(values, family, number) if turns else None
        n_heads = _own_heads(values, family, number)
        own = kind, turns, base, n_heads
        if own not in made:
            made[own] = _layer(values, family, kind, turns, base)
            if n_heads is not None:
                sources = {**made[own].sources, "n_heads": "config"}
                made[own] = replace(made[own], n_heads=n_heads, sources=sources)
            numbers += made[own].turning + len((made[own].slopes or {}).get("values", ()))
            if numbers > MOST_NUMBERS:
                raise ConfigError(
                    f"layers that differ hold more than {MOST_NUMBERS:,} slopes and turning "
                    f"dimensions; layer {number} is one of {len(made):,} such layers"
                )
        found.append(made[own])
    return found


def _own_base(values: Values, family: Mapping[str, Any], number: int) -> float | None:
    """Return the base that a configuration lists for a layer."""
    per_layer = None if "still" in family else values.config.get("layer_rope_theta")
    if not isinstance(per_layer, list) or len(per_layer) <= number:
        return None
    return above_zero("layer_rope_theta", per_layer[number])


def _own_heads(values: Values, family: Mapping[str, Any], number: int) -> int | None:
    """Return how many heads a configuration lists for a layer."""
    name = family.get("heads_by_layer", "")
    if (listed := values.config.get(name)) is None:
        return None
    n_layers = values.need("num_hidden_layers")
    if not isinstance(listed, list | tuple) or len(listed) != n_layers:
        raise ConfigError(f"{name} must list a number for each of {n_layers} layers")
    shared = "num_key_value_heads"
    own = Values({name: listed[number], shared: values.get(shared)}, {})
    _shared(own, name, shared)
    return own.need(name)


def _switched(values: Values, family: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a family's rules with those that an entry of the configuration switches on."""
    for entry, rules in family.get("if", {}).items():
        if values.get(entry):
            family = {**family, **rules}
    for entry, choices in family.get("choices", {}).items():
        family = {**family, **_chosen(values, entry, choices)}
    return family


def _chosen(
    values: Values, entry: str, choices: Mapping[str, Mapping[str, Any] | str]
) -> Mapping[str, Any]:
    """Return the rules of an entry's value; what has none is refused, with the reason if known."""
    said = values.config.get(entry) if entry in values.config else values.defaults.get(entry)
    rules = choices.get("null" if said is None else str(said), "")
    if isinstance(rules, Mapping):
        return rules
    read = [name for name, known in choices.items() if isinstance(known, Mapping)]
    why = f"{rules}; " if rules else ""
    raise ConfigError(f"{entry} = {said!r:.60} is not read here: {why}known are {', '.join(read)}")


def outside(config: Mapping[str, Any], family: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what tells the order of tokens outside attention."""
    values = Values(config, family.get("defaults", {}))
    return tuple(_filled(values, rule) for rule in family.get("outside", ()))


def _square(numbers: Mapping[str, Any]) -> Layer:
    """Return a layer of Swin."""
    sources = dict.fromkeys(numbers, "config")
    sources |= dict.fromkeys(("door", "kind", "causal", "scale"), "code")
    scale = numbers["head_dim"] ** -0.5
    return Layer(door="bias", kind="square", causal=False, scale=scale, sources=sources, **numbers)


def length(values: Values, family: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Return the tokens that a configuration allows, with the source of that number."""
    for entry, most in family.get("longer_if", {}).items():
        if values.get(entry):
            return most, "config"
    most = values.count("max_position_embeddings")
    return most, values.find("max_position_embeddings")[1] if most else None


def layer_types(values: Values, family: Mapping[str, Any]) -> list[str]:
    """Return each layer's type: listed, or by the family's cycle."""
    own = family.get("layer_types", {})
    name = family.get("n_layers", "num_hidden_layers")
    entries = family.get("types_entries", ["layer_types"])
    listed = next((values.config[n] for n in entries if values.config.get(n) is not None), None)
    if listed is None and (coded := family.get("coded_types")):
        listed = _decoded(values.config, coded)
    counted = family.get("counted") and isinstance(listed, list) and not values.says(name)
    n_layers = len(listed) if counted and listed else values.need(name)
    if n_layers > 10_000:
        raise ConfigError(f"{name} must be at most 10,000, got {n_layers}")
    if "coded_types" in family and not family.get("counted") and isinstance(listed, list):
        listed = listed[:n_layers]  # DeepSeek-V4's releases list layers for further tokens, too
    if listed is not None:
        known = own.get("known") or {*own.get("cycle", ()), *family.get("windowed", ())} | KNOWN
        types = _listed(listed, n_layers, {*known})
        return [*types[:-1], own["last"]] if own.get("last_always") else types
    types = _by_rule(values, family, n_layers)
    if not entries and (said := values.config.get("layer_types")) not in (None, types):
        raise ConfigError(
            f"layer_types = {said!r:.60} cannot be said in this family, whose code works out its "
            f"layers as {', '.join(types[:4])} ..."
        )
    return types


def _by_rule(values: Values, family: Mapping[str, Any], n_layers: int) -> list[str]:
    """Return each layer's type where a configuration lists none."""
    own = family.get("layer_types", {})
    if (whole := own.get("list")) is not None:
        if len(whole) != n_layers:
            raise ConfigError(
                f"{' or '.join(family['types_entries'])} must list the {n_layers} layers; without "
                f"a list the class has its own {len(whole)}"
            )
        return list(whole)
    if values.config.get("use_sliding_window"):
        if not isinstance(first := values.config.get("max_window_layers"), int):
            raise ConfigError(
                "use_sliding_window needs max_window_layers or layer_types, to say which layers do"
            )
        return ["full_attention" if n < first else "sliding_attention" for n in range(n_layers)]
    if (numbered := _numbered(values.config, family, n_layers)) is not None:
        return numbered
    if "period" in own:
        return _periodic(values, own, n_layers)
    cycle = _cycle(values, own, n_layers)
    if own.get("from_end"):
        return [cycle[number % len(cycle)] for number in reversed(range(n_layers))]
    if every_layer := own.get("turning"):  # Llama 4's layers that do not turn see everything
        turns = [_rotates(values, {}, every_layer, number) for number in range(n_layers)]
        return [every_layer if one else cycle[-1] for one in turns]
    types = [cycle[number % len(cycle)] for number in range(n_layers)]
    if own.get("head"):
        types[: len(own["head"])] = own["head"][:n_layers]
    if own.get("last"):
        types[-1] = own["last"]
    return types


def _periodic(values: Values, rule: Mapping[str, Any], n_layers: int) -> list[str]:
    """Return types of which the first comes once in a period, at an offset: Jamba's."""
    every, at = values.need(rule["period"]), values.whole(rule["offset"])
    if at >= every:
        raise ConfigError(
            f"{rule['offset']} = {at} must be smaller than {rule['period']} = {every}"
        )
    one, others = rule["cycle"]
    return [one if number % every == at else others for number in range(n_layers)]


def _listed(listed: Any, n_layers: int, known: set[str], entry: str = "layer_types") -> list[str]:
    """Return the types that a configuration lists, or raise ConfigError."""
    if not isinstance(listed, list | tuple) or not all(isinstance(kind, str) for kind in listed):
        raise ConfigError(f"{entry} must be a list of names, got {listed!r:.60}")
    if len(listed) != n_layers:
        raise ConfigError(f"{entry} lists {len(listed)} layers, num_hidden_layers says {n_layers}")
    if unknown := [kind for kind in listed if kind not in known]:
        raise ConfigError(
            f"{entry} lists {unknown[0]!r:.60}, which is not known here; "
            f"known are {', '.join(sorted(known))}"
        )
    return list(listed)


def _decoded(config: Mapping[str, Any], coded: Mapping[str, Any]) -> list[str] | None:
    """Return the types that a configuration lists in a code: DeepSeek-V4's, Nemotron-H's."""
    name, types = coded["entry"], coded["types"]
    if (codes := config.get(name)) is None:
        return None
    if not isinstance(codes, list | str) or not all(str(one) in types for one in codes):
        raise ConfigError(f"{name} must list layers as {', '.join(types)}, got {codes!r:.60}")
    return [types[str(one)] for one in codes]


def _cycle(values: Values, rule: Mapping[str, Any], n_layers: int) -> list[str]:
    """Return the types that come again and again, in a period that a configuration may say."""
    cycle = list(rule.get("cycle", ["full_attention"]))
    if (own := values.config.get(entry := rule.get("cycle_entry", ""))) is not None:
        cycle = _listed(own, len(own) if isinstance(own, list | tuple) else 0, {*cycle}, entry)
    every = rule.get("every")
    if not every or values.config.get(every) is None:
        return cycle
    n = min(values.need(every), n_layers + 1)
    if cycle.count(cycle[0]) == 1 < len(cycle) - 1:  # the odd one comes first
        return [cycle[0]] + [cycle[-1]] * (n - 1)
    return [cycle[0]] * (n - 1) + [cycle[-1]]


def _numbered(
    config: Mapping[str, Any], family: Mapping[str, Any], n_layers: int
) -> list[str] | None:
    """Return each layer's type where a configuration numbers those of one type, else None."""
    part = config.get("linear_attn_config")  # Kimi Linear's, which counts from 1
    part = None if family.get("only_types") else part  # GLM-5.3-Flash says the same, unread
    own, kind, first = family.get("numbered", {}), "full_attention", 0
    attending = family.get("layer_types", {}).get("numbered", ("full_attn_idxs", "conv"))  # LFM2's
    if config.get(own.get("entry")) is not None:  # Inkling's
        name, kind, others = own["entry"], own["type"], own["others"]
        listed = config[name]
    elif config.get(attending[0]) is not None:
        name, others = attending
        listed = config[name]
    elif isinstance(part, Mapping) and part.get("full_attn_layers") is not None:
        name, first, others = "full_attn_layers", 1, "linear_attention"
        listed = part[name]
        if part.get("kda_layers") is None:
            raise ConfigError("linear_attn_config must list kda_layers beside full_attn_layers")
    else:
        return None
    last = n_layers - 1 + first
    if not isinstance(listed, list | tuple) or not all(
        type(n) is int and first <= n <= last for n in listed
    ):
        raise ConfigError(f"{name} must list numbers from {first} to {last}, got {listed!r:.60}")
    attends = set(listed)
    return [kind if n + first in attends else others for n in range(n_layers)]


def _layer(
    values: Values, family: Mapping[str, Any], kind: str, turns: bool, base: float | None
) -> Layer:
    if kind in MIXERS:
        known = {"kind": "config", "mixer": "code"}
        return Layer(kind="none", mixer=MIXERS[kind], sources=known)
    family = {**family, **family.get("of_type", {}).get(kind, {})}
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    _sight(values, family, kind, found, sources)
    _size(values, family, kind, found, sources)
    if turns:
        _rotation(values, family, kind, base, found, sources)
    elif family["door"] != "rotate":
        found["door"], sources["door"] = family["door"], "probe"
    else:
        found["door"], sources["door"] = "none", "probe"
    _added(values, family, found, sources)
    if found["door"] == "embed" and "table" not in found:  # its configuration switches that off
        found["door"], sources["door"] = "none", "config"
    _is_added_once(values, found)
    found["scale"] = _scale(values, family, found)
    for name in family.get("multiplied", ()):  # by which queries or keys are multiplied before
        found["scale"] *= above_zero(name, values.get(name))
    if "slopes" in family:
        n_heads = values.need("num_attention_heads")
        found["slopes"] = distances.slopes(values, family["slopes"], n_heads, found["scale"])
        sources["slopes"] = "code"
    if entry := family.get("compressed", {}).get(kind):
        found["compressed"], sources["compressed"] = _compressed(values, kind, entry)
    if rule := family.get("chosen", {}).get(kind, family.get("chosen", {}).get("each")):
        found["chosen"], sources["chosen"] = _chosen_keys(values, rule), "code"
    found["sinks"], sources["sinks"] = kind in family.get("sinks", ()), "probe"
    if found["sinks"] and family.get("sinks_of_tokens"):
        found["sinks_of_tokens"] = True
    if scaled := _query_scaling(values, family, found):
        found["query_scaling"], sources["query_scaling"] = scaled, "code"
    found["softcap"], sources["softcap"] = None, "probe"
    if family.get("softcap"):
        found["softcap"] = values.number("attn_logit_softcapping")
        sources["softcap"] = values.find("attn_logit_softcapping")[1]
    found |= family.get("beside", {}).get(kind, {})
    return Layer(**found, sources=dict.fromkeys(found, "code") | sources)


def _added(
    values: Values, family: Mapping[str, Any], found: dict[str, Any], sources: dict[str, str]
) -> None:
    """Fill in tables, and what is added to scores."""
    found["stack"] = family.get("stack")
    found["causal"], sources["causal"] = family.get("causal", True), "probe"
    if found["stack"] is None and values.config.get("is_decoder"):
        found["causal"], sources["causal"] = True, "config"
    if "buckets" in family:
        found["buckets"], sources["buckets"] = _filled(values, family["buckets"]), "code"
        distances.check_buckets(found["buckets"])
    if "disentangled" in family:
        found |= distances.disentangled(values, family["disentangled"])
        sources |= {"buckets": "config", "relative": "config"}
    if "sinusoidal" in family:
        found["relative"] = distances.sinusoidal(values) | family["sinusoidal"]
        sources["relative"] = "code"
        found["causal"] = values.get("attn_type") == "uni"
    if "profiles" in family:
        found["profiles"], sources["profiles"] = (
            distances.profiles(values, family["profiles"]),
            values.find("d_rel")[1],
        )
        found["convolved"] = values.need("conv_kernel_size")
        found["width"], sources["width"] = (
            values.need("hidden_size"),
            values.find("hidden_size")[1],
        )
    if "patches" in family:
        found["table"], sources["table"] = distances.pictures(values, family["patches"]), "config"
    elif "table" in family and _switch(values, family.get("table_switch")):
        found["table"], sources["table"] = _filled(values, family["table"]), "probe"
    if "table" in found and found["table"]["kind"] != "angles":
        narrow = values.count("embedding_size")  # of ELECTRA, which widens what it has added
        found["table"]["width"] = narrow or values.need("hidden_size")
    if turns := family.get("values_turn"):
        found["values_turn"] = turns is True or bool(values.get(turns))
        found["turned_back"] = family.get("turned_back", False)


def _compressed(values: Values, kind: str, entry: str) -> tuple[int, str]:
    """Return how many tokens a further key stands for in layers of this type, with the source."""
    if values.says(entry):
        return values.need(entry), "config"
    rate, source = values.part("compress_rates").get(kind), values.find("compress_rates")[1]
    return Values({"compress_rates": rate}, {}).need("compress_rates"), source


def _chosen_keys(values: Values, rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many keys an indexer chooses, by the entries that say so."""
    pool = values.need(rule["pool"]) if "pool" in rule else 1
    most = values.need(rule["most"]) * (pool if rule.get("pools") else 1)
    if most % pool:
        raise ConfigError(f"{rule['most']} = {most:,} is no multiple of {rule['pool']} = {pool:,}")
    tail = bool(rule.get("tail") and values.get(rule["tail"]))
    return {"most": most, "pool": pool, "coded": rule.get("coded", False), "tail": tail}


def _is_added_once(values: Values, found: Mapping[str, Any]) -> None:
    """Raise ConfigError for BERT's relative distances, which later releases no longer have."""
    if found["door"] != "embed":
        return
    said = values.config.get("position_embedding_type")
    if said not in (None, "absolute"):
        raise ConfigError(
            f"position_embedding_type is {said!r:.60}; the register knows a table that is added to "
            "the input, 'absolute', and nothing else of this family"
        )


def _switch(values: Values, name: str | None) -> bool:
    return name is None or bool(values.get(name))


def _filled(values: Values, rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a family's numbers, with those that stand in the configuration put in."""
    found = {
        name: values.need(value[1:]) if isinstance(value, str) and value[0] == "$" else value
        for name, value in rule.items()
    }
    if found.pop("after_padding", False):  # the row of the padding token stays free, as in fairseq
        padding = values.get("pad_token_id")
        found["inside"] = 0 if padding is None else values.whole("pad_token_id") + 1
    if inside := found.pop("inside", 0):
        found |= {"offset": inside, "rows_more": inside, "length": found["length"] - inside}
        if found["length"] < 1:
            raise ConfigError(
                f"a table of {found['length'] + inside} rows, of which {inside} are no positions, "
                "holds no position"
            )
    return found


def _sight(
    values: Values,
    family: Mapping[str, Any],
    kind: str,
    found: dict[str, Any],
    sources: dict[str, str],
) -> None:
    """Fill in what a query may see."""
    found["kind"], sources["kind"] = (
        "full",
        "config" if "layer_types" in values.config else "default",
    )
    if kind in CHUNKED:
        found["kind"] = "chunk"
        found["window"], sources["window"] = (
            values.need("attention_chunk_size"),
            values.find("attention_chunk_size")[1],
        )
    elif kind in WINDOWED or kind in family.get("windowed", ()):
        name = family.get("window_entry", "sliding_window")
        window = values.count(name) if values.get(name) else None
        if values.says(name) and not values.config.get(name, True):
            if kind in WINDOWED and "layer_types" in values.config:
                said = values.config.get(name)
                raise ConfigError(
                    f"layer_types lists {kind}, but {name} is {'null' if said is None else said}"
                )
            window = None
        if (before := family.get("window_before")) and values.config.get(before):
            window, name = values.need(before) + 1, before  # tokens before the query's own
        both = family.get("window_of_both")  # an entry that counts the tokens of both sides
        if both and not values.says(name) and values.get(both):
            window, name = values.need(both) // 2, both
        if window is not None:
            found["kind"] = "window"
            found["window"], sources["window"] = (
                window + family.get("window_plus", 0),
                values.find(name)[1],
            )


def _size(
    values: Values,
    family: Mapping[str, Any],
    kind: str,
    found: dict[str, Any],
    sources: dict[str, str],
) -> None:
    """Fill in the heads and their width: said, or the model's width shared among heads."""
    heads = family.get("heads", "num_attention_heads")
    found["n_heads"], sources["n_heads"] = values.count(heads), values.find(heads)[1]
    _shared(values, heads, family.get("kv_heads", "num_key_value_heads"))
    still, rotating = values.count("qk_nope_head_dim"), values.get("qk_rope_head_dim")
    if rotating is not None:  # 0 in GLM-5.3-Flash, of which nothing turns
        count = values.need if family["door"] == "rotate" else values.whole
        rotating = count("qk_rope_head_dim")
    if rotating is not None and still:
        found["head_dim"], sources["head_dim"] = (
            rotating + still,
            values.find("qk_rope_head_dim")[1],
        )
        return
    name, times = family.get("head_dim_entry", "head_dim"), family.get("width_times", 1)
    widths = family.get("head_dims", {})
    if len(set(widths.values())) > 1 and widths.get(kind) != values.defaults.get(name):
        wide = values.config.get("global_head_dim")
        found["head_dim"] = values.need("global_head_dim") if wide is not None else widths[kind]
        sources["head_dim"] = "config" if wide is not None else "default"
        return
    said, source = values.find(name)
    own = family.get("own_width", False)  # of a class whose heads stay as wide as they are
    if said is not None and (source == "config" or own or not _follows(values, name)):
        found["head_dim"], sources["head_dim"] = values.need(name), source
        return
    width, n_heads = times * values.need("hidden_size"), values.need(heads)
    if width % n_heads:
        raise ConfigError(
            f"{f'{times} times ' if times > 1 else ''}hidden_size = {width} is no multiple of "
            f"{heads} = {n_heads}; {name} must then say how wide a head is"
        )
    found["head_dim"], sources["head_dim"] = width // n_heads, values.find("hidden_size")[1]


def _shared(values: Values, heads: str, shared: str) -> None:
    """Raise ConfigError where keys and values cannot be shared evenly among a layer's heads."""
    n_heads, n_kv_heads = values.config.get(heads), values.config.get(shared)
    if not isinstance(n_heads, int) or not isinstance(n_kv_heads, int):
        return
    if n_kv_heads > 0 and n_heads % n_kv_heads:
        raise ConfigError(f"{heads} = {n_heads} is no multiple of {shared} = {n_kv_heads}")


def _follows(values: Values, name: str) -> bool:
    """Return whether a default width of heads follows from a width that is now another."""
    old = Values({}, values.defaults)
    width, n_heads = old.get("hidden_size"), old.get("num_attention_heads")
    return (
        name == "head_dim"
        and bool(width and n_heads)
        and old.get(name) == width // n_heads
        and values.says("hidden_size")
    )


def _rotates(values: Values, family: Mapping[str, Any], kind: str, number: int) -> bool:
    """Return whether the layer turns its queries at all."""
    if (
        switch := values.config.get("no_rope_layers") or None  # Llama 4's releases leave it empty
    ) is not None and "no_rope_layer_interval" in values.defaults:
        if not isinstance(switch, list) or len(switch) <= number:
            raise ConfigError(f"no_rope_layers must list 1 or 0 for each layer, got {switch!r:.60}")
        return bool(switch[number])
    if interval := values.count("no_rope_layer_interval"):
        return (number + 1) % interval != 0
    if "turns_if" in family and not switched_on(values, family["turns_if"]):
        return False
    if rule := family.get("still"):
        return _still(values, rule, number)
    only = family.get("rotates")
    return only is None or kind in only


def switched_on(values: Values, rule: Mapping[str, Any]) -> bool:
    """Return whether an entry says that layers turn, or raise ConfigError if it says neither."""
    name, said = rule["entry"], values.get(rule["entry"])
    if said not in (None, rule["on"], *rule["off"]):
        raise ConfigError(
            f"{name} must be {rule['on']!r}, {', '.join(map(repr, rule['off']))} or null, got "
            f"{said!r:.60}"
        )
    return bool(said == rule["on"])


def _still(values: Values, rule: Mapping[str, Any], number: int) -> bool:
    """Return whether a layer turns in a family that lists 0 for those that do not."""
    name, n_layers = rule["entry"], values.need("num_hidden_layers")
    if (listed := values.config.get(name)) is None:
        return (n_layers - 1 - number) % rule["every"] != 0
    if not isinstance(listed, list) or len(listed) != n_layers:
        raise ConfigError(f"{name} must list a number for each of {n_layers} layers")
    base = (values.part("rope_parameters")).get("rope_theta")
    if listed[number] not in (0, values.config.get("rope_theta") or base):
        raise ConfigError(
            f"{name} lists {listed[number]!r:.40} for layer {number}; this family's code reads 0 "
            f"there for a layer that does not turn, and turns all others by rope_theta = {base}"
        )
    return listed[number] != 0


def _rotation(
    values: Values,
    family: Mapping[str, Any],
    kind: str,
    own_base: float | None,
    found: dict[str, Any],
    sources: dict[str, str],
) -> None:
    """Fill in which dimensions turn, how fast, and in which pairs."""
    rope, nested, source = parameters(values, family, kind)
    if rope is None:
        found["door"], sources["door"] = "none", source
        return
    found["door"], sources["door"] = "rotate", "probe"
    base = rope.get("rope_theta")
    sources["base"] = source
    if base is None or "base" in family:  # some classes read no base
        base, sources["base"] = (
            (family["base"], "code") if "base" in family else _base(values, family, kind)
        )
    found["base"] = above_zero("rope_theta", base)
    if own_base is not None:
        found["base"], sources["base"] = own_base, "config"
    if (trained := values.get("original_max_position_embeddings")) is not None:
        rope = {**rope, "original_max_position_embeddings": trained}  # as the classes have it
    found["scaling"] = schedule.check(rope, length(values, family)[0], family)
    _within(values, found["scaling"])
    sources["scaling"] = source
    if source == "config":
        found["idle"], sources["idle"] = schedule.idle(rope, family), "config"
    if rope.get("original_max_position_embeddings") is None:
        sources["original_max_position_embeddings"] = "code"
    if found["scaling"] and nested:  # transformers looks for it beside the layer types
        found["scaling"].pop("truncate", None)
    turning, sources["turning"] = _turning(values, family, rope, found["head_dim"])
    if turning % 2 or not 0 < turning <= found["head_dim"]:
        raise ConfigError(
            f"an even number of a head's {found['head_dim']} dimensions must turn, "
            f"these numbers turn {turning}"
        )
    if turning > MOST_WIDE:
        raise ConfigError(f"at most {MOST_WIDE:,} of a head's dimensions can turn, got {turning:,}")
    found["turning"] = turning
    _grown(family, rope, found, sources)
    schedule.try_out(found["base"], turning, found["head_dim"], found["scaling"])
    found["gain"] = 1.0 if family.get("normed_after") else schedule.gain(found["scaling"])
    found["first"] = found["head_dim"] - turning if family.get("first") == "end" else 0
    sources["first"] = "probe"
    for name in ("pairing", "pairing_after", "direction"):
        found[name], sources[name] = family[name], "probe"
    if (
        (choice := family.get("pairing_switch"))
        and (said := values.get(choice)) is not None
        and not said
    ):
        found["pairing"] = found["pairing_after"]
    found["sections"], sources["sections"] = _sections(rope, family, turning // 2, source)
    arrangement = (family.get("sections") or {}).get("arrangement")
    found["dealt"], found["alike"] = arrangement == "dealt", arrangement == "alike"
    found |= {name: family.get(name, False) for name in ("of_sides", "uneven", "weighed")}
    if entry := family.get("prefix"):  # registers, behind a token for the whole picture
        found["prefix"] = 1 + values.whole(entry)
        sources["prefix"] = values.find(entry)[1]


def _grown(
    family: Mapping[str, Any],
    rope: Mapping[str, Any],
    found: dict[str, Any],
    sources: dict[str, str],
) -> None:
    """Work HunYuan's alpha into the base, which makes its "dynamic" schedule a fixed one."""
    kind = (found["scaling"] or {}).get("type")
    if "alpha" not in family.get("reads", ()) or kind != "dynamic" or not rope.get("alpha"):
        return
    found["alpha"], sources["alpha"] = above_zero("alpha", rope["alpha"]), "config"
    if found["turning"] == 2:
        raise ConfigError("alpha needs heads of which more than 2 dimensions turn")
    found["base"] *= found["alpha"] ** (found["turning"] / (found["turning"] - 2))
    found["scaling"], found["idle"] = None, ("factor", *found["idle"])


def _within(values: Values, scaling: Mapping[str, Any] | None) -> None:
    """Raise ConfigError where a schedule starts from more tokens than the model is made for."""
    trained = (scaling or {}).get("original_max_position_embeddings")
    if trained is None or not values.says("max_position_embeddings"):
        return
    if trained > (most := values.need("max_position_embeddings")):
        raise ConfigError(
            f"a schedule from original_max_position_embeddings = {trained:,} tokens does not fit "
            f"max_position_embeddings = {most:,}"
        )


def _sections(
    rope: Mapping[str, Any], family: Mapping[str, Any], n_pairs: int, source: str
) -> tuple[dict[str, tuple[int, ...]] | None, str]:
    """Return which pairs turn with time, height and width, as the family arranges them."""
    said = rope.get("mrope_section")
    rule = family.get("sections")
    if rule is None:
        if said:
            raise ConfigError("mrope_section is said, which this family's code does not read")
        return None, "code"
    if rule["arrangement"] in ("dealt", "alike"):
        return _in_blocks(rule["axes"], n_pairs), "code"
    sizes = said or rule["default"]
    if not isinstance(sizes, list | tuple) or [type(n) for n in sizes] != [int] * 3:
        raise ConfigError(f"mrope_section must be three whole numbers, got {sizes!r:.60}")
    if min(sizes) < 0 or (sum(sizes) != n_pairs and rule["arrangement"] != "woven"):
        raise ConfigError(f"mrope_section must share {n_pairs} pairs, got {sizes!r:.60}")
    pairs = range(n_pairs)
    first, second, _ = sizes
    if rule["arrangement"] == "blocks":
        starts = (0, first, first + second, n_pairs)
        split = [tuple(pairs[a:b]) for a, b in pairwise(starts)]
    elif rule["arrangement"] == "woven":  # in turn, until height and width have theirs
        down, right = (tuple(pairs[n : 3 * sizes[n] : 3]) for n in (1, 2))
        split = [tuple(sorted(set(pairs) - {*down, *right})), down, right]
    else:  # height and width in turn, and time last; said in this order
        if first != second:
            raise ConfigError(f"mrope_section must begin with two equal numbers, got {sizes!r:.60}")
        split = [tuple(pairs[2 * first :]), *(tuple(pairs[n : 2 * first : 2]) for n in (0, 1))]
    axes = dict(zip(("time", "height", "width"), split, strict=True))
    return axes, source if said else "code"


def _in_blocks(axes: list[str], n_pairs: int) -> dict[str, tuple[int, ...]]:
    """Return as many pairs for each axis, one axis after the other."""
    if n_pairs % len(axes):
        raise ConfigError(f"{len(axes)} axes cannot share {n_pairs} pairs evenly")
    each = n_pairs // len(axes)
    return {axis: tuple(range(n * each, (n + 1) * each)) for n, axis in enumerate(axes)}


def parameters(
    values: Values, family: Mapping[str, Any], kind: str
) -> tuple[Mapping[str, Any] | None, bool, str]:
    """Return a layer's entries about rotation, whether they stand under its type, and their source.

    None for layers that the configuration leaves without rotation.
    """
    defaults = values.defaults.get("rope_parameters") or {}
    labels = family.get("rope_labels", {})
    label = labels.get(kind, kind)
    under = any(value is None or isinstance(value, Mapping) for value in defaults.values())
    scaled_label = family.get("scaled_label", "full_attention")
    for name in ("rope_scaling", "rope_parameters"):
        given = values.config.get(name)
        if not given:
            continue
        rope = mapping(name, given)
        nested = any(isinstance(value, Mapping) for value in rope.values())
        schedule.check_names(name, rope, family, label if nested else None)
        if nested:
            if label not in rope:
                raise ConfigError(
                    f"{name} has entries for {', '.join(rope)}, none for layers of type {label}"
                )
            part = rope[label]
            return (None if part is None else mapping(f"{name}.{label}", part)), True, "config"
        if under:  # earlier releases scale the layers that see everything
            scaled = label == scaled_label or family.get("scales_all", False)
            if family.get("scales_all") and "type" in rope and "rope_type" not in rope:
                raise ConfigError(
                    f"{name} says type = {rope['type']!r:.60}, which the class of this family does "
                    "not read; it must be called rope_type"
                )
            own = {**family.get("beside_scaled", {}), **rope} if scaled else {}
            kept = label == "full_attention" or family.get("scales_all", False)
            return {k: v for k, v in own.items() if k != "rope_theta" or kept}, True, "config"
        return rope, False, "config"
    part = defaults.get(label) if under else defaults
    if part is None:
        return (None if label in defaults else {}), under, "default"
    if (
        family.get("base_entry") == ""
    ):  # an entry beside a class's own parameters moves nothing there
        return part, under, "default"
    entry = family.get("base_entries", {}).get(label, "rope_theta")
    return (
        {k: v for k, v in part.items() if not _overridden(values, k, label, entry)},
        under,
        "default",
    )


def agree(config: Mapping[str, Any]) -> None:
    """Raise ConfigError where a configuration says two things about its rotation."""
    for name in ("rope_theta", "partial_rotary_factor"):
        entries = [n for n in (name, *NAMES[name]) if config.get(n) is not None]
        if any(config[n] != config[entries[0]] for n in entries[1:]):
            both = " and ".join(f"{n} = {config[n]!r:.40}" for n in entries)
            raise ConfigError(f"{both} say the same entry twice; one of them must go")
    top = {name: config.get(name) for name in ("rope_theta", "partial_rotary_factor")}
    if (share := top["partial_rotary_factor"]) is not None and not isinstance(share, Mapping):
        check_share(share)
    places: list[tuple[str, Mapping[str, Any]]] = [("the configuration", top)]
    for name in ("rope_scaling", "rope_parameters"):
        if isinstance(config.get(name), Mapping):
            places.append((name, config[name]))
    if len(places) == 3:
        left = places[2][1].keys() - places[1][1].keys() - {"rope_theta", "type", "rope_type"}
        if left:
            raise ConfigError(
                f"rope_parameters says {min(left)!r:.60}, which rope_scaling does not"
            )
    older = {"rope_type": "type"}  # as earlier releases call it
    for name in ("rope_theta", "rope_type", "factor", "partial_rotary_factor"):
        found = {place: part.get(name, part.get(older.get(name, name))) for place, part in places}
        said = {place: value for place, value in found.items() if value is not None}
        one, *others = said.values() or (None,)
        if any(other != one for other in others):
            both = " and ".join(f"{value!r:.40} in {place}" for place, value in said.items())
            raise ConfigError(f"{name} is said to be {both}; one of them must go")


def _overridden(values: Values, name: str, label: str, entry: str) -> bool:
    """Return whether a class's entry gives way to one at the top of the configuration."""
    if name == "rope_theta" and entry != name:
        return values.says(entry)
    local = name == "rope_theta" and label in WINDOWED and values.says("rope_local_base_freq")
    return name in ("rope_theta", "partial_rotary_factor") and (local or values.says(name))


def _base(values: Values, family: Mapping[str, Any], kind: str) -> tuple[Any, str]:
    """Return the base where the entries about rotation have none."""
    if kind in WINDOWED and values.get("rope_local_base_freq") is not None:
        return values.find("rope_local_base_freq")
    defaults = values.defaults.get("rope_parameters") or {}
    part = defaults.get(family.get("rope_labels", {}).get(kind, kind))
    label = family.get("rope_labels", {}).get(kind, kind)
    if (entry := family.get("base_entries", {}).get(label)) and values.says(entry):
        return values.find(entry)
    nested = isinstance(part, Mapping)
    own = part if isinstance(part, Mapping) else defaults
    separate = (
        nested
        and len({p.get("rope_theta") for p in defaults.values() if isinstance(p, Mapping)}) > 1
    )
    if values.says("rope_theta") and not (separate and kind in WINDOWED):
        return values.find("rope_theta")
    default = own.get("rope_theta") or values.defaults.get("rope_theta")
    return (default, "default") if default else (10_000.0, "code")


def _turning(
    values: Values, family: Mapping[str, Any], rope: Mapping[str, Any], head_dim: int
) -> tuple[int, str]:
    """Return how many of a head's dimensions turn, with the source of that number."""
    if (rule := family.get("sections") or {}).get("arrangement") == "alike":
        return _alike(rule, head_dim), "code"
    width = family.get("turning_entry")
    if width and values.says(width) and not values.says("partial_rotary_factor"):
        return values.need(width), "config"
    if values.get("qk_rope_head_dim") and values.get("qk_nope_head_dim"):
        return values.need("qk_rope_head_dim"), values.find("qk_rope_head_dim")[1]
    if "rotary_dim" in family.get("reads", ()) and values.get("rotary_dim") is not None:
        return values.need("rotary_dim"), values.find("rotary_dim")[1]
    share, source = rope.get("partial_rotary_factor"), "config"
    if share is None:
        share, source = values.find("partial_rotary_factor")
    if share is None:
        share, source = (
            (values.defaults.get("rope_parameters") or {}).get("partial_rotary_factor"),
            "default",
        )
    if share is None or isinstance(share, Mapping):
        return head_dim, "code"
    share = check_share(share)
    if (rope.get("rope_type") or rope.get("type")) == "proportional":
        return 2 * int(share * head_dim // 2), source
    return int(head_dim * share), source


def _alike(rule: Mapping[str, Any], head_dim: int) -> int:
    """Return how many dimensions turn where each axis has as many, in pairs of its own."""
    axes = rule["axes"]
    turning = 2 * len(axes) * (head_dim // len(axes) // 2)
    if turning != head_dim and not rule.get("rest"):
        raise ConfigError(
            f"a head's {head_dim} dimensions must be a multiple of {2 * len(axes)}, two for each "
            f"of {', '.join(axes)}"
        )
    return turning


def check_share(share: Any) -> float:
    """Return the share of a head's dimensions that turn, or raise ConfigError."""
    if (share := above_zero("partial_rotary_factor", share)) > 1:
        raise ConfigError(f"partial_rotary_factor must be at most 1, got {share}")
    return float(share)


def _query_scaling(
    values: Values, family: Mapping[str, Any], found: Mapping[str, Any]
) -> dict[str, float] | None:
    """Return how queries grow with their place: Ministral 3's, Llama 4's that do not turn, or as
    the rule of a family says.
    """
    if (rule := family.get("growth")) and (floor := values.number("log_scaling_n_floor")):
        alpha = above_zero("log_scaling_alpha", values.get("log_scaling_alpha"))
        return {"beta": alpha, "every": floor, "shift": 1, "smooth": True, **rule}
    if beta := (found.get("scaling") or {}).get("llama_4_scaling_beta"):
        return {
            "beta": beta,
            "every": found["scaling"]["original_max_position_embeddings"],
            "shift": 0,
        }
    if found["door"] == "none" and values.get("floor_scale") and values.get("attn_scale"):
        if not values.config.get("attn_temperature_tuning", True):
            return None
        return {
            "beta": above_zero("attn_scale", values.get("attn_scale")),
            "every": above_zero("floor_scale", values.get("floor_scale")),
            "shift": 1,
            "counted": True,
        }
    return None


def _scale(values: Values, family: Mapping[str, Any], found: Mapping[str, Any]) -> float:
    """Return what scores are multiplied by."""
    rule = family.get("scale", "head_dim")
    if rule == "one":
        return 1.0
    if rule == "half":
        return float((found["head_dim"] / 2) ** -0.5)
    if rule == "log2e":  # timesfm's constant, with its digits
        return float(1.442695041 * found["head_dim"] ** -0.5)
    if rule == "inverse":
        return float(1 / found["head_dim"])
    if rule == "softmax_scale":
        said = values.part("attn_config").get(rule)
        return found["head_dim"] ** -0.5 if said is None else above_zero(rule, said)
    if rule == "terms":
        return float(((1 + len(found["relative"]["terms"])) * found["head_dim"]) ** -0.5)
    if rule == "query_pre_attn_scalar":
        return above_zero(rule, values.get(rule)) ** -0.5
    if rule == "attention_multiplier":
        said, source = values.find(rule)
        old = values.defaults.get("head_dim")
        if source == "default" and old and abs(said - old**-0.5) < 1e-9:  # as heads are wide
            return float(found["head_dim"] ** -0.5)
        return above_zero(rule, said)
    scaled = found.get("scaling") or {}
    weight = (
        scaled.get("mscale_all_dim")
        if rule == "mscale" and scaled.get("type") != "default"
        else None
    )
    louder = schedule.mscale(scaled["factor"], weight) ** 2 if weight else 1.0
    return louder * found["head_dim"] ** -0.5
