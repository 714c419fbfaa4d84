"""Remake the register from the installed transformers, offline, and say what changed."""

import copy
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers

from peers.register import own, probe
from peers.register.analysis import describe, sees
from peers.register.axes import SECTIONS

FAMILIES = Path(__file__).parents[2] / "src/posenc/register/families.json"
WRAPPERS = FAMILIES.with_name("wrappers.json")
POSITIONS = [0] + [2**n for n in range(13)]
KEPT = (
    "head_dim",
    "hidden_size",
    "n_embd",
    "d_model",
    "num_attention_heads",
    "n_head",
    "num_heads",
    "n_heads",
    "decoder_attention_heads",
    "num_hidden_layers",
    "n_layer",
    "num_layers",
    "n_layers",
    "decoder_layers",
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_seq_len",
    "original_max_position_embeddings",
    "rope_parameters",
    "rope_theta",
    "partial_rotary_factor",
    "rotary_dim",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "sliding_window",
    "sliding_window_size",
    "attention_window_size",
    "local_attention",
    "attention_chunk_size",
    "no_rope_layer_interval",
    "query_pre_attn_scalar",
    "attention_multiplier",
    "key_multiplier",
    "qk_scale_factor",
    "attn_layer_period",
    "attn_layer_offset",
    "attn_logit_softcapping",
    "rope_interleave",
    "global_head_dim",
    "swa_head_dim",
    "kv_channels",
    "floor_scale",
    "attn_scale",
    "compress_rope_theta",
    "compress_rates",
    "index_topk",
    "index_kpool",
    "index_kpool_always_select_tail",
    "index_topk_blocks",
    "index_block_size",
)
WORKED_OUT = ("num_hidden_layers", "layer_types")
ASKED = 7  # tokens of a window that a class has only where its configuration says one
BOTH_SIDES = {
    "window_of_both": "local_attention",
    "scales_all": True,
    "base_entries": {
        "full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta",
    },
}  # fmt: skip
CHOSEN = {"chosen": {"each": {"most": "index_topk"}}}  # one key at a time
MESSAGE = {  # what the probe does not see: values, keys of several tokens, an entry's other names
    "modernbert": BOTH_SIDES,
    "modernbert-decoder": BOTH_SIDES,
    "axk2": CHOSEN,
    "deepseek_v32": CHOSEN,
    "glm_moe_dsa": CHOSEN,
    "hy_v4": CHOSEN,
    "hy_v4_vl_text": CHOSEN,
    "glm5_next_text": {
        "only_types": True,
        "chosen": {
            "each": {
                "most": "index_topk",
                "pool": "index_kpool",
                "tail": "index_kpool_always_select_tail",
                "coded": True,
            }
        }
    },
    "minimax_m3_vl_text": {
        "chosen": {
            "minimax_m3_sparse": {
                "most": "index_topk_blocks", "pool": "index_block_size", "pools": True,
            }
        },
        "unfolds": {
            "sparse_attention_config": {
                "sparse_attention_freq": "sparse_attention_freq",
                "sparse_block_size": "index_block_size",
                "sparse_topk_blocks": "index_topk_blocks",
            }
        },
        "coded_types": {
            "entry": "sparse_attention_freq",
            "types": {"0": "full_attention", "1": "minimax_m3_sparse"},
        },
        "layer_types": {
            "cycle": ["full_attention"], "known": ["full_attention", "minimax_m3_sparse"],
        },
    },
    "mimo_v2_flash": {"window_before": "sliding_window_size"},
    "laguna": {"heads_by_layer": "num_attention_heads_per_layer"},
    "deepseek_v4": {
        "values_turn": True,
        "turned_back": True,
        "chosen": {"compressed_sparse_attention": {"most": "index_topk"}},
        "compressed": {
            "compressed_sparse_attention": "compress_rate_csa",
            "heavily_compressed_attention": "compress_rate_hca",
        },
        "coded_types": {
            "entry": "compress_ratios",
            "types": {
                "0": "sliding_attention",
                "4": "compressed_sparse_attention",
                "128": "heavily_compressed_attention",
            },
        },
        "rope_labels": {
            "sliding_attention": "main",
            "compressed_sparse_attention": "compress",
            "heavily_compressed_attention": "compress",
        },
        "sinks": [
            "compressed_sparse_attention", "heavily_compressed_attention", "sliding_attention",
        ],
        "base_entries": {"main": "rope_theta", "compress": "compress_rope_theta"},
        "scaled_label": "compress",
        "beside_scaled": {"attention_factor": 1.0},
        "turning_entry": "qk_rope_head_dim",
    },
}  # fmt: skip
NAMED = {  # earlier and later names of what a layer is
    "mixed": ["linear_attention", "mamba"],
    "attends": ["full_attention", "attention"],
}
BOTH = ["layers_block_type", "layer_types"]
HYBRIDS = {  # how a configuration says which layers mix tokens without attention, or beside it
    "bamba": {
        "types_entries": [],
        "layer_types": {
            "cycle": ["linear_attention"],
            "numbered": ["attn_layer_indices", "linear_attention"],
        },
    },
    "falcon_h1": {
        "types_entries": [],
        "layer_types": {"cycle": ["hybrid"]},
        "beside": {"hybrid": {"mixer": "recurrent", "mixer_place": "parallel"}},
        "multiplied": ["key_multiplier"],
    },
    "granitemoehybrid": {
        "types_entries": BOTH,
        "layer_types": {"cycle": ["linear_attention"],
                        "known": [*NAMED["mixed"], *NAMED["attends"]]},
        "turns_if": {"entry": "position_embedding_type", "on": "rope", "off": ["nope"]},
    },
    "jamba": {
        "types_entries": [],
        "layer_types": {"period": "attn_layer_period", "offset": "attn_layer_offset",
                        "cycle": ["full_attention", "linear_attention"]},
    },
    "muse_spark_text": {
        "layer_types": {"cycle": ["full_attention", *["sliding_attention"] * 3], "from_end": True,
                        "known": ["full_attention", "sliding_attention"]},
        "rotates": None,
        "still": {"entry": "layer_rope_theta", "every": 4},
        "multiplied": ["qk_scale_factor"],
    },
    "nemotron_h": {
        "types_entries": BOTH,
        "counted": True,
        "coded_types": {
            "entry": "hybrid_override_pattern",
            "types": {"M": "linear_attention", "*": "full_attention", "-": "mlp", "E": "moe"},
        },
        "layer_types": {"known": [*NAMED["mixed"], *NAMED["attends"], "mlp", "moe"],
                        "list": None},
    },
    "recurrent_gemma": {
        "types_entries": [],
        "layer_types": {"cycle": ["recurrent", "recurrent", "attention"],
                        "cycle_entry": "block_types"},
        "windowed": ["attention"],
        "serves": ["default"],
    },
    "zamba2": {
        "types_entries": BOTH,
        "layer_types": {"known": [*NAMED["mixed"], "hybrid"], "list": None},
        "turns_if": {"entry": "use_mem_rope", "on": True, "off": [False]},
        "head_dim_entry": "attention_head_dim",
        "width_times": 2,
        "beside": {"hybrid": {"mixer": "recurrent", "mixer_place": "behind"}},
        "longer_if": {"use_long_context": 16_384},
    },
}  # fmt: skip
PERIODS = (
    "no_rope_layer_interval",
    "sliding_window_pattern",
    "_sliding_window_pattern",
    "global_attn_every_n_layers",
    "window_pattern",
    "layer_group_size",
    "full_attention_interval",
)


