"""Layers that tests ask, all parameters away from special values, and what they compare."""

# ruff: noqa: ARG002 - doors take all their arguments

import itertools

import torch
from torch import nn

from posenc import encodings
from posenc.attention import Cache, Position, SelfAttention, by_offset


class Nearby(Position):
    """A reader's encoding: each token prefers its neighbours. It counts the tokens itself."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        self.strength = nn.Parameter(torch.ones(n_heads, 1, 1))

    def bias(self, x, q, k):
        t = torch.arange(x.shape[1], device=x.device)
        return -self.strength * (t - t[:, None]).abs()


class NearbyInTime(Nearby):
    """The same for tokens that stand anywhere."""

    def bias(self, x, q, k, places):
        return -self.strength * places.offset().abs()


class NearbyByOffset(Nearby):
    """The same in the form that says most."""

    @by_offset
    def bias(self, offset):
        return -self.strength[..., 0] * offset.abs()


def awake(module, by=0.3, dtype=torch.float64):
    """Return a module in evaluation, all of whose parameters have moved at random."""
    with torch.no_grad():
        for parameter in module.to(dtype).parameters():
            parameter += by * torch.randn_like(parameter)
    return module.eval()


def layer(name, d_model=8, n_heads=2, length=12, cls=SelfAttention, options=None, **more):
    """Return a layer in float64 with an encoding of these options, away from special values."""
    torch.manual_seed(3)
    position = encodings.make(name, d_model, n_heads, length, **(options or {}))
    return awake(cls(d_model, n_heads, position, **more))


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def close(ours, expected, atol=1e-9):
    torch.testing.assert_close(ours, expected, rtol=0, atol=atol)


def close_in_gradients(ours, expected, inputs, atol=1e-9, rtol=0):
    """Compare outputs, and the gradients of all that they were computed from."""
    inputs, along = list(inputs), torch.randn_like(ours)
    found = [[out, *torch.autograd.grad(out, inputs, along)] for out in (ours, expected)]
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=rtol, atol=atol)


def in_parts(module, x, cuts, cache=None, **given):
    """Return the outputs of a sequence in parts that end at the cuts, beside a cache.

    Masks and positions that are given have the length as their last axis.
    """
    cache, parts = Cache() if cache is None else cache, []
    for a, b in itertools.pairwise((0, *cuts, x.shape[1])):
        here = {name: one[..., a:b] for name, one in given.items() if one is not None}
        parts.append(module(x[:, a:b], cache=cache, **here))
    return torch.cat(parts, 1)
