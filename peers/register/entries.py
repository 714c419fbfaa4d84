"""Change each entry that a class takes, once, and hold the layer against what is read from that.

python -m peers.register.entries [NAME ...]      # writes results/register-entries.json

An entry either changes the description, or the layer is compared with the description that it does
not change. So nothing that moves a layer can be passed over without a line that says so.
"""

import copy
import dataclasses
import inspect
import json
import re
import signal
import sys
from pathlib import Path

import transformers

from peers.register import compare, own, probe, scores
from peers.register.analysis import Differs
from peers.register.remake import write
from posenc import register
from posenc.register import reading

PATIENCE = 40  # seconds for one layer
STORED = Path(__file__).parents[2] / "results/register-entries.json"
GENERAL = {field.name for field in dataclasses.fields(transformers.PreTrainedConfig)}
TAKEN = re.compile(r'(?:kwargs\.(?:pop|get|setdefault)|(?:get|has)attr\(self,)\(?\s*"([a-z]\w+)"')
ASKED = re.compile(r'(?:get|has)attr\(\s*(?:self\.)?config,\s*"([a-z]\w+)"')
ROTATION = (
    "rope_scaling", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings",
)  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 8.0, "rope_theta": 10_000.0}
SAID = {
    "rope_scaling": [{"rope_type": "linear", "factor": 4.0}],
    "partial_rotary_factor": [0.25, 0.5],
    "original_max_position_embeddings": [512],
    "layer_rope_theta": [[37_000.0 + n for n in range(8)]],
    "rotary_dim": [32],
    "attn_layer_indices": [[0, 3]],
    "num_attention_heads_per_layer": [[4, *[8] * 7]],
    "max_window_layers": [2],
    "global_attn_every_n_layers": [2, 1],
    "attn_config": [{"softmax_scale": 0.25}],
    "linear_attn_config": [{"full_attn_layers": [1], "kda_layers": [2, 3, 4, 5]}],
    "attention_types": [[[["local", "global"], 1]]],
    "pos_att_type": [["c2p"]],
    "attn_type": ["uni"],
}
WINDOW = {"sliding_window": 5, "max_window_layers": 3}
BESIDE = {  # entries that speak only where others do
    "max_window_layers": WINDOW | {"use_sliding_window": True},
    "use_sliding_window": WINDOW,
    "original_max_position_embeddings": {"rope_parameters": YARN},
    "max_relative_positions": {"relative_attention": True},
    "position_buckets": {"relative_attention": True},
    "pos_att_type": {"relative_attention": True},
}
PLAIN = re.compile(  # what hardly ever has to do with positions is changed together first
    "drop|eps|initializer|init_std|_token_id|vocab|act$|activation|bias|use_cache|^tie|router|"
    "intermediate|loss|logits|summary|pretraining|mlp|moe|expert|routed|topk|_group$|^mask_|classifier"
)
ROTATES = re.compile("rope|rot")  # to be named where a class ignores them
HEADS = "its heads are num_key_value_heads times num_experts_per_tok, whatever else is said"
UNTOLD = {
    ("doge", "is_moe"): "experts that weigh the same are chosen by rounding, which the probe sees",
    ("jetmoe", "num_key_value_heads"): HEADS,
    ("jetmoe", "num_experts_per_tok"): HEADS,
}
SMALLER = {
    "whisper": {"max_source_positions": 60},
    "kimi_linear": {"num_hidden_layers": 5},
    "glm5_next_text": {
        "layer_types": ["linear_attention", "indexed_attention"],
        "num_hidden_layers": 2,
        "linear_num_heads": 4,
    },
    "falcon_h1": {"num_hidden_layers": 1},
    "nemotron_h": {"layers_block_type": ["linear_attention", "full_attention"]},
    "zamba2": {"layers_block_type": ["linear_attention", "hybrid"], "num_hidden_layers": 2},
}
SIZES = {*probe.HEADS, *probe.WIDTH, *probe.LAYERS, "max_position_embeddings", "n_positions"}
UNSAID = (  # for entries that a class leaves open: what their names ask for
    ("drop", [0.25]), ("theta", [37_000.0]), ("window", [5]), ("dim|size|rank", [32, 64]),
    ("pattern|interval|every|freq", [3, 2]), ("bias|use_|tie|is_", [True]),
    ("heads|layers|num|idx", [2, 4, [0, 3], [2, 3]]),
)  # fmt: skip