def main() -> None:
    probe.limit_memory()
    old = json.loads(FAMILIES.read_text())
    asked = sys.argv[1:] or list(dict.fromkeys((*probe.TYPES, *own.RULES, *SECTIONS)))
    new, left = dict(old) if sys.argv[1:] else {}, {}
    for kind in asked:
        try:
            new[kind] = own.family(kind, KEPT) if kind in own.RULES else family(kind)
        except Exception as error:  # one class's trouble must not stop the others
            new.pop(kind, None)
            left[kind] = f"{type(error).__name__}: {error}"[:150]
    for kind in set(old) & set(new):  # until they are compared anew
        if _rules(old[kind]) == _rules(new[kind]):
            new[kind] = old[kind]
    write(new)
    wrap(new)
    for kind in sorted(set(old) | set(new)):
        if _rules(old.get(kind)) != _rules(new.get(kind)):
            print(
                "changed" if kind in old and kind in new else "new" if kind in new else "gone", kind
            )
    print(f"transformers {transformers.__version__}: {len(new)} architectures")
    for kind, why in left.items():
        print("left out", kind, why)


def _rules(family):
    """Return a family without what comparisons say of it."""
    said = ("proved", "compared", "reached", "takes", "ignores", "refuses", "misreads")
    return family and {name: family[name] for name in family if name not in said}


def write(families, path=None):
    """Write the register, one architecture a line."""
    lines = (
        f"  {json.dumps(k)}: {json.dumps(families[k], sort_keys=True)}" for k in sorted(families)
    )
    (path or FAMILIES).write_text("{\n" + ",\n".join(lines) + "\n}\n")


