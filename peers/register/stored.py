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
}
SAME = ("head_dim", "first", "pairing", "pairing_after", "direction")


def main() -> None:
    probe.limit_memory()
    found = [case(kind, name) for kind, names in CASES.items() for name in names]
    STORED.write_text("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]\n")


def case(kind, name):
    """Return a configuration with what the probe measures of its first layer of each type."""
    config = probe.small(kind) | variations(kind)[name]
    given = json.loads(json.dumps(config))
    calls = probe.run(probe.build(probe.CONFIG_MAPPING[kind](**config)), POSITIONS)
    layers, seen = [], set()
    for n, call in enumerate(calls):
        row = describe(call)
        kept = {key: row.get(key) for key in SAME}
        if row["turning"] and (shape := json.dumps([kept, row["window"]])) not in seen:
            seen.add(shape)
            layers.append({"layer": n, **kept, "inv_freq": frequencies(call.q, row)})
    entries = register.reading.families()[kind]["defaults"]
    said = {
        key: given[key] for key in given if key in entries or key.startswith(("rope", "rotary"))
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