def main() -> None:
    probe.limit_memory()
    signal.signal(signal.SIGALRM, _late)
    held = json.loads(STORED.read_text())["architectures"] if sys.argv[1:] else {}
    for kind in sys.argv[1:] or register.names():
        held[kind] = architecture(kind)
        print(kind, {name: len(part) for name, part in held[kind].items()}, flush=True)
        for name, value in held[kind]["differs"].items():
            print("  differs:", name, value, flush=True)
        keep(held)


def keep(held):
    """Store what was found, and give each architecture the names that its class takes."""
    lines = (f"{json.dumps(kind)}: {json.dumps(held[kind])}" for kind in sorted(held))
    STORED.write_text(
        f'{{"transformers": "{transformers.__version__}",\n"beside": {json.dumps(BESIDE)},\n'
        '"architectures": {\n' + ",\n".join(lines) + "\n}}\n"
    )
    families = reading.families()
    for kind in held.keys() & families.keys():
        known = [*held[kind]["reads"]]
        chooses = "choices" in families[kind]  # then an entry may speak beside another's value
        known += [n for n in held[kind]["nothing"] if chooses or not ROTATES.search(n)]
        known += BESIDE.keys() & held[kind]["unbuilt"].keys()
        families[kind]["takes"] = sorted(filter(reading.SOUNDS.search, known))
    write(families)


def architecture(kind):
    """Return the names of a class, parted by what a change of each does.

    `reads`: the description changes, or the change is refused. `nothing`: neither it nor the layer
    changes. `unbuilt`: no change that was tried can be built, and why. `differs`: the layer is
    another than is read; sizes that are read are not compared. The register is told what a class
    ignores though other classes read it; what moves layers in a way that it cannot describe, and
    what it reads wrongly, it then refuses.
    """
    family, default = reading.families()[kind], probe.CONFIG_MAPPING[kind]().to_dict()
    for name in ("ignores", "refuses", "misreads"):
        family.pop(name, None)
    family["takes"] = names(kind)  # none of them is another family's while it is asked
    found = {where: {} for where in ("base", "reads", "nothing", "unbuilt", "differs")}
    parted = together(kind, [name for name in names(kind) if PLAIN.search(name)])
    parted |= {name: tried(kind, name) for name in names(kind) if name not in parted}
    ignored = [name for name, (where, _) in parted.items() if where == "ignored"]
    family |= {"ignores": ignored} if ignored else {}
    refused = {name: default.get(name) for name, (where, _) in parted.items() if where == "moves"}
    family |= {"refuses": refused} if refused else {}
    misread = [name for name, (where, _) in parted.items() if where == "misread"]
    family |= {"misreads": misread} if misread else {}
    parted |= {name: tried(kind, name) for name in (*ignored, *refused, *misread)}
    for name, (where, said) in parted.items():
        found[where if where in found else "differs"][name] = said
    small = base(kind)
    found["base"] = {name: small[name] for name in small if name in found["reads"]}
    return found


def names(kind):
    """Return what a class takes: its own arguments, and what its code asks of keyword arguments."""
    config = probe.CONFIG_MAPPING[kind]
    own_fields = {field.name for field in dataclasses.fields(config)} - GENERAL
    own_code = [one for one in config.__mro__ if one.__module__.startswith("transformers.models")]
    taken = {name for one in own_code for name in TAKEN.findall(inspect.getsource(one))}
    modeling = sys.modules[probe.class_of(config()).__module__] if kind not in own.RULES else None
    if modeling is not None:
        taken |= set(ASKED.findall(inspect.getsource(modeling)))
    if "rope_parameters" in own_fields:
        taken |= {*ROTATION}
    return sorted(
        name for name in own_fields | taken | {*config.attribute_map}
        if not name.startswith("_") and name not in GENERAL
    )  # fmt: skip


def base(kind):
    """Return what makes a configuration of a class small."""
    return (own.small(kind) if kind in own.RULES else probe.small(kind)) | SMALLER.get(kind, {})


