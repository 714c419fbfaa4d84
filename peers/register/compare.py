"""Compare what the register reads from configurations with what transformers' layers do.

For each architecture the class's defaults and three varied configurations, in earlier and later
forms.
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import transformers

from peers.register import own, probe, scores
from peers.register.analysis import Differs, pairs, sees
from peers.register.axes import SECTIONS, WITHOUT_SCHEDULES
from peers.register.remake import WRAPPERS, write
from posenc import register

RESULTS = Path(__file__).parents[2] / "results/register.json"
AXES = ("time", "height", "width")
POSITIONS = [0] + [2**n for n in range(13)]
COMMON = ("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe")  # asked about most
REACHED = {"long": "longrope", "mscale": "mscale_all_dim", "queries": "query_scaling"}
ROUNDING = 1e-5  # of the largest entry of a query: float32 arithmetic
ANGLES = 1e-6  # of an angle: float32 frequencies and their products with positions
NUMBERS = 1e-5  # of a gain or scale


def main() -> None:
    probe.limit_memory()
    asked = sys.argv[1:] or register.names()
    held = (
        json.loads(RESULTS.read_text())["architectures"]
        if RESULTS.exists() and sys.argv[1:]
        else {}
    )
    for kind in asked:
        held[kind] = architecture(kind)
        bad = {name: row["problem"] for name, row in held[kind].items() if "problem" in row}
        print(kind, bad or "ok", flush=True)
    proved = [kind for kind, rows in held.items() if not any("problem" in r for r in rows.values())]
    print(f"{len(proved)} of {len(held)} equal in all configurations")
    found = {
        "transformers": transformers.__version__,
        "rounding": ROUNDING,
        "angles": ANGLES,
        "architectures": {kind: held[kind] for kind in proved},
    }
    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    keep(held, proved)


def keep(held, proved):
    """Mark in the register what is proved, and leave out architectures that are not."""
    families = register.reading.families()
    for kind in held:
        if kind not in proved:
            families.pop(kind, None)
        elif kind in families:
            also = [
                name
                for name in ("gain", "mixer", "mixer_place", "chosen")
                if any(row.get(name) for row in held[kind].values())
            ]
            families[kind]["proved"] = fields(kind, families[kind], also)
            families[kind]["compared"] = len(held[kind])
            reached = [REACHED[name] for name in held[kind] if name in REACHED]
            if "llama_4_scaling_beta" in families[kind]["defaults"].get("rope_parameters", {}):
                reached.append("query_scaling")
            families[kind]["reached"] = sorted({*reached})
    write(families)
    wrappers = json.loads(WRAPPERS.read_text())
    write({kind: row for kind, row in wrappers.items() if row["text"] in families}, WRAPPERS)


def fields(kind, family, also):
    """Return which fields of a layer were compared."""
    if kind in own.RULES:
        return own.fields(kind)
    seen = ["door", "kind", "window", "causal", "n_heads", "head_dim", "scale", "sinks", "softcap"]
    if family["door"] == "rotate":
        seen += ["turning", "first", "pairing_after", "direction", "base", "scaling"]
        seen += ["sections"] * ("sections" in family)
        seen += ["pairing"] * (family["pairing"] is not None)
    return seen + also


def architecture(kind):
    """Return for each configuration how far read and probe are apart, or where they differ."""
    if kind in own.RULES:
        return {name: _scored(kind, changes) for name, changes in own.variations(kind).items()}
    found, unturned = {}, None
    for name, changes in variations(kind).items():
        try:
            found[name], starts = compare(kind, changes)
            if unturned is not None and name in ("yarn", "long", "short", "mscale"):
                found[name] |= gains(starts, unturned)
            unturned = starts
        except Exception as error:  # recorded as this configuration's result
            found[name] = {"problem": f"{type(error).__name__}: {error}"[:200]}
    return found


def _scored(kind, changes):
    try:
        return scores.compare(kind, changes)
    except Exception as error:  # recorded as this configuration's result
        return {"problem": f"{type(error).__name__}: {error}"[:200]}


def variations(kind):
    """Return the changes to a class's defaults that make each configuration."""
    default = probe.CONFIG_MAPPING[kind]().to_dict()
    rope = default.get("rope_parameters")
    entry = register.reading.families()[kind].get("base_entry", "rope_theta")
    named = {"default": {}} | _mixed(kind)
    if not rope:
        return named
    if kind in SECTIONS:
        return named | _sections(kind, rope)
    labels = [label for label, part in rope.items() if isinstance(part, dict)]
    shared = {name: rope[name] for name in ("partial_rotary_factor",) if name in rope}
    yarn = {
        "rope_type": "yarn",
        "factor": 8.0,
        "original_max_position_embeddings": 512,
        "rope_theta": 50_000.0,
    }
    llama3 = {
        "rope_type": "llama3",
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 256,
        "rope_theta": 20_000.0,
    }
    window = dict.fromkeys(probe.windows(kind, default), 5)
    if labels:
        if any(rope[label].get("rope_type") == "proportional" for label in labels):
            return named | _proportional(rope, window)  # these classes serve no other schedule
        other = {"rope_type": "default", "rope_theta": 3_000.0}
        parts = {
            label: {k: v for k, v in rope[label].items() if k == "partial_rotary_factor"}
            for label in labels
        }
        still = {label: None for label, part in rope.items() if part is None}
        named["base"] = {
            "rope_parameters": {label: other | parts[label] for label in labels} | still
        }
        named["yarn"] = {
            "rope_parameters": {
                label: (yarn if n else other) | parts[label] for n, label in enumerate(labels[::-1])
            }
            | still
        }
        named["llama3"] = {
            "rope_parameters": {
                label: (llama3 if n else yarn) | parts[label] for n, label in enumerate(labels)
            }
            | still
        } | window
        return named
    if "longrope" in LONG.get(kind, ()):
        return named | _longrope(default, window)
    shared |= {name: rope[name] for name in ("llama_4_scaling_beta",) if name in rope}
    if default.get("floor_scale"):
        named["queries"] = {"floor_scale": 3, "attn_scale": 0.2}
    if entry:
        named["base"] = {entry: 37_000.0}
    else:
        named["base"] = {"rope_parameters": rope | {"rope_theta": 37_000.0}}
    if register.reading.families()[kind].get("serves") == ["default"]:
        return named | {"window": window | {"partial_rotary_factor": 0.25}}
    named["yarn"] = {"rope_parameters": yarn | shared}
    if "alpha" in register.reading.families()[kind].get("reads", ()):
        grown = {"rope_type": "dynamic", "factor": 1.0, "alpha": 1000.0, "rope_theta": 10_000.0}
        named["alpha"] = {"rope_parameters": grown}
    if "qk_rope_head_dim" in default:
        weights = {"mscale": 0.9, "mscale_all_dim": 0.7}
        named["mscale"] = {"rope_parameters": yarn | weights | shared}
    if kind in COMMON:
        named |= _weighted(kind, yarn)
    earlier = {k: v for k, v in llama3.items() if k != "rope_theta"} | shared
    if "qk_rope_head_dim" not in default:
        earlier.pop("partial_rotary_factor", None)
    named["llama3"] = {"rope_scaling": earlier, entry or "rope_theta": 20_000.0} | window
    misread = register.reading.families()[kind].get("misreads", ())
    if "rope_scaling" in {*default, *misread}:  # this class does not read an entry of that name
        named["llama3"] = {"rope_parameters": llama3} | window
    if "partial_rotary_factor" in shared and "qk_rope_head_dim" not in default:
        named["yarn"]["rope_parameters"]["partial_rotary_factor"] = 1.0
    if "original_max_position_embeddings" in default:  # it wins over the one in the schedule
        for name in {"yarn", "llama3", "mscale"} & set(named):
            named[name]["original_max_position_embeddings"] = 512
    return named


