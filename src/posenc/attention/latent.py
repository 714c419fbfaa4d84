"""Attention whose keys and values come from a narrow latent, and whose position is decoupled."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.core import Attention, glorot
from posenc.attention.layer import SelfAttention
from posenc.attention.places import Places
from posenc.attention.position import Position
from posenc.attention.scoring import Scoring


@dataclass(frozen=True, kw_only=True)
class LatentSizes:
    """How wide the parts of `LatentAttention` are.

    Parameters
    ----------
    kv_rank : int, optional
        Width of the latent from which the keys and values of all heads are made. With neither it
        nor `d_value`, one row of a token is the key and the value of all heads, as in DeepSeek-V4.
    d_plain : int
        Dimensions of a head's queries and keys that no door touches.
    d_position : int
        Further dimensions, through which position enters; all heads share those of the keys.
    d_value : int, optional
        Dimensions of a head's values; those of its keys where one row is both.
    q_rank : int, optional
        Width of a latent for the queries, too; by default they are made from the token.

    Raises
    ------
    ValueError
        If one is no integer of at least 1, or just one of `kv_rank` and `d_value` is left out.

    Examples
    --------
    >>> sizes = LatentSizes(kv_rank=512, d_plain=128, d_position=64, d_value=128, q_rank=1536)
    >>> sizes.d_score, sizes.kept  # of DeepSeek-V3, and how many numbers it keeps of a token
    (192, 576)
    >>> LatentSizes(d_plain=448, d_position=64, q_rank=1024).kept  # of DeepSeek-V4 Flash
    512
    """

    d_plain: int
    d_position: int
    kv_rank: int | None = None
    d_value: int | None = None
    q_rank: int | None = None

    def __post_init__(self) -> None:
        for name in ("d_plain", "d_position"):
            _checks.count(name, getattr(self, name), minimum=1)
        for name in ("kv_rank", "d_value", "q_rank"):
            if getattr(self, name) is not None:
                _checks.count(name, getattr(self, name), minimum=1)
        if (self.kv_rank is None) != (self.d_value is None):
            raise ValueError(
                "kv_rank and d_value must both be given, or neither where one row is key and "
                f"value, got {self.kv_rank} and {self.d_value}"
            )

    @property
    def shared(self) -> bool:
        """Whether one row of a token is the key and the value of all heads."""
        return self.kv_rank is None

    @property
    def d_latent(self) -> int:
        """Dimensions of the latent, or of the part of a shared row that no door touches."""
        return self.d_plain if self.kv_rank is None else self.kv_rank

    @property
    def d_out(self) -> int:
        """Dimensions of a head's output."""
        return self.d_score if self.d_value is None else self.d_value

    @property
    def d_score(self) -> int:
        """Dimensions of queries and keys that make a score."""
        return self.d_plain + self.d_position

    @property
    def kept(self) -> int:
        """Numbers that a cache keeps of a token."""
        return self.d_latent + self.d_position