def together(kind, plain):
    """Return which names do nothing where all are changed at once, or else half of them."""
    changes = {name: others(kind, name)[0] for name in plain}
    try:
        if not reads(base(kind), kind, {}, changes):
            layer(kind, copy.deepcopy(changes))
            return {name: ("nothing", value) for name, value in changes.items()}
    except Exception:  # one of them matters, or does not go with another
        pass
    if len(plain) < 4:
        return {}
    half = len(plain) // 2
    return together(kind, plain[:half]) | together(kind, plain[half:])


def tried(kind, name):
    """Return what the first change of an entry that can be built does, and the change."""
    refused, problem = None, "no other value is known"
    if (kind, name) in UNTOLD:
        return "unbuilt", UNTOLD[kind, name]
    try:
        register.read({"model_type": kind} | base(kind) | copy.deepcopy(BESIDE.get(name, {})))
    except register.ConfigError:
        return "unbuilt", "what it speaks beside is refused here"
    for value in others(kind, name):
        changes = BESIDE.get(name, {}) | {name: value}
        try:
            changed = reads(base(kind), kind, BESIDE.get(name, {}), changes)
        except register.ConfigError:
            refused = value
            continue
        if changed and name in SIZES:
            return "reads", value
        try:
            layer(kind, copy.deepcopy(changes))
        except Differs as error:
            if not changed:
                return "moves", value
            print("  read otherwise:", kind, name, value, str(error)[:100], flush=True)
            return _still(kind, name, changes, BESIDE.get(name, {})) or ("misread", value)
        except Exception as error:  # a value that this class cannot have, or not alone
            problem = f"{type(error).__name__}: {error}".split("\n")[0][:100]
            if changed:
                return "reads", value
            continue
        return ("reads" if changed else "nothing"), value
    return ("unbuilt", problem) if refused is None else ("reads", refused)


def reads(small, kind, before, after):
    """Return whether a change of a configuration changes what is said of it."""
    one, other = (
        register.read(json.loads(json.dumps({"model_type": kind} | small | changes)))
        for changes in (before, after)
    )
    return reading_of(one) != reading_of(other)


def reading_of(description):
    """Return what a description says, sources apart."""
    layers = [dataclasses.replace(layer, sources={}) for layer in description.layers]
    return layers, description.length, description.trained, description.outside


def _still(kind, name, changes, before):
    """Return that a class ignores an entry, where its layer is what is read without that entry."""
    try:
        layer(kind, copy.deepcopy(changes), before)
    except Exception:  # it is another one, or cannot be told
        return None
    return "ignored", changes[name]


def layer(kind, changes, said=None):
    """Compare a changed layer with what is read of it, or of what is said in its place."""
    few = SMALLER.get(kind, {})
    said = said if said is None else few | said
    signal.alarm(PATIENCE)
    try:
        return (scores if kind in own.RULES else compare).compare(kind, few | changes, said)
    finally:
        signal.alarm(0)


def _late(*_):
    raise TimeoutError(f"no answer within {PATIENCE} seconds")


def others(kind, name):
    """Return values to change an entry to, in the order in which they are tried."""
    default = probe.CONFIG_MAPPING[kind]().to_dict()
    value = base(kind).get(name, default.get(name))
    if name in SAID:
        return SAID[name]
    if name == "rope_parameters":
        return [_turned(value or {})]
    if name == "layer_types" and value:
        few = base(kind).get("num_hidden_layers", len(value))
        return [value[:few][::-1], [value[0]] * few, [value[-1]] * few]
    if value is None:
        return next((v for part, v in UNSAID if re.search(part, name)), [True, 3, 0.5, "x"])
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        less = [value // 2] if value > 3 else []  # which is built sooner
        return [*less, *(n for n in (2 * value, value + 1, value + 7) if n != value)]
    if isinstance(value, float):
        return [2 * value, value / 2, value + 0.25] if value else [0.25]
    if isinstance(value, str):
        return [one for one in ("relu", "gelu", "x") if one != value]
    if isinstance(value, list) and value:
        return [value[::-1], value[1:] + value[:1], [value[0]] * len(value), [*value, value[0]]]
    return [[0], {"a": 1}]


def _turned(rope):
    """Return a class's parameters of rotation with another base for each."""
    if any(isinstance(part, dict) for part in rope.values()):
        return {label: part and part | {"rope_theta": 37_000.0} for label, part in rope.items()}
    return rope | {"rope_theta": 37_000.0}


if __name__ == "__main__":
    main()