def wrap(families):
    """Write which architecture each model's text_config has, where its class settles that."""
    found = {}
    for kind in probe.CONFIG_MAPPING:
        try:
            config = probe.CONFIG_MAPPING[kind]
            text = config.sub_configs["text_config"].model_type
            if text not in families or kind in families:
                continue
            inside = config(num_hidden_layers=3).to_dict()["text_config"]
        except Exception:  # a class without one, or that needs more
            continue
        found[kind] = {"text": text} | ({"flat": True} if inside["num_hidden_layers"] == 3 else {})
    write(found, WRAPPERS)


def family(kind):
    """Return what the register holds of one architecture."""
    default = defaults_of(kind)
    small = probe.small(kind)
    config = probe.CONFIG_MAPPING[kind](**small)
    model = probe.build(config)
    defaults = {name: default[name] for name in KEPT if default.get(name) is not None}
    for part in (defaults.get("rope_parameters") or {}).values():
        if isinstance(part, dict):
            part.pop("type", None)
    calls = probe.run(model, POSITIONS)
    rows = {
        call.module.layer_idx if hasattr(call.module, "layer_idx") else n: (
            call,
            describe(call),
        )
        for n, call in enumerate(calls)
    }
    if not any(name in defaults for name in probe.LAYERS):
        raise ValueError("it wraps another model, whose own configuration is read")
    if not rows:
        raise ValueError("its attention does not use the interface")
    found = {"door": "none", "defaults": defaults}
    types, here = default.get("layer_types"), getattr(config, "layer_types", None)
    if types and kind not in HYBRIDS:
        found["layer_types"] = cycle(types, here, kind)
    here = here or ["full_attention"] * (max(rows) + 1)
    turned = {n: row for n, (_, row) in rows.items() if row["turning"] and row.get("pairing_after")}
    if turned:
        one = next(iter(turned.values()))
        found |= {"door": "rotate", "first": "end" if one["first"] else "start"}
        found |= {name: one[name] for name in ("pairing", "pairing_after", "direction")}
        kinds = {here[n] for n in turned}
        still = {here[n] for n in rows if n not in turned}
        if still and not still & kinds:
            found["rotates"] = sorted(kinds)
        elif still and "no_rope_layer_interval" not in defaults:
            raise ValueError(
                f"layers {sorted(turned)} turn, the others not, and their types do not say why"
            )
        found |= _base(kind, default, small, turned)
        if labels := _labels(rows, here, defaults):
            found["rope_labels"] = labels
        if kind in SECTIONS:
            found["sections"] = SECTIONS[kind]
        if default.get("rope_interleave") is not None:
            found["pairing_switch"] = "rope_interleave"
        found |= _schedules(kind, small)
        if told := _warnings(kind, small, one):
            found["reads"] = told
    elif any(row["turning"] for _, row in rows.values()):
        raise ValueError("its queries change with the position, but do not turn")
    found |= _others(kind, rows, here, defaults, default)
    if turned and _weighed(model):
        found["weighed"] = True
    if _wide(kind, small, next(iter(rows.values()))[1]["head_dim"]):
        found["own_width"] = True
    found |= MESSAGE.get(kind, {}) | _hybrid(kind, types)
    # a pairing that no weights tell is said to be none
    return {name: rule for name, rule in found.items() if rule is not None or name == "pairing"}


@torch.no_grad()
def _weighed(model):
    """Return whether pairs are no longer turned alone where all learned numbers differ."""
    draw = torch.Generator().manual_seed(1)
    for weight in model.parameters():
        if weight.ndim < 2:
            weight.add_(0.3 * torch.randn(weight.shape, generator=draw))
    call = probe.run(model, POSITIONS)[0]  # later layers no longer get the same at every place
    return describe(call).get("pairing_after") is None


def defaults_of(kind):
    """Return a class's defaults, with those that it works out."""
    default = probe.CONFIG_MAPPING[kind]()
    worked_out = {name: getattr(default, name, None) for name in WORKED_OUT if kind in HYBRIDS}
    return {name: one for name, one in worked_out.items() if one is not None} | default.to_dict()


def _hybrid(kind, types):
    """Return how layers of a hybrid are said; a rule that wants a list gets the class's own."""
    rule = copy.deepcopy(HYBRIDS.get(kind, {}))
    own = rule.get("layer_types", {})
    if "list" in own:
        own["list"] = types
    elif "cycle" not in own and types:
        own |= cycle(types, types, kind)
    return rule