class LatentAttention(SelfAttention):
    """Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1), "MLA".

    Keys and values of all heads are made from one narrow latent of a token. A rotation would have
    to stand between it and the map that makes keys, so position does not go this way: queries and
    keys get further dimensions of their own for it. The doors `rotate` and `bias` see these and
    nothing else, as the queries and keys of heads of width `d_position`; keys come in one head.

    With sizes that have neither `kv_rank` nor `d_value`, one row of a token is key and value of all
    heads (DeepSeek-AI 2026, DeepSeek-V4). A value has then turned with its key, as `carry` would
    turn it, and the sum must be turned back: `position` must open `deliver` where it opens
    `rotate`, as `encodings.RoVE` does. Values of another kind pass no door.

    Parameters
    ----------
    d_model, n_heads : int
        Width of a token, and heads; need not divide it.
    position : Position
        Made for a width of `n_heads * d_position`; one that enters at `embed`, for `d_model`.
    sizes : LatentSizes
    dropout, causal, window, scoring
        As for `SelfAttention`; the scale is by default `1 / sqrt(d_plain + d_position)`.

    Notes
    -----
    Parameters: with H heads, `d_model * (kv_rank + d_position) + kv_rank * (1 + H * (d_plain +
    d_value)) + H * d_value * d_model`, and for the queries `H * d_score * d_model`, or
    `q_rank * (1 + d_model + H * d_score)`. A shared row has `d_score * (d_model + 1)` in place of
    what makes keys and values. No map has an offset; latents, or the whole of a shared row, are
    normed (RMS). DeepSeek-V4 norms each head's queries as well, and joins heads in groups: give
    `query` and `out` maps that do. Dimensions of queries and of the latent map are, head by head,
    first the plain ones.

    A cache keeps `kv_rank + d_position` numbers a token, in place of `2 H d_head`, and makes keys
    and values of all tokens from them at every step; of a shared row it keeps that, `d_score`.

    Raises
    ------
    ValueError
        As for `SelfAttention`, or if `sizes` is no `LatentSizes`; if `position` turns values that
        are made from latents, or leaves those of a shared row turned.

    Examples
    --------
    >>> from posenc import encodings
    >>> from posenc.attention import Cache
    >>> sizes = LatentSizes(kv_rank=6, d_plain=8, d_position=4, d_value=8)
    >>> layer = LatentAttention(16, 2, encodings.make("rotary", 2 * 4, 2, 9), sizes, causal=True)
    >>> x, cache = torch.randn(1, 9, 16), Cache()
    >>> steps = [layer(x[:, [t]], cache=cache) for t in range(9)]
    >>> torch.allclose(torch.cat(steps, 1), layer(x), atol=1e-5)
    True
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        position: Position,
        sizes: LatentSizes,
        dropout: float = 0.0,
        *,
        causal: bool | Literal["positions"] = False,
        window: int | None = None,
        scoring: Scoring | None = None,
    ) -> None:
        if not isinstance(sizes, LatentSizes):
            raise ValueError(f"sizes must be a posenc.attention.LatentSizes, got {sizes!r:.80}")
        Attention.__init__(
            self, d_model, n_heads, position, dropout, d_head=sizes.d_position, scoring=scoring
        )
        self._limit(causal, window)
        self.sizes, self.n_kv_heads = sizes, 1
        _check_message(self.position, sizes)
        if self.scoring.scale is None:
            self.scale = sizes.d_score**-0.5
        n_in = d_model if sizes.q_rank is None else sizes.q_rank
        if sizes.q_rank is not None:
            self.query_down = nn.Linear(d_model, sizes.q_rank, bias=False)
            self.query_norm = nn.RMSNorm(sizes.q_rank, eps=1e-6)
        self.query = nn.Linear(n_in, self.n_heads * sizes.d_score, bias=False)
        self.key_value_down = nn.Linear(d_model, sizes.kept, bias=False)
        self.key_value_norm = nn.RMSNorm(sizes.kv_rank or sizes.kept, eps=1e-6)
        if sizes.kv_rank is not None:
            width = self.n_heads * (sizes.d_plain + sizes.d_out)
            self.key_value = nn.Linear(sizes.kv_rank, width, bias=False)
        self.out = nn.Linear(self.n_heads * sizes.d_out, d_model, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start all maps at Glorot's uniform distribution, norms at 1 and sinks at 0."""
        for one in self.children():
            if isinstance(one, nn.Linear):
                glorot(one.weight, [one.out_features])
            elif isinstance(one, nn.RMSNorm):
                one.reset_parameters()
        if self.sinks is not None:
            nn.init.zeros_(self.sinks)

    @property
    def _first_map(self) -> nn.Module:
        return self.key_value_down

    def _project(self, x: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, and what is kept of keys and values: decoupled dimensions and latents."""
        s, places = self.sizes, places or Places.of(x, causal=bool(self.causal))
        down = x if s.q_rank is None else self.query_norm(self.query_down(x))
        q = self.query(down).unflatten(-1, (self.n_heads, s.d_score)).transpose(1, 2)
        plain, q_position = q.split([s.d_plain, s.d_position], -1)
        row = self.key_value_down(x)
        if s.shared:
            row = self.key_value_norm(row)
        latent, k_position = row.split([s.d_latent, s.d_position], -1)
        if not s.shared:
            latent = self.key_value_norm(latent)
        q_position, k_position = self._turned(q_position, k_position[:, None], places)
        q = self._grown(torch.cat((plain, q_position), -1), places)
        return q, k_position, latent[:, None]

    def _in_all_heads(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of every head from decoupled dimensions and latents."""
        s = self.sizes
        if s.shared:
            row = torch.cat((v, k), -1).expand(-1, self.n_heads, -1, -1)
            return row, row
        made = self.key_value(v.squeeze(1)).unflatten(-1, (self.n_heads, s.d_plain + s.d_out))
        plain, values = made.transpose(1, 2).split([s.d_plain, s.d_out], -1)
        return torch.cat((plain, k.expand(-1, self.n_heads, -1, -1)), -1), values

    def _carried(self, v: Tensor, places: Places) -> Tensor:  # noqa: ARG002 - turned as the key
        return v

    def _delivered(self, heads: Tensor, places: Places) -> Tensor:
        if self.position.is_closed("deliver"):
            return heads
        plain, turned = heads.split([self.sizes.d_plain, self.sizes.d_position], -1)
        return torch.cat((plain, super()._delivered(turned, places)), -1)

    def _for_doors(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return q[..., self.sizes.d_plain :], k[..., self.sizes.d_plain :]


def _check_message(position: Position, sizes: LatentSizes) -> None:
    """Raise ValueError unless an encoding does with values what these sizes need."""
    turns, *wings = (not position.is_closed(door) for door in ("rotate", "carry", "deliver"))
    name = type(position).__name__
    if sizes.shared and wings != [turns, turns]:
        raise ValueError(
            "position must turn values as it turns keys, and their sum back, where one row is "
            f"both, as RoVE does or Rotary with values=True, got {name}, which would leave what "
            "tokens get turned by their places"
        )
    if not sizes.shared and any(wings):
        raise ValueError(
            f"position must leave values alone that are made from latents, got {name}, which "
            "turns them; sizes without kv_rank and d_value make one row key and value"
        )