def _mixed(kind):
    """Return variations of what a hybrid's entries say: its layers, a switch, a factor."""
    family = register.reading.families()[kind]
    found = {name: {name: 0.3} for name in family.get("multiplied", ())}
    if "turns_if" in family:
        found["still"] = {family["turns_if"]["entry"]: family["turns_if"]["off"][0]}
    return found | LISTED.get(kind, {})


def _sections(kind, rope):
    """Return variations of models whose positions have three axes."""
    rope = probe.NEEDED.get(kind, {}).get("rope_parameters", rope)
    small = probe.small(kind)
    n = register.read(small | {"model_type": kind}).layers[-1].turning // 2
    part = n // 3 if SECTIONS[kind]["arrangement"] == "last" else n // 4
    shared = [part, part, n - 2 * part][:: 1 if SECTIONS[kind]["arrangement"] == "last" else -1]
    base = {k: v for k, v in rope.items() if k != "rope_theta"}
    earlier = {"type": "mrope"} if kind in ("qwen2_vl_text", "qwen2_5_vl_text") else {}
    found = {
        "base": {"rope_parameters": rope | {"rope_theta": 37_000.0}},
        "shares": {"rope_parameters": rope | {"rope_theta": 37_000.0, "mrope_section": shared}},
        "earlier": {
            "rope_parameters": None,
            "rope_scaling": base | earlier | {"mrope_section": shared},
            "rope_theta": 2e4,
        },
    }
    yarn = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512}
    if kind not in WITHOUT_SCHEDULES:
        found["yarn"] = {"rope_parameters": rope | yarn | {"mrope_section": shared}}
        found.pop("base")
    return found


