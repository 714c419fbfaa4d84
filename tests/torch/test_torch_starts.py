"""How encodings start: the same random numbers as ever, and again whenever somebody asks.

Stored trainings hang on what a seed gives, so `starts.json` holds it, written before anything could
be drawn anew. A processor of another kind rounds the last digit otherwise.
"""

import json
from pathlib import Path

import pytest
import torch

from posenc import encodings, models

SIZES = (16, 2, 40)
VARIANTS = {
    **{name: (name, {}) for name in encodings.names("all")},
    "learnable with a gain": ("learnable", {"scale": "learned", "std": 0.5}),
    "frequencies": ("learnable_frequency", {"base": 50.0, "scale": "learned"}),
    "tupe with a class token": ("tupe", {"cls_reset": True}),
    "all of Shaw": ("relative", {"values": True, "per_head": True, "max_distance": None}),
    "few buckets": ("t5", {"n_buckets": 8}),
    "gated sines": ("sine_spe", {"gated": True, "n_sines": 3}),
    "gated convolution": ("conv_spe", {"gated": True}),
    "a learned width": ("tpe", {"learn_sigma": True, "scale": "learned"}),
    "one for all heads": ("erpe", {"per_head": False}),
    "zeros": ("erpe", {"std": 0.0}),
    "power": ("kerple", {"kernel": "power"}),
    "near": ("deberta", {"max_distance": 3}),
    "narrow": ("fire", {"width": 5}),
    "learned series": ("fope", {"learn": True}),
    "lags": ("window_statistics", {"statistics": "winstat_lag"}),
    "mixed axes": ("axial_rotary", {"axes": "mixed"}),
}
STARTS = Path(__file__).with_name("starts.json")


def make(variant):
    name, options = VARIANTS[variant]
    torch.manual_seed(7)
    return encodings.make(name, *SIZES, **options)


def described(position):
    """Return numbers that tell one start from another, and the next random number."""
    drawn = {
        name: [x.numel(), *(float(n) for n in (x.mean(), x.square().mean(), x.flatten()[-1]))]
        for name, x in ((name, x.double()) for name, x in position.state_dict().items())
    }
    return {"state": drawn, "next": float(torch.rand(()))}


def same_state(one, other):
    one, other = one.state_dict(), other.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def spoil(position):
    for tensor in position.state_dict().values():
        tensor.fill_(9.0)


def test_a_seed_gives_what_it_always_gave():
    stored = json.loads(STARTS.read_text(encoding="utf-8"))
    assert stored.keys() <= VARIANTS.keys()
    assert len(stored) > 30
    for variant, wanted in stored.items():
        now = described(make(variant))
        assert now["next"] == wanted["next"], variant
        assert now["state"].keys() == wanted["state"].keys()
        for name, numbers in wanted["state"].items():
            assert now["state"][name] == pytest.approx(numbers, rel=1e-5, abs=1e-9), variant


@pytest.mark.parametrize("device", ["cpu", "meta"])  # on the latter it is made without numbers
@pytest.mark.parametrize("variant", VARIANTS)
def test_parameters_are_drawn_anew_as_at_the_start(variant, device):
    first = make(variant)
    if not first.state_dict():
        return
    with torch.device(device):
        position = make(variant)
    assert {x.device.type for x in position.state_dict().values()} == {device}
    position = position.to_empty(device="cpu")
    spoil(position)
    torch.manual_seed(7)
    position.reset_parameters()
    assert same_state(position, first)
    assert all(p.requires_grad and p.is_leaf and p.grad is None for p in position.parameters())
    for dtype in (torch.float64, torch.bfloat16):
        position.to(dtype).reset_parameters()
        assert all(x.isfinite().all() for x in position.state_dict().values())


@pytest.mark.parametrize("name", encodings.names("series"))
def test_a_model_is_reset_as_torch_has_it(name):
    model = models.TimeSeriesTransformer(2, 3, 12, name, 16, 2, 2, 16)
    spoil(model)
    model.apply(lambda m: m.reset_parameters() if hasattr(m, "reset_parameters") else None)
    for layer in model.layers:
        for what, drawn in layer.attention.position.state_dict().items():
            assert not (drawn == 9).any(), what


if __name__ == "__main__":
    found = {variant: described(make(variant)) for variant in VARIANTS}
    STARTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
