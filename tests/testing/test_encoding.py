"""What `check_encoding` says of encodings of this library, and of those that lack something."""

# ruff: noqa: ARG002 - doors take what they do not need

import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.attention import Position
from posenc.testing import check_encoding


class Nearby(Position):
    """A penalty for distance, with a learned strength."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        self.strength = nn.Parameter(torch.ones(()))

    def bias(self, x, q, k, places):
        return -self.strength * places.offset().abs().to(q.dtype)


class Copied(Nearby):
    """The strength is taken as a number, which gets no gradient."""

    def bias(self, x, q, k, places):
        return -float(self.strength) * places.offset().abs().to(q.dtype)


class Nothing(Nearby):
    """It opens its door and lets nothing in."""

    def bias(self, x, q, k, places):
        return 0 * self.strength * places.offset().abs().to(q.dtype)


class WrongShape(Nearby):
    """A bias of its own size."""

    def bias(self, x, q, k, places):
        return self.strength * torch.zeros(7, 7)


def test_options_of_the_class_and_promises_stand_side_by_side():
    report = check_encoding(
        encodings.get("rotary"), pairing="half", layout="half", relative=True, measure=False
    )
    assert report.passed, str(report)
    other = check_encoding(encodings.get("rotary"), layout="half", measure=False)
    assert [one.name for one in other.failures] == ["pairs of dimensions are laid out as promised"]


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Copied, "every parameter gets a gradient"),
        (Nothing, "the order of tokens matters"),
        (Nothing, "a door is open, and a forward pass goes through it"),
        (WrongShape, "it answers, with one output for each token"),
        (encodings.get("sinusoidal"), "moving all tokens changes nothing"),
    ],
)
def test_what_is_missing_is_found(cls, name):
    report = check_encoding(cls, relative=True, measure=False)
    assert name in [one.name for one in report.failures], str(report)


def test_what_is_right_is_not_found():
    assert check_encoding(Nearby, relative=True, real_times=True, padding="both").passed


def test_what_is_no_encoding_is_refused():
    with pytest.raises(ValueError, match="derived from"):
        check_encoding(nn.Linear)