def _weighted(kind, yarn):
    """Return schedules whose gain is not YaRN's own: with DeepSeek's weights, and LongRoPE."""
    n = register.read(probe.small(kind) | {"model_type": kind}).layers[0].turning // 2
    lists = {
        "rope_type": "longrope",
        "rope_theta": 50_000.0,
        "short_factor": [1 + i / n for i in range(n)],
        "long_factor": [1 + i / 7 for i in range(n)],
        "original_max_position_embeddings": 1024,
    }
    return {
        "mscale": {"rope_parameters": yarn | {"mscale": 0.9, "mscale_all_dim": 0.7}},
        "long": {"rope_parameters": lists, "max_position_embeddings": 8192},
    }


LISTED = {  # each way in which a hybrid's configuration says what its layers are
    "bamba": {"none": {"attn_layer_indices": None}, "two": {"attn_layer_indices": [0, 7]}},
    "granitemoehybrid": {
        "earlier names": {"layer_types": ["attention", "mamba"] * 4},
        "scale": {"attention_multiplier": 0.05},
    },
    "jamba": {"period": {"attn_layer_period": 3, "attn_layer_offset": 1}},
    "muse_spark_text": {
        "listed": {"layer_rope_theta": [0, 500_000.0, 500_000.0, 0] * 2},
        "layers": {"num_hidden_layers": 6},
    },
    "nemotron_h": {
        "letters": {"hybrid_override_pattern": "M*-EM*", "layers_block_type": None},
        "earlier names": {"layers_block_type": ["attention", "mamba", "mlp"]},
    },
    "recurrent_gemma": {"cycle": {"block_types": ["attention", "recurrent"]}},
    "zamba2": {"earlier names": {"layers_block_type": ["mamba", "hybrid", "hybrid"] * 2,
                                 "num_hidden_layers": 6}},
    "deepseek_v4": {"few": {"index_topk": 2}},
    "glm5_next_text": {
        "no tail": {"index_kpool_always_select_tail": False, "index_kpool": 2},
        "earlier name": {"layer_types": ["linear_attention", "full_attention"] * 4},
        "lists": {"linear_attn_config": {"full_attn_layers": [1], "kda_layers": [2]}},
    },
    "glm_moe_dsa": {"earlier name": {"layer_types": ["deepseek_sparse_attention"] * 8}},
    "mimo_v2_flash": {"before": {"sliding_window_size": 6, "sliding_window": 6}},
    "minimax_m3_vl_text": {
        "sparse": {
            "layer_types": ["full_attention", *["minimax_m3_sparse"] * 7],
            "index_block_size": 4,
            "index_topk_blocks": 2,
            "index_local_blocks": 0,  # else places with gaps fail
        },
        "earlier": {
            "sparse_attention_config": {
                "sparse_attention_freq": [0, 0, *[1] * 6],
                "sparse_block_size": 8,
                "sparse_local_block": 0,
                "sparse_topk_blocks": 1,
            },
        },
    },
    "lfm2": {"numbered": {"full_attn_idxs": [1, 3]}},
    "laguna": {"heads": {"num_attention_heads_per_layer": [4, 8, 8, 8] * 2}},
}  # fmt: skip
LONG = {
    "phi3": ("longrope",),
    "phi4_multimodal": ("longrope",),
}  # these classes serve no other schedule


def _longrope(default, window):
    """Return variations with lists of divisors, below and above the length of training."""
    n = default["hidden_size"] // default["num_attention_heads"] // 2
    lists = {
        "type": "longrope",
        "short_factor": [1 + i / n for i in range(n)],
        "long_factor": [1 + i / 7 for i in range(n)],
    }
    shape = {"max_position_embeddings": 8192}
    return {
        "base": {"rope_theta": 37_000.0} | window,
        "long": shape | {"rope_scaling": lists, "original_max_position_embeddings": 1024},
        "short": shape
        | {"rope_scaling": lists, "rope_theta": 20_000.0, "original_max_position_embeddings": 4100},
    }


