"""What the checker says of layers that keep their promises, and of those who ask wrongly."""

from pathlib import Path

import pytest
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from posenc import encodings
from posenc.attention import SelfAttention, rope
from posenc.frequencies import geometric
from posenc.models import LanguageModel
from posenc.testing import check_attention

ROOT = Path(__file__).parents[2]


def ours(name, **options):
    position = encodings.make(name, 32, 4, 64)
    return SelfAttention(32, 4, position, causal=True, **options)


def model(name="rotary"):
    return LanguageModel(40, 32, 4, 2, position=name, max_length=24)


def turned(pairing):
    omega = geometric(16)

    def attention(q, k, v, positions):
        q, k = (rope(a, positions, omega, pairing=pairing) for a in (q, k))
        return scaled_dot_product_attention(q, k, v, is_causal=True)

    return lambda: attention


CORRECT = {
    "rotary": (
        lambda: ours("rotary", n_kv_heads=2),
        {
            "causal": True,
            "cached": True,
            "relative": True,
            "padding": "both",
            "layout": "interleaved",
            "dtypes": "bfloat16",
            "shared_heads": True,
            "real_times": True,
            "beyond": "exact",
            "longest": 100_000,
            "moves": True,
        },
    ),
    "window": (lambda: ours("alibi", window=3), {"causal": True, "window": 3, "relative": True}),
    "language model": (
        model,
        {"causal": True, "cached": True, "packing": True, "padding": "both", "order": True},
    ),
    "learned table": (
        lambda: model("learnable"),
        {"causal": True, "cached": True, "given_positions": True, "beyond": "refused"},
    ),
    "pairs of numbers": (
        lambda: SelfAttention(32, 4, encodings.make("axial_rotary", 32, 4, 64)),
        {"axes": 2},
    ),
    "no encoding": (lambda: nn.MultiheadAttention(16, 2, batch_first=True), {"order": False}),
    "encoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2, enable_nested_tensor=False
        ),
        {"order": False, "causal": False, "padding": "both", "moves": True},
    ),
    "length first": (lambda: nn.MultiheadAttention(16, 2), {"causal": True, "padding": "right"}),
    "half": (turned("half"), {"layout": "half", "causal": True, "relative": True}),
    "interleaved": (turned("interleaved"), {"layout": "interleaved", "dtypes": "bfloat16"}),
}


@pytest.mark.parametrize("name", CORRECT)
def test_what_is_right_passes(name):
    make, promises = CORRECT[name]
    report = check_attention(make, **promises)
    assert report.passed, str(report)
    report.raise_for_failures()