def _changed(kind, small, **changes):
    """Return what the first attention of a changed class does, None where it cannot be built."""
    try:
        config = probe.CONFIG_MAPPING[kind](**copy.deepcopy(small | changes))
        call = probe.run(probe.build(config), POSITIONS)[0]
    except Exception:  # a change that this class refuses
        return None, {}
    return call, describe(call)


def _wide(kind, small, head_dim):
    """Return whether heads stay as wide as they are where the model is twice as wide."""
    width = next((name for name in probe.WIDTH if name in small), None)
    if width is None or "head_dim" in small:
        return False
    return _changed(kind, small, **{width: 2 * small[width]})[1].get("head_dim") == head_dim


def _warnings(kind, small, plain):
    """Return entries that earlier code had, and that move what turns, or how fast."""
    found = []
    half = plain["head_dim"] // 2
    if _changed(kind, small, rotary_dim=half)[1].get("turning") == half != plain["turning"]:
        found.append("rotary_dim")
    rope = {"rope_type": "dynamic", "factor": 1.0, "rope_theta": 10_000.0}
    slow, slower = (
        _changed(kind, small, rope_parameters=rope | alpha)[0] for alpha in ({}, {"alpha": 50.0})
    )
    if slow is not None and slower is not None and np.abs(slow.q - slower.q).max() > 1e-3:
        found.append("alpha")
    return found


def _schedules(kind, small):
    """Return what a class calls YaRN and is LongRoPE, and whether it serves nothing else."""
    lists = {name: [1.0] * 48 for name in ("short_factor", "long_factor")}
    try:
        config = probe.CONFIG_MAPPING[kind](**small, rope_scaling={"type": "yarn"} | lists)
    except Exception:  # a class that wants more for this schedule
        return {}
    if (config.to_dict().get("rope_parameters") or {}).get("rope_type") != "longrope":
        return {}
    return {"earlier": {"yarn": "longrope"}, "serves": ["default", "longrope"]}


def _base(kind, default, small, turned):
    """Return the entry that moves the base, and whether a norm undoes a schedule's gain."""
    rope = default.get("rope_parameters") or {}
    if any(isinstance(part, dict) or part is None for part in rope.values()):
        return {}
    found = {"base_entry": ""}
    for name in ("rope_theta", "rotary_emb_base"):  # the latter in GPT-NeoX's configurations
        moved = probe.CONFIG_MAPPING[kind](**small, **{name: 37_000.0}).to_dict()["rope_parameters"]
        if moved.get("rope_theta") == 37_000.0:
            found = {"base_entry": name} if name != "rope_theta" else {}
            break
    if rope.get("rope_type", "default") != "default":
        return found
    louder = rope | {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512}
    try:
        call = next(
            c
            for c in probe.run(
                probe.build(probe.CONFIG_MAPPING[kind](**small, rope_parameters=louder)), POSITIONS
            )
        )
    except Exception:  # a class that refuses this schedule
        return found
    plain = next(iter(turned.values()))
    ratio = np.linalg.norm(call.q[:, 0]) / plain["size"]
    return found | ({"normed_after": True} if abs(ratio - 1) < 1e-5 else {})


