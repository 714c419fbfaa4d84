"""Rotary encoding: queries and keys turn with their position, and values where asked."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from posenc import _checks, frequencies
from posenc.attention import Places, Position
from posenc.attention.places import Steps, constants
from posenc.attention.position import MESSAGE, made_of
from posenc.attention.turning import check_pairing, turn, turner, waves
from posenc.encodings.stretching import Stretching

_Turns = TypeVar("_Turns", Tensor, np.ndarray)


class Rotary(Position):
    """Turn pairs of query and key dimensions by t omega_i (Su et al. 2021, RoFormer, Eq. 14-16).

    A score then depends on positions through their difference only. The two pairings in use are
    a permutation of the head's dimensions apart; weights trained with one fail with the other.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`; `share * d_model / n_heads` must be even. Any length is served, and any
        real positions; angles beyond `max_length` are computed on the spot.
    base : float
        The frequencies are `base**(-2i / d)`, with d the dimensions of a head that turn; 1 or more.
    pairing : {"interleaved", "half"}
        Pairs are dimensions (2i, 2i + 1), as in the paper, or (i, i + d / 2), as in GPT-NeoX and
        LLaMA.
    share : float
        Share of a head's dimensions that turn; the others carry no position ("partial rotary",
        Black et al. 2022). Above 0, at most 1.
    first : int
        First dimension of those that turn, 0 by default. In heads of multi-head latent attention
        they come last (DeepSeek-AI 2024), so that `first` is what the share leaves.
    direction : {1, -1}
        1 turns as in the paper, -1 the other way round, as NanoChat does. Weights trained with one
        fail with the other.
    values : bool
        Whether values turn by their places, too, as in `RoVE`.
    back : bool
        Whether sums of values that turn are turned back by the place of their query. Without it
        outputs depend on where the text stands, as with RoFormer's `rotary_value`.
    keep : float
        Share of the pairs that keep their frequency, the fast ones; those of lowest frequency get
        0 and carry no position ("p-RoPE", Barbero et al. 2024). From 0 to 1.
    scaling : {"none", "linear", "ntk", "dynamic_ntk", "yarn", "llama3", "longrope"}
        How frequencies change for inputs longer than in training; see `posenc.schedules`.
        "dynamic_ntk" and "longrope" look at the length of the input: where rows of a batch have
        positions of their own, at the last position of each row, else at the length of the batch
        with its padding. Under `torch.compile` and `torch.func` transforms, which keep numbers
        from view, they serve tokens that count and refuse given positions.
    factor : float, optional
        How many times longer than in training, at least 1. By default `max_length` over
        `original_length`; 1 for "dynamic_ntk", which looks at the input.
    original_length : int, optional
        Tokens of a training sequence. "linear" and "ntk" look at it only where no `factor` is
        given; beside a factor, as configurations of models have it, it changes nothing.
    scaling_options : mapping, optional
        For "yarn" `beta_fast`, `beta_slow`, `ramp`, `truncate` and `attention_factor`; for "llama3"
        `low_freq_factor` and `high_freq_factor`; for "longrope" the lists `short_factor` and
        `long_factor`, and `attention_factor`. Where nothing is said, as published.

    Attributes
    ----------
    omega : array of shape (d / 2,)
        Angular frequencies in radians per position after scaling, for an input of `max_length`;
        with a minus where `direction` is -1.
    attention_factor : float
        What the turned dimensions are multiplied by, other than 1 for "yarn" and "longrope".

    Raises
    ------
    ValueError
        For a value or a combination that means nothing, and options that would be ignored, other
        than an `original_length` beside the `factor` of "linear" and "ntk" and a `factor` beside
        the `attention_factor` of "longrope"; in a forward pass, where a cache holds keys that a
        growing input would have to turn anew, and where a length is to follow from positions that
        are all below 0 or beyond 2**63, or that a transform keeps from view.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) per layer and batch row. Tables and turning are in
    float32 at least, also in a module of a half type. Values turn without the `attention_factor`,
    which is for scores. Under "dynamic_ntk" and "longrope" Hugging
    Face's layers turn all rows by the frequencies of the longest one; here a row with positions of
    its own is turned as if it were alone.

    Examples
    --------
    >>> q = torch.randn(1, 2, 5, 4)
    >>> turned, _ = Rotary(8, 2, 5).rotate(q, q)
    >>> bool(torch.allclose(turned.norm(dim=-1), q.norm(dim=-1)))
    True
    """

    cos: Tensor
    sin: Tensor
    omega = made_of("omega")
    _on_request = MESSAGE

    @property
    def shared(self) -> bool:
        """Whether one module serves every layer of a model: unless a derived class learns."""
        return next(self.parameters(), None) is None

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        pairing: str = "interleaved",
        share: float = 1.0,
        first: int = 0,
        direction: int = 1,
        values: bool = False,
        back: bool = True,
        keep: float = 1.0,
        scaling: str = "none",
        factor: float | None = None,
        original_length: int | None = None,
        scaling_options: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, max_length)
        self.pairing = check_pairing(pairing)
        turning = _turning(self.d_head, share)
        self.first = _first(first, turning, self.d_head)
        if direction not in (1, -1):
            raise ValueError(f"direction must be 1 or -1, got {direction!r}")
        self.direction = int(direction)
        self._open_message(values, back)
        trained = frequencies.geometric(turning, base)
        self._n_kept = _n_kept(len(trained), keep)
        self.stretching = Stretching(
            trained, self.max_length, scaling, factor, original_length, scaling_options
        )
        self.attention_factor = self.stretching.gain
        self._omega = self._omega_for(self.max_length)
        cos, sin = self._angles(self.max_length)
        self.register_exact("cos", cos, wide=True)
        self.register_exact("sin", sin, wide=True)

    def rotate(self, q: Tensor, k: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor]:
        places = places or Places.of(q)
        same = places.of_keys is places.of_queries
        if same and places.common is not None:  # few calls are faster than small ones
            both = self._turner(places, q)(torch.cat((q, k), 1))
            q, k = both.split_with_sizes((q.shape[1], k.shape[1]), 1)
            return q, k
        omega = self._omega_now(places)
        turns = self._cos_sin(places.of_queries, omega)
        others = turns if same else self._cos_sin(places.of_keys, omega)
        return self._turned(q, turns), self._turned(k, others)

    def carry(self, v: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(v)
        return self._message(v, places.of_keys, places, 1)

    def deliver(self, out: Tensor, places: Places | None = None) -> Tensor:
        places = places or Places.of(out)
        return self._message(out, places.of_queries, places, -1)

    def _message(self, x: Tensor, steps: Steps, places: Places, way: int) -> Tensor:
        """Return values turned by their places, or sums of them turned back by the query's."""
        if places.common is not None:
            return self._turner(places, x, way)(x)
        return self._turned(x, self._of_message(steps, places, way))

    def _of_message(self, steps: Steps, places: Places, way: int) -> tuple[Tensor, Tensor]:
        """Return cosines and sines without the gain, which is for scores; those back with -1."""
        cos, sin = self._cos_sin(steps, self._omega_now(places))
        if self.attention_factor != 1:
            cos, sin = cos / self.attention_factor, sin / self.attention_factor
        return cos, sin if way == 1 else -sin

    def _open_message(self, values: bool, back: bool) -> None:
        """Open the wings of the message that are asked for, or raise ValueError."""
        if not _checks.flag("back", back) and not values:
            raise ValueError("back must be True where values do not turn, got False")
        if _checks.flag("values", values):
            self._on_request = frozenset() if back else frozenset(["deliver"])

    def _turner(self, places: Places, like: Tensor, way: int = 0) -> Callable[[Tensor], Tensor]:
        """Return what turns a token that is decoded, made once for all layers of a model.

        That is its query and key, or its message on the way there (1) and back (-1).
        """

        def make() -> Callable[[Tensor], Tensor]:
            steps = places.of_queries
            if way:
                turns = self._of_message(steps, places, way)
            else:
                turns = self._cos_sin(steps, self._omega_now(places))
            if self.first:
                return lambda x: self._turned(x, turns)
            return turner(*turns, self.pairing, like)

        return places.in_common((self, like.dtype, way), make)

    def _turned(self, x: Tensor, turns: tuple[Tensor, Tensor]) -> Tensor:
        """Return what heads hold with its dimensions from the first one on turned."""
        if not self.first:
            return turn(x, *turns, self.pairing)
        turned = turn(x[..., self.first :], *turns, self.pairing)
        return torch.cat((x[..., : self.first], turned), -1)

    def _omega_for(self, length: int) -> np.ndarray:
        """Return the angular frequencies for an input of this length, (d / 2,)."""
        omega = self.direction * self.stretching.at(length)
        omega[self._n_kept :] = 0
        return omega

    def _omega_now(self, places: Places) -> np.ndarray:
        """Return the frequencies for the input at hand, which most schedules do not look at.

        (d / 2,), or (batch, d / 2) where rows have positions of their own, so that no row depends
        on the others.
        """
        if not self.stretching.grows:
            return self.omega
        self.stretching.check_view(places)
        ends = [steps.ends(self.max_length) for steps in (places.of_queries, places.of_keys)]
        rows = max(map(len, ends))
        lengths = [max(pair) for pair in zip(*(n * (rows // len(n)) for n in ends), strict=True)]
        if places.cached:
            self.stretching.check_cache(max(lengths))
        if not places.counted and places.of_keys.length:
            self.stretching.check_ends(lengths, places.name)
        found = {length: self._omega_for(length) for length in set(lengths)}
        if len(found) == 1:
            return found[lengths[0]]
        return np.stack([found[length] for length in lengths])

    def _cos_sin(self, steps: Steps, omega: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return cosines and sines of t omega_i, (length, d / 2), or with batch and heads."""
        end = steps.first + steps.length
        if steps.given is not None or omega.ndim > 1:
            t = steps.positions
            cos, sin = self._waves(t, constants(omega, t))
            return self._loud(cos[:, None]), self._loud(sin[:, None])
        if end <= self.max_length and omega is self.omega:
            return self.cos[steps.first : end], self.sin[steps.first : end]
        turns = self._angles(end, steps.first, omega)
        cos, sin = (torch.as_tensor(a).to(self.cos) for a in turns)
        return cos, sin

    def _waves(self, t: Tensor, omega: Tensor) -> tuple[Tensor, Tensor]:
        """Return cosines and sines of all angles at given positions, (batch, length, d / 2)."""
        return waves(t, omega)

    def _angles(
        self, end: int, first: int = 0, omega: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return cosines and sines of t omega_i, each (end - first, d / 2)."""
        angles = np.outer(np.arange(first, end), self.omega if omega is None else omega)
        return self._loud(np.cos(angles)), self._loud(np.sin(angles))

    def _loud(self, turns: _Turns) -> _Turns:
        return turns if self.attention_factor == 1 else turns * self.attention_factor


def _turning(d_head: int, share: float) -> int:
    """Return how many dimensions of a head turn, or raise ValueError unless they are even."""
    if _checks.positive("share", share) == 1:
        return _checks.even("d_model / n_heads", d_head)
    wanted = share * d_head
    turning = round(wanted)
    if turning > d_head or turning < 2 or turning % 2 or abs(wanted - turning) > 1e-6:
        near = min(range(2, d_head + 1, 2), key=lambda d: abs(d - wanted), default=None)
        hint = "" if near is None else f"; share={near / d_head:.6g} turns {near}"
        raise ValueError(
            "share must be above 0, at most 1, and turn an even number of a head's dimensions, "
            f"got {share!r}, which is {wanted:.6g} of {d_head}{hint}"
        )
    return turning


def _first(first: int, turning: int, d_head: int) -> int:
    """Return the first dimension that turns, or raise ValueError if too few are behind it."""
    still = d_head - turning
    if _checks.count("first", first, minimum=0) > still:
        raise ValueError(
            f"first must be at most {still}, as {turning} of a head's {d_head} dimensions turn, "
            f"got {first}"
        )
    return first


def _n_kept(n_pairs: int, keep: float) -> int:
    """Return how many pairs keep their frequency: `keep * n_pairs`, rounded down."""
    if _checks.non_negative("keep", keep) > 1:
        raise ValueError(f"keep must be a share from 0 to 1, got {keep!r}")
    return int(keep * n_pairs + 1e-9)
