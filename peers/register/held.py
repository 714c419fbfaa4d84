"""Hold released configurations, with few and small layers, against transformers' own layers.

python -m peers.register.held             # the dated models; writes results/register-released.json
python -m peers.register.held FILE ...    # any config.json, by what `posenc.register` keeps of it

Layers and heads become few, and heads stay as wide as they are. What is read of the small model
must be what is read of the released one, layer by layer, and what its layers do.
"""

import copy
import dataclasses
import json
import sys
from pathlib import Path

import transformers

from peers.register import compare, probe
from peers.register.analysis import Differs
from peers.register.released import kept
from posenc import register
from posenc.register import reading

STORED = Path(__file__).parents[2] / "results/register-released.json"
FEW = 6  # layers, or as many as there are before the first with attention
SMALLER = ("n_heads", "sources")  # what of a layer has another size in the small model


def main() -> None:
    probe.limit_memory()
    asked = sys.argv[1:]
    names = asked or [name for name, one in reading.released().items() if "released" in one]
    found = {name: model(name) for name in names}
    equal = [name for name, row in found.items() if "problem" not in row]
    print(f"{len(equal)} of {len(found)} are what transformers' layers do")
    if not asked:
        held = {"transformers": transformers.__version__, "models": found}
        STORED.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n")


def model(name):
    """Return the largest difference in tolerances and the layers compared, or what differs."""
    try:
        said = reading.released().get(name, {}).get("config") or kept(name, reading.load(name))
        row = compared(said)
    except Exception as error:  # recorded as this model's result
        row = {"problem": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
    print(f"{name:50} {row}", flush=True)
    return row


def compared(said):
    """Return how far a small model of a configuration is from what is read of it."""
    whole = register.read(said)
    changes = small(said, whole)
    config = copy.deepcopy(probe.small(whole.family) | changes)
    same(whole, register.read(config | {"model_type": whole.family}))
    row, _ = compare.compare(whole.family, changes)
    return {"family": whole.family, "of": len(whole.layers)} | row


def small(said, whole):
    """Return a configuration's entries with few layers and few heads of the same width."""
    n_layers = len(whole.layers)
    first = next(n for n, layer in enumerate(whole.layers) if layer.kind != "none")
    n_few = max(FEW, first + 1)
    few = probe.small(whole.family, n_few)
    found = {
        name: cut(value, n_layers, n_few) for name, value in said.items() if name != "model_type"
    }
    width = next(one.head_dim for one in whole.layers if one.head_dim)
    for name in (*probe.HEADS, *probe.LAYERS, "num_key_value_heads"):
        if name in found:
            found[name] = few.get(name, n_few if name in probe.LAYERS else 4)
    times = reading.families()[whole.family].get("width_times", 1)
    latent = any(name in found for name in ("qk_rope_head_dim", "kv_lora_rank"))
    for name in probe.WIDTH:
        if name in found:
            found[name] = few[name] if latent else 4 * width // times
    for name in ("index_n_heads", "kv_lora_rank", "q_lora_rank", "vocab_size"):
        if name in found and name in few:
            found[name] = few[name]
    for name in reading.families()[whole.family].get("types_entries", ()):
        if name in few and name not in found:
            found[name] = None  # the released one lists its layers under another name
    if isinstance(block := found.get("sparse_attention_config"), dict):
        block["sparse_local_block"] = 0  # else places with gaps fail
    switch = reading.families()[whole.family].get("turns_if", {}).get("entry")
    if switch and switch not in found:  # what a small configuration says of it is none of these
        found[switch] = getattr(probe.CONFIG_MAPPING[whole.family](), switch)
    return found


def cut(value, n_layers, n_few):
    """Return what is said of each layer for the first few, and numbers of layers among them."""
    if isinstance(value, str | list) and len(value) >= n_layers > n_few:
        return value[:n_few]
    if isinstance(value, dict):
        numbered = ("full_attn_layers", "kda_layers")
        return {
            name: [n for n in one if n <= n_few] if name in numbered else cut(one, n_layers, n_few)
            for name, one in value.items()
        }
    return value


def same(whole, part):
    """Raise Differs where a small model is read as another than the first layers of the whole."""
    for n, (one, other) in enumerate(zip(whole.layers, part.layers, strict=False)):
        for name in (field.name for field in dataclasses.fields(one)):
            a, b = getattr(one, name), getattr(other, name)
            if name not in SMALLER and a != b:
                raise Differs(f"layer {n}: {name}: {a!r:.50} in the whole, {b!r:.50} in the small")


if __name__ == "__main__":
    main()