def _proportional(rope, window):
    """Return variations of classes whose layers that see everything turn a share of their pairs."""

    def parts(theta, share):
        return {
            label: part
            | {"rope_theta": theta}
            | ({"partial_rotary_factor": share} if "partial_rotary_factor" in part else {})
            for label, part in rope.items()
        }

    return {
        "base": {"rope_parameters": parts(3_000.0, 0.25)},
        "share": {"rope_parameters": parts(70_000.0, 0.5)},
        "window": {"rope_parameters": parts(20_000.0, 0.125)} | window,
    }


def compare(kind, changes, said=None):
    """Return the largest difference with the number of layers, and queries at position 0.

    The register reads the changes, or what is `said` in their place.
    """
    small = copy.deepcopy(probe.small(kind) | changes)
    given = probe.small(kind) | (changes if said is None else said)
    given = json.loads(json.dumps(given))  # classes change what they are given
    read = register.read(given | {"model_type": kind})
    config = probe.CONFIG_MAPPING[kind](**small)
    model = probe.build(config)
    calls = {
        getattr(call.module, "layer_idx", n): call
        for n, call in enumerate(probe.run(model, POSITIONS))
    }
    with_attention = [n for n, layer in enumerate(read.layers) if layer.kind != "none"]
    if sorted(calls) != with_attention:
        raise Differs(f"layers with attention: read {with_attention}, probe {sorted(calls)}")
    mixed = mixes(model, read)
    worst, louder = 0.0, _louder(kind, small)
    for n, call in calls.items():
        worst = max(worst, same(read, n, call, POSITIONS, louder=louder))
    if any(layer.sections for layer in read.layers):
        for number, axis in enumerate(AXES):
            for n, call in enumerate(probe.run(model, POSITIONS, number)):
                n = getattr(call.module, "layer_idx", n)
                worst = max(worst, same(read, n, call, POSITIONS, axis, louder))
    sights(model, read)
    if any(layer.chosen for layer in read.layers):
        mixed |= {"chosen": True}
    return {"largest": float(f"{worst:.3g}"), "layers": len(calls)} | mixed, {
        n: (read.layers[n], call.q[:, 0]) for n, call in calls.items()
    }


def mixes(model, read):
    """Compare what mixes tokens beside attention, or in its place, and where it stands."""
    found = probe.mixers(model)
    for n, layer in enumerate(read.layers):
        check("mixer", layer.mixer, found.get(n), n)
    beside = {one.mixer_place for one in read.layers if one.mixer and one.kind != "none"}
    if not beside:
        return {"mixer": True} if found else {}
    check("mixer_place", beside, {probe.place(model)}, "with both")
    return {"mixer": True, "mixer_place": True}


def _louder(kind, small):
    """Return by how much queries or keys are multiplied beside the scale, for those at 0."""
    factors = register.reading.families()[kind].get("multiplied", ())
    if not factors:
        return 1.0
    sizes = []
    for changes in ({}, dict.fromkeys(factors, 1.0)):
        config = probe.CONFIG_MAPPING[kind](**copy.deepcopy(small) | changes)
        call = probe.run(probe.build(config), [0, 1])[0]
        sizes.append(np.linalg.norm(call.q[:, 0]) * np.linalg.norm(call.k[:, 0]))
    return sizes[0] / sizes[1]


