"""Store what the probe measures of some architectures, for tests that run without transformers.

python -m peers.register.stored        # writes tests/register/probed.json
"""

import json
from pathlib import Path

import numpy as np

from peers.register import probe
from peers.register.analysis import describe
from peers.register.compare import POSITIONS, pairs, variations
from posenc import register
from posenc.register import Layer

STORED = Path(__file__).parents[2] / "tests/register/probed.json"
CASES = {
    "llama": ("llama3",),
    "gemma3_text": ("default", "llama3"),
    "cohere2": ("base",),
    "gpt_oss": ("default",),
    "deepseek_v3": ("yarn",),
    "glm4": ("default",),
    "gpt_neox": ("base",),
    "phi3": ("long", "short"),
    "gemma4_text": ("share",),
    "nanochat": ("base",),
    "olmo3": ("yarn",),
    "qwen3": ("yarn",),
    "modernbert": ("default",),
}
RELEASED = (  # a released model for each schedule that tables of released numbers hold
    "google/gemma-3-12b-it", "meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b",
    "deepseek-ai/DeepSeek-V3", "mlc-llm/phi-3_5", "google/gemma-4-26B-A4B",
)  # fmt: skip
OTHERS = {  # schedules that none of these tables holds, with numbers of ours
    "internlm3": {"rope_parameters": {"rope_type": "dynamic", "factor": 6.0, "rope_theta": 5e7},
                  "max_position_embeddings": 1024},
    "hunyuan_v1_dense": {"rope_parameters": {"rope_type": "dynamic", "factor": 1.0,
                                             "alpha": 1000.0, "rope_theta": 10_000.0}},
}  # fmt: skip
SAME = ("head_dim", "first", "pairing", "pairing_after", "direction")


def main() -> None:
    probe.limit_memory()
    found = [
        case(kind, name, probe.small(kind) | variations(kind)[name])
        for kind, names in CASES.items()
        for name in names
    ]
    found += [released(name) for name in RELEASED]
    found += [case(kind, "dynamic", probe.small(kind) | said) for kind, said in OTHERS.items()]
    STORED.write_text("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]\n")


def released(name):
    """Return a released model with few and small layers; heads and schedule are as released."""
    said = dict(register.reading.released()[name]["config"])
    kind = said.pop("model_type")
    small = probe.small(kind)
    width = said.get("head_dim") or said["hidden_size"] // said["num_attention_heads"]
    few = small["num_hidden_layers"]
    said |= {entry: small[entry] for entry in ("num_hidden_layers", "num_attention_heads")}
    said |= {"hidden_size": small["num_attention_heads"] * width}
    said |= {"layer_types": said["layer_types"][:few]} if "layer_types" in said else {}
    return case(kind, name, small | said)


def gains(kind, config, calls):
    """Return how much longer a schedule makes what turns, in each layer."""
    base = (config.get("rope_scaling") or config.get("rope_parameters") or {}).get("rope_theta")
    plain = {name: config[name] for name in config if name != "rope_scaling"}
    own = probe.CONFIG_MAPPING[kind]().to_dict()["rope_parameters"]
    if not any(isinstance(part, dict) for part in own.values()):  # the class has plain ones itself
        theta = config.get("rope_theta") or base
        plain["rope_parameters"] = {"rope_type": "default", "rope_theta": theta}
    others = probe.run(probe.build(probe.CONFIG_MAPPING[kind](**plain)), POSITIONS)
    found = []
    for call, other in zip(calls, others, strict=True):
        turned = slice(describe(call).get("first"), None)
        sizes = [np.linalg.norm(one.q[:, 0, turned]) for one in (call, other)]
        found.append(float(f"{sizes[0] / sizes[1]:.6g}"))
    return found


def case(kind, name, config):
    """Return a configuration with what the probe measures of its first layer of each type."""
    given = json.loads(json.dumps(config))
    calls = probe.run(probe.build(probe.CONFIG_MAPPING[kind](**config)), POSITIONS)
    scaled = "/" in name or name == "dynamic"
    louder = gains(kind, json.loads(json.dumps(given)), calls) if scaled else [None] * len(calls)
    layers, seen = [], set()
    for n, call in enumerate(calls):
        row = describe(call)
        kept = {key: row.get(key) for key in SAME}
        if row["turning"] and (shape := json.dumps([kept, row["window"]])) not in seen:
            seen.add(shape)
            gain = {} if louder[n] is None else {"gain": louder[n]}
            layers.append({"layer": n, **kept, **gain, "inv_freq": frequencies(call.q, row)})
    entries = register.reading.families()[kind]["defaults"]
    said = {
        key: given[key]
        for key in given
        if key in entries or key.startswith(("rope", "rotary")) or key == "head_dim"
    }
    said |= {key: given[key] for key in ("layer_types",) if key in given}
    return {
        "name": name,
        "config": {"model_type": kind, **said},
        "length": POSITIONS[-1] + 1,
        "layers": layers,
    }


def frequencies(q, row):
    """Return each pair's frequency; each place tells the whole turns of the next, larger one."""
    shape = Layer(pairing_after=row["pairing_after"], first=row["first"])
    first, second = pairs(shape, row["block"] // 2)
    z = q[0][:, first] + 1j * q[0][:, second]
    turned = np.angle(z / z[0]) * row["direction"]
    omega = turned[1]
    for n, place in enumerate(POSITIONS[2:], 2):
        turns = np.round((omega * place - turned[n]) / (2 * np.pi))
        omega = (turned[n] + 2 * np.pi * turns) / place
    return [float(f"{w:.7g}") for w in omega]


if __name__ == "__main__":
    main()
