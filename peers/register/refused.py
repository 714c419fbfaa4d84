"""Architectures that a layer's record cannot describe, with what it lacks, measured.

python -m peers.register.refused        # writes src/posenc/register/refused.json

Each measure shows what the reason says. One that no longer does so stops the program: then the
class has changed, and may be read.
"""

import json
from collections import Counter

import torch

from peers.register import probe
from peers.register.remake import FAMILIES

STORED = FAMILIES.with_name("refused.json")
LEAST = 0.05  # of what is measured
TWICE = (
    "some of its layers are run several times over, and add to what earlier runs left; a "
    "description has one entry for each layer, run once"
)


@torch.no_grad()
def again(kind, attention):
    """Return how many more times attention runs than there are layers, of their number."""
    small = probe.small(kind) | SMALLER[kind]
    config = probe.CONFIG_MAPPING[kind](**small)
    model, seen = probe.class_of(config)(config).eval(), Counter()
    for module in model.modules():
        if type(module).__name__.endswith(attention):
            module.register_forward_hook(lambda one, *_: seen.update([one]))
    model(input_ids=torch.full((1, 4), 5), use_cache=False)
    return sum(seen.values()) / len(seen) - 1


SMALLER: dict[str, dict] = {
    "dory": {"num_hidden_layers": 6, "n_input_layers": 2, "n_output_layers": 2},
    "inkling2_loop_text": {
        "num_hidden_layers": 6,
        "n_layers_per_attn_res_block": 2,
        "loop_layer_index_start": 2,
        "loop_layer_index_end": 4,
    },
}
REASONS = {
    "dory": (lambda: again("dory", "Attention"), TWICE),
    "inkling2_loop_text": (
        lambda: again("inkling2_loop_text", ("SlidingAttention", "FullAttention")), TWICE,
    ),
}  # fmt: skip


def main() -> None:
    probe.limit_memory()
    found = {}
    for kind, (measure, why) in REASONS.items():
        size = measure()
        print(f"{kind}: {size:.3g}")
        if not size > LEAST:
            raise SystemExit(f"{kind} no longer does what its reason says: {size:.3g}")
        found[kind] = why
    STORED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
