"""Every encoding names a wrong size, and what it would take; a layer names a wrong input."""

import math

import pytest
import torch

from posenc import encodings
from posenc.attention import SelfAttention

NAMES = encodings.names("all") + encodings.names("axes")
SIZES = {"d_model": 16, "n_heads": 2, "max_length": 8}
WRONG = (None, "text", [], 0, -1, 0.5, math.nan, math.inf, True, 10**400, object())
INPUTS = {
    "two axes": torch.zeros(8, 16),
    "another width": torch.zeros(1, 8, 12),
    "whole numbers": torch.zeros(1, 8, 16, dtype=torch.long),
    "no tensor": [[0.0] * 16],
    "None": None,
}


@pytest.mark.parametrize("argument", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_size_is_named(name, argument):
    for value in WRONG:
        with pytest.raises(ValueError, match=rf"\b{argument}\b"):
            encodings.make(name, **{**SIZES, argument: value})


@pytest.mark.parametrize("name", [None, 3, "rotery", [], {}])
def test_a_wrong_name_is_named(name):
    with pytest.raises(ValueError, match="position must be one of none, sinusoidal"):
        encodings.make(name, **SIZES)


@pytest.mark.parametrize("what", INPUTS)
def test_a_wrong_input_is_named(what):
    layer = SelfAttention(16, 2, encodings.make("rotary", **SIZES))
    with pytest.raises((ValueError, TypeError), match=r"\bx\b"):
        layer(INPUTS[what])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_finite_stays_in_its_own_sequence_and_is_seen_there(name, value):
    """A layer does not look at values. A weight of 0 does not hide them: 0 times NaN is NaN."""
    if name in encodings.names("axes"):
        pytest.skip("wants positions")
    layer = SelfAttention(16, 2, encodings.make(name, **SIZES)).eval()
    x = torch.zeros(2, 8, 16)
    x[0, 5] = value
    out = layer(x)
    assert out[0].isnan().any()
    assert out[1].isfinite().all()