def same(read, n, call, places, axis=None, louder=1.0):
    """Return how far queries are from the predicted ones, in tolerances, or raise.

    Positions are the same on all axes, or on one, with the others at 0.
    """
    layer, q = read.layers[n], call.q
    check("n_heads", layer.n_heads, q.shape[0], n)
    check("head_dim", layer.head_dim, q.shape[2], n)
    window = call.options.get("sliding_window")
    if window and layer.kind != "chunk":
        check("window", layer.window, window, n)
    check("sinks", layer.sinks, call.options.get("s_aux") is not None, n)
    choice(layer, call, n)
    check("softcap", layer.softcap, call.options.get("softcap") or None, n)
    if (scale := call.options.get("scaling")) is not None and abs(
        layer.scale / (louder * scale) - 1
    ) > NUMBERS:
        raise Differs(f"layer {n}: scale: read {layer.scale}, probe {louder * scale}")
    worst = 0.0
    k = call.k[:, : len(places)]  # behind them come keys that stand for several tokens
    for name, rows in (("q", q), ("k", k)):
        loud = growth(layer, places) if name == "q" else np.ones(len(places))
        tolerance = ROUNDING * np.abs(rows).max() + np.zeros(rows.shape[1:])
        expected = np.repeat(rows[:, :1], rows.shape[1], 1)
        if layer.door == "rotate":
            omega = read.inv_freq(n, places[-1] + 1)
            first, second = pairs(layer, len(omega))
            if axis is not None:
                omega = omega * np.isin(np.arange(len(omega)), layer.sections[axis])
            angles = np.outer(places, omega)
            z = (rows[:, :1, first] + 1j * rows[:, :1, second]) * np.exp(
                1j * layer.direction * angles
            )
            expected[..., first], expected[..., second] = z.real, z.imag
            size = np.abs(z).max(0)
            tolerance[:, first] += ANGLES * angles * size
            tolerance[:, second] += ANGLES * angles * size
        expected, tolerance = expected * loud[:, None], tolerance * loud[:, None]
        apart = (np.abs(rows - expected) / tolerance).max()
        if not apart <= 1:
            where = np.unravel_index((np.abs(rows - expected) / tolerance).argmax(), rows.shape)
            raise Differs(
                f"layer {n}: {name} at position {places[where[1]]}, dimension {where[2]}: "
                f"{apart:.3g} times the tolerance"
            )
        worst = max(worst, apart)
    return worst


def growth(layer, places):
    """Return what queries are multiplied by at each place."""
    rule = layer.query_scaling
    if not rule:
        return np.ones(len(places))
    if rule.get("counted"):
        places = range(len(places))
    return 1 + rule["beta"] * np.log1p(np.floor((np.array(places) + rule["shift"]) / rule["every"]))


def check(name, read, found, n):
    if read != found:
        raise Differs(f"layer {n}: {name}: read {read}, probe {found}")


def choice(layer, call, n):
    """Compare how many keys, or pools of them, an indexer hands on for each query."""
    given = call.options.get("indices", call.options.get("block_indices"))
    if layer.chosen and (layer.compressed or layer.chosen["coded"]):  # in masks, see `sights`
        return
    check("an indexer", layer.chosen is not None, given is not None, n)
    if given is not None:
        pool = layer.chosen["pool"]
        most = min(layer.chosen["most"] // pool, -(-call.k.shape[1] // pool))
        check("keys or pools chosen", most, given.shape[-1], n)


def in_sight(layer, query):
    """Return how many of 16 keys a query sees, with those that stand for several tokens."""
    keys = query + 1 if layer.causal else 16
    if layer.kind == "chunk":
        return query % layer.window + 1
    rule, packed = layer.chosen, keys // (layer.compressed or keys + 1)
    if rule and layer.compressed:
        packed = min(packed, rule["most"])
    elif rule and rule["coded"]:
        whole = keys // rule["pool"] * rule["pool"]
        return min(whole, rule["most"]) + rule["tail"] * (keys - whole)
    return min(keys, layer.window or keys) + packed


def sights(model, read):
    """Compare how many keys some of 16 queries see."""
    for n, call in enumerate(probe.run(model, list(range(16)))):
        n = getattr(call.module, "layer_idx", n)
        layer = read.layers[n]
        hidden = (
            call.mask is None and layer.causal
        )  # its attention hides what comes later by itself
        if hidden or (call.mask is not None and call.mask.ndim != 4) or layer.kind == "none":
            continue
        for query in (0, 13, 15) if layer.causal else (0, 15):
            name = f"keys in sight of query {query}"
            check(name, in_sight(layer, query), sees(call, query), n)


def gains(now, before):
    """Compare a schedule's gain with how much longer the turned queries became."""
    for n, (layer, q) in now.items():
        other, q_other = before[n]
        if layer.door != "rotate":
            continue
        turned = slice(layer.first, layer.first + min(layer.turning, other.turning))
        ratio = np.linalg.norm(q[:, turned]) / np.linalg.norm(q_other[:, turned])
        if layer.turning == other.turning and abs(ratio / (layer.gain / other.gain) - 1) > NUMBERS:
            raise Differs(f"layer {n}: gain: read {layer.gain / other.gain}, probe {ratio}")
    return {"gain": True}


if __name__ == "__main__":
    main()
