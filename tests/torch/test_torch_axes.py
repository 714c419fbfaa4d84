"""Every door of every encoding refuses tensors of other axes than it is made for."""

import re

import pytest
import torch

from posenc import encodings
from posenc.attention import Places, Position

BATCH, LENGTH, HEADS, WIDTH = 2, 9, 4, 16
D_MODEL = HEADS * WIDTH
X = torch.randn(BATCH, LENGTH, D_MODEL)
Q = torch.randn(BATCH, HEADS, LENGTH, WIDTH)

WRONG_HEADS = {
    "tokens": X,
    "one series": Q[0],
    "five axes": Q[None],
    "length before heads": Q.transpose(1, 2),
    "heads too wide": torch.randn(BATCH, HEADS, LENGTH, 8 * WIDTH),
    "heads too narrow": torch.randn(BATCH, HEADS, LENGTH, WIDTH // 2),
    "one number": torch.randn(BATCH, HEADS, LENGTH, 1),
    "other heads": torch.randn(BATCH, 3, LENGTH, WIDTH),
    "more heads": torch.randn(BATCH, 2 * HEADS, LENGTH, WIDTH),
    "no tensor": Q.numpy(),
}
WRONG_TOKENS = {"one series": X[0], "heads": Q, "no tensor": X.numpy()}
WRONG_ADDED = {"too wide": X.repeat(1, 1, 2), "too narrow": X[..., :8], "one number": X[..., :1]}
NAMES = [*encodings.names("all"), *encodings.names("axes")]


def make(name):
    torch.manual_seed(0)
    return encodings.make(name, D_MODEL, HEADS, 64)


def inputs(door):
    """Return what a door takes, by name."""
    taken = {"embed": "x", "rotate": "qk", "bias": "xqk", "mix": "x", "carry": "v"}
    return {name: X if name == "x" else Q for name in taken.get(door, ["out"])}


def places(position):
    """Return what else an encoding of several axes needs to know."""
    if position.n_axes == 1:
        return {}
    at = torch.randint(4, (LENGTH, position.n_axes)).double()
    return {"places": Places.at(at, X, position.n_axes)}


def wrong_ones(door, deaf):
    """Yield each input of a door with what it must not be.

    A bias that is deaf to queries takes tokens in their place.
    """
    for name in inputs(door):
        wrong = WRONG_HEADS if name != "x" else WRONG_TOKENS
        wrong = wrong | WRONG_ADDED if door == "embed" else wrong
        for what, value in wrong.items():
            if not (deaf and name != "x" and what == "tokens"):
                yield name, what, value


OPEN = [(name, door) for name in NAMES for door in encodings.get(name).doors()]


@pytest.mark.parametrize(("name", "door"), OPEN)
def test_a_door_takes_the_axes_it_is_made_for_and_refuses_others(name, door):
    position, right = make(name), inputs(door)
    where = places(position)
    getattr(position, door)(**right, **where)
    deaf = door == "bias" and torch.equal(
        position.bias(X, Q, Q, **where), position.bias(X, -Q, -Q, **where)
    )
    for argument, _, value in wrong_ones(door, deaf):
        got = str(tuple(value.shape)) if isinstance(value, torch.Tensor) else "ndarray"
        due = f"d_model = {D_MODEL}" if argument == "x" else f"d_head = {WIDTH}"
        said = rf"^{argument} must have shape \(batch, .*{due}\) in .*\.{door}, got "
        by_name = right | {argument: value}
        with pytest.raises(ValueError, match=said + re.escape(got)):
            getattr(position, door)(**by_name, **where)
        with pytest.raises(ValueError, match=said + re.escape(got)):
            getattr(position, door)(*by_name.values(), *where.values())


def test_a_message_shows_the_way():
    rotary = make("rotary")
    with pytest.raises(ValueError, match=r"looks like \(batch, length, heads, d_head\)") as raised:
        rotary.rotate(Q.transpose(1, 2), Q)
    assert "; q.transpose(1, 2) puts the heads first" in str(raised.value)
    with pytest.raises(ValueError, match=r"looks like \(batch, length, d_model\)") as raised:
        rotary.rotate(Q, X)
    assert "; k.unflatten(-1, (4, 16)).transpose(1, 2) makes the heads" in str(raised.value)
    assert X.unflatten(-1, (4, 16)).transpose(1, 2).shape == Q.shape


def test_partial_rotary_checks_the_whole_head():
    position = encodings.make("rotary", D_MODEL, HEADS, 64, share=0.5)
    assert torch.equal(position.rotate(Q, Q)[0][..., WIDTH // 2 :], Q[..., WIDTH // 2 :])
    with pytest.raises(ValueError, match="d_head = 16"):
        position.rotate(Q[..., :8], Q[..., :8])


class Turned(Position):
    def rotate(self, queries, keys):
        return -queries, keys


class Wide(Position):
    def rotate(self, q, k):
        return torch.cat((q, q), -1), torch.cat((k, k), -1)

    def bias(self, x, q, k):  # noqa: ARG002
        return q @ k.mT


class Shift:
    def embed(self, x):
        return x + 1


class Shifted(Shift, Position):
    pass


class Later(Shifted):
    pass


OWN = [(cls, door) for cls in (Turned, Later) for door in cls.doors()]


@pytest.mark.parametrize(("cls", "door"), OWN)
def test_ones_own_encoding_refuses_other_axes_too(cls, door):
    position = cls(D_MODEL, HEADS, 64)
    right = list(inputs(door).values())
    getattr(position, door)(*right)
    order = list(inputs(door))
    for name, _, wrong in wrong_ones(door, False):
        i = order.index(name)
        with pytest.raises(ValueError, match=f"^{name} must have shape"):
            getattr(position, door)(*right[:i], wrong, *right[i + 1 :])


def test_queries_may_reach_a_bias_wider_than_they_were():
    position = Wide(D_MODEL, HEADS, 64)
    assert position.bias(X, *position.rotate(Q, Q)).shape == (BATCH, HEADS, LENGTH, LENGTH)
    with pytest.raises(ValueError, match=r"^q must have shape"):
        position.bias(X, X, Q)


def test_tokens_may_stand_for_queries_where_nobody_asks():
    for name in ("alibi", "t5", "kerple", "fire", "tupe", "tpe"):
        position, x = make(name), X.clone()
        assert torch.equal(position.bias(X, X, X), position.bias(X, Q, Q))
        assert torch.equal(position.bias(X, x, None), position.bias(X, Q, Q))
