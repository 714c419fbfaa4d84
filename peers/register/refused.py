"""Architectures that a layer's record cannot describe, with what it lacks, measured.

python -m peers.register.refused        # writes src/posenc/register/refused.json

Each measure shows what the reason says. One that no longer does so stops the program: then the
class has changed, and may be read.
"""

import json

import torch
from transformers.models.dinov3_vit import modeling_dinov3_vit as dinov3
from transformers.models.timesfm2_5 import modeling_timesfm2_5 as timesfm
from transformers.models.vjepa2 import modeling_vjepa2 as vjepa2

from peers.register.remake import FAMILIES

STORED = FAMILIES.with_name("refused.json")
LEAST = 0.05  # of what is measured; rounding leaves less than a thousandth of that


def of_the_side():
    """Return how much slower a patch turns than its neighbour in a picture twice as wide."""
    turning = dinov3.DINOv3ViTRopePositionEmbedding(dinov3.DINOv3ViTConfig()).eval()
    pair, steps = turning.head_dim // 4, []  # the fastest one of width
    for n_patches in (4, 8):
        cos, sin = turning(torch.zeros(1, 3, *2 * [n_patches * turning.config.patch_size]))
        angles = torch.atan2(sin, cos)[:, pair]
        steps.append(torch.remainder(angles[1] - angles[0], 2 * torch.pi))
    return float(1 - steps[1] / steps[0])


@torch.no_grad()
def weighed():
    """Return how far scores of one distance differ from place to place, of the largest score."""
    few = {"hidden_size": 64, "head_dim": 16, "num_attention_heads": 4, "num_key_value_heads": 4}
    config = timesfm.TimesFm2_5Config(**few, attn_implementation="eager")
    torch.manual_seed(0)
    layer, seen = timesfm.TimesFm2_5Attention(config, 0), []
    for weight in (layer.scaling, layer.q_norm.weight, layer.k_norm.weight):
        weight.normal_(1, 0.5)
    positions = torch.arange(40)[None]
    tokens = torch.randn(1, 1, 64).expand(1, 40, 64)
    turns = timesfm.TimesFm2_5RotaryEmbedding(config)(tokens, positions)
    softmax = timesfm.nn.functional.softmax
    timesfm.nn.functional.softmax = lambda given, **how: seen.append(given) or softmax(given, **how)
    try:
        layer(tokens, turns, None)
    finally:
        timesfm.nn.functional.softmax = softmax
    same = seen[0].diagonal(-1, -2, -1)  # each query with the key just before it
    return float((same.amax(-1) - same.amin(-1)).max() / seen[0].abs().max())


def bent():
    """Return how much longer or shorter a pair becomes, of its length, where it should turn."""
    torch.manual_seed(0)
    x = torch.randn(1, 1, 16, 20)
    made = vjepa2.rotate_queries_or_keys(x, torch.arange(16))
    before, after = (rows.unflatten(-1, (-1, 2)).norm(dim=-1) for rows in (x, made))
    return float(((after - before).abs() / before).max())


REASONS = {
    "dinov3_vit": (
        of_the_side,
        "patches turn by their share of the picture's sides, so that pictures of other sizes turn "
        "them by other angles, and tokens before the patches do not turn; a layer's record has one "
        "angle for each step, for all tokens",
    ),
    "timesfm2_5": (
        weighed,
        "learned numbers weigh each dimension of queries and keys after they are turned, so that "
        "scores depend on where both stand, not on their distance alone; a layer's record has one "
        "scale for all dimensions",
    ),
    "vjepa2": (
        bent,
        "the two dimensions of a pair take two different angles, which is no turn; a layer's "
        "record has one angle for each pair",
    ),
}


def main() -> None:
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