def _labels(rows, here, defaults):
    """Return the name under which each type of layer finds its rotation, if not its own."""
    rope = defaults.get("rope_parameters") or {}
    parts = {label: part for label, part in rope.items() if isinstance(part, dict)}
    found = {}
    for n, (call, row) in rows.items():
        if parts and here[n] not in rope and row.get("pairing_after") and here[n] not in found:
            width = row["block"]
            last = width // 2 - 2
            first = row["first"] + (last if row["pairing_after"] == "half" else 2 * last)
            second = first + (width // 2 if row["pairing_after"] == "half" else 1)
            z = call.q[0, :, first] + 1j * call.q[0, :, second]
            angle = abs(np.angle(z[-1] / z[0]))  # the slowest pairs stay below half a turn
            apart = {
                label: abs(POSITIONS[-1] * part["rope_theta"] ** (-2 * last / width) - angle)
                for label, part in parts.items()
            }
            found[here[n]] = min(apart, key=apart.get)
    return found


def cycle(types, small, kind):
    """Return the shortest cycle that gives a class's layers, with its first and last ones."""
    for last in (None, types[-1]):
        body = types if last is None else types[:-1]
        for size in range(1, 9):
            if all(body[n] == body[n % size] for n in range(len(body))):
                rule = {"cycle": body[:size]}
                if last:
                    rule["last"] = last
                if small[-1] != body[(len(small) - 1) % size]:
                    rule["last"] = small[-1]
                return rule | _every(kind, small) | _always(kind, small)
    for start in range(1, 6):
        for size in range(1, 7):
            body = types
            if all(body[n] == body[n + size] for n in range(start, len(body) - size)):
                turn = (-start) % size
                piece = body[start : start + size]
                return {"cycle": piece[turn:] + piece[:turn], "head": body[:start]}
    raise ValueError(f"its layer types have no cycle: {types}")


def _every(kind, small):
    """Return the entry that says how many layers a cycle has, found by changing it."""
    for name, period in itertools.product(PERIODS, (3, 4)):
        try:
            said = probe.small(kind) | {name: period}
            changed = probe.CONFIG_MAPPING[kind](**said).to_dict()["layer_types"]
        except Exception:  # an entry that this class does not have
            continue
        if changed != small and len(set(changed)) > 1:
            turning = {"turning": small[0]} if name == "no_rope_layer_interval" else {}
            return {"every": name} | turning
    return {}


def _always(kind, small):
    """Return whether a class makes its last layer what it is by default, whatever is listed."""
    try:
        listed = {"layer_types": [small[0]] * len(small)}
        made = probe.CONFIG_MAPPING[kind](**probe.small(kind) | listed).to_dict()["layer_types"]
    except Exception:  # a class that refuses such a list
        return {}
    return {"last": small[-1], "last_always": True} if made[-1] != small[0] else {}


def _louder(kind, scale):
    """Return whether YaRN's weights for all dimensions change the scale, as in DeepSeek's code."""
    rope = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512}
    rope |= {"rope_theta": 10_000.0, "mscale": 0.9, "mscale_all_dim": 0.7}
    own = probe.CONFIG_MAPPING[kind]().to_dict().get("rope_parameters") or {}
    rope |= {name: own[name] for name in ("llama_4_scaling_beta",) if name in own}
    config = probe.CONFIG_MAPPING[kind](**probe.small(kind) | {"rope_parameters": rope})
    call = probe.run(probe.build(config), [0, 1])[0]
    return abs(call.options["scaling"] / scale - 1) > 1e-5


def _windowed(kind, here):
    """Return the window of each type of layer that has one where the configuration says one."""
    try:
        config = probe.CONFIG_MAPPING[kind](**probe.small(kind) | {"sliding_window": ASKED})
        calls = probe.run(probe.build(config), POSITIONS)
    except Exception:  # a class that wants more than this entry
        return {}
    found = {}
    for n, call in enumerate(calls):
        if window := call.options.get("sliding_window"):
            found[here[getattr(call.module, "layer_idx", n)]] = window
    return found


def _others(kind, rows, here, defaults, default):
    """Return what queries see, scale, sinks, softcap and windows."""
    call, row = next(iter(rows.values()))
    found = {} if sees(call, 0) == 1 else {"causal": False}
    scale, head_dim = row["scale"], row["head_dim"]
    if scale is not None:
        options = {
            "head_dim": head_dim**-0.5,
            "half": (head_dim / 2) ** -0.5,
            "one": 1.0,
            "query_pre_attn_scalar": (defaults.get("query_pre_attn_scalar") or 1e9) ** -0.5,
            "attention_multiplier": defaults.get("attention_multiplier", 1e9),
        }
        order = [
            name for name in ("query_pre_attn_scalar", "attention_multiplier") if name in defaults
        ] + ["head_dim", "half", "one"]
        found["scale"] = next(
            (name for name in order if abs(options[name] / scale - 1) < 1e-5), "head_dim"
        )
        if found["scale"] == "head_dim" and "qk_rope_head_dim" in defaults and _louder(kind, scale):
            found["scale"] = "mscale"
    sinks = {here[n] for n, (_, r) in rows.items() if r["sinks"]}
    if sinks:
        found["sinks"] = sorted(sinks)
    widths = {here[n]: r["head_dim"] for n, (_, r) in rows.items() if n < len(here)}
    if len(set(widths.values())) > 1:
        found["head_dims"] = widths
    if row["softcap"]:
        found["softcap"] = True
    window = next((default[name] for name in probe.WINDOWS if default.get(name)), None)
    if not default.get("sliding_window") and default.get("local_attention"):
        window //= 2  # on each side
    windowed = {here[n]: r["window"] for n, (_, r) in rows.items() if r["window"] and n < len(here)}
    if not window and "sliding_window" in default:  # null by default, and many releases say one
        window, windowed = ASKED, _windowed(kind, here)
    if window and windowed:
        found["windowed"] = sorted(windowed)
        found["window_plus"] = next(iter(windowed.values())) - window
    return found


if __name__ == "__main__":
    main()
