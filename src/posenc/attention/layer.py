"""Self-attention that calls the four doors in their order, and knows no encoding by name."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.kernels import (
    blocked_attention,
    convolve,
    fused_attention,
    precise,
    prefers_blocks,
    prefers_fourier,
)
from posenc.attention.position import DOORS, Mix, Position, leave_meta

_HUGE = 1e4  # no token of a network that works has such entries


class SelfAttention(nn.Module):
    """Multi-head scaled dot-product self-attention (Vaswani et al. 2017, section 3.2).

    Parameters
    ----------
    d_model : int
        Width of a token.
    n_heads : int
        Number of heads; must divide `d_model`.
    position : Position
        The encoding, made for the same `d_model` and `n_heads`.
    dropout : float
        Probability of dropping an attention weight while training, 0 <= dropout < 1.

    Notes
    -----
    Parameters: `4 * d_model * (d_model + 1)`, plus those of `position`. The scores are
    `q k / sqrt(d_head) + bias`. The fused kernel is used unless `mix` returns a function.

    Raises
    ------
    ValueError
        If `n_heads` does not divide `d_model`, `dropout` is no probability, or `position` is not
        a `Position` of the same sizes.
    """

    def __init__(
        self, d_model: int, n_heads: int, position: Position, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.n_heads = _checks.divisor("n_heads", n_heads, "d_model", self.d_model)
        self.d_head = self.d_model // self.n_heads
        self.scale = self.d_head**-0.5
        self.dropout = _checks.probability("dropout", dropout)
        self.position = check_position(position, self.d_model, self.n_heads)
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.register_load_state_dict_post_hook(leave_meta)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start each of the four maps at Glorot's uniform distribution, with zero offsets."""
        for weight in (*self.qkv.weight.chunk(3), self.out.weight):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.qkv.bias)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the attended tokens, all four doors included.

        Parameters
        ----------
        x : (batch, length, d_model)
            An empty batch or sequence gives an empty output.
        mask : (batch, length) bool, optional
            True marks a real token, False a padded one that nobody attends to, whatever stands
            there, NaN included. Its own row of the output means nothing.
        """
        self.check_input(x, mask)
        return self.attend(embedded(self.position, _tamed(x, mask)), mask)

    def attend(self, x: Tensor, mask: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        """Return the attended tokens of an input that went through `embed` already.

        A `bias` that was computed before takes the place of the encoding's own.
        """
        if x.numel() == 0:  # no kernel needs to know how to do nothing
            return self.out(x)
        q, k, v = self._project(x)
        x, k, v = (_without_padding(a, mask) for a in (x, k, v))
        short = None
        if bias is None and prefers_blocks(q, self._rate()):
            short = self.position.shortcut("bias_by_offset", q)
        if bias is None and short is None:
            bias = self._bias(x, q, k)
        line = self.position.shortcut("mix_by_offset", x) if prefers_fourier(v) else None
        mix = self._mix(x, q) if line is None else None
        if callable(mix):
            weights = self._dropped(self._softmax(x, q, k, bias, mask))
            heads = weights @ v + mix(weights)
        elif short is not None:
            padding = None if mask is None else _merge(q.new_zeros(1), mask, q)
            heads = blocked_attention(precise(q) * self.scale, k, v, padding, short)
        else:
            heads = fused_attention(q, k, v, _merge(bias, mask, q), self._rate(), self.scale)
        # adding to the weights is adding to the output, so the fused kernel still serves
        if line is not None:
            heads = heads + convolve(line, v)
        elif isinstance(mix, Tensor):
            heads = heads + _apply_weights(mix.to(v.dtype), v)
        return self.out(heads.transpose(1, 2).flatten(2))

    def weights(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return who sees whom: (batch, heads, length, length), rows are queries.

        These are the softmax weights plus the tensor of `mix`, for figures and tests; the forward
        pass does not form them unless it must.
        """
        self.check_input(x, mask)
        if x.numel() == 0:
            return x.new_zeros(len(x), self.n_heads, x.shape[1], x.shape[1])
        x = embedded(self.position, _tamed(x, mask))
        q, k, _ = self._project(x)
        x = _without_padding(x, mask)
        mix = self._mix(x, q)
        weights = self._softmax(x, q, k, None, mask)
        if mix is None or callable(mix):
            return weights
        extra = mix.to(weights.dtype)
        return weights + (extra if mask is None else extra * mask[:, None, None, :])

    def check_input(self, x: Tensor, mask: Tensor | None) -> None:
        """Raise ValueError unless `x` and `mask` have the shapes that `forward` wants."""
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x must have shape (batch, length, d_model = {self.d_model}), got {tuple(x.shape)}"
            )
        check_mask(mask, x)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, the first two behind the door `rotate`."""
        qkv = self.qkv(x).unflatten(-1, (3, self.n_heads, self.d_head))
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        turned = self.position.rotate(q, k)
        if not (isinstance(turned, tuple) and len(turned) == 2):
            raise ValueError(f"{self._door('rotate')} must return queries and keys, (q, k)")
        return *turned, v

    def _bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor | None:
        bias = self.position.bias(x, q, k)
        return bias if bias is None else self._checked("bias", bias, q)

    def _mix(self, x: Tensor, q: Tensor) -> Mix | None:
        mix = self.position.mix(x)
        return self._checked("mix", mix, q) if isinstance(mix, Tensor) else mix

    def _checked(self, door: str, added: Tensor, q: Tensor) -> Tensor:
        """Return what a door adds, or raise ValueError unless it broadcasts to the weights."""
        weights = (*q.shape[:3], q.shape[2])
        sizes = zip(added.shape[::-1], weights[::-1], strict=False)
        if added.ndim > 4 or any(size not in (1, whole) for size, whole in sizes):
            raise ValueError(
                f"{self._door(door)} must return a tensor that broadcasts to (batch, heads, "
                f"length, length) = {tuple(weights)}, got shape {tuple(added.shape)}"
            )
        return added

    def _door(self, name: str) -> str:
        return f"{type(self.position).__name__}.{name}"

    def _softmax(
        self, x: Tensor, q: Tensor, k: Tensor, bias: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        """Return the attention weights, formed explicitly."""
        scores = precise(q) @ precise(k).transpose(-2, -1) * self.scale
        if bias is None:
            bias = self._bias(x, q, k)
        if bias is not None:
            scores = scores + bias.to(scores.dtype)
        if mask is not None:
            # a finite floor keeps rows without any real token free of NaN
            scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        return scores.softmax(-1).to(q.dtype)

    def _rate(self) -> float:
        return self.dropout if self.training else 0.0

    def _dropped(self, weights: Tensor) -> Tensor:
        return nn.functional.dropout(weights, self.dropout, self.training)


def embedded(position: Position, x: Tensor) -> Tensor:
    """Return the tokens with position added, or raise ValueError if they changed their shape."""
    tokens = position.embed(x)
    if not isinstance(tokens, Tensor) or tokens.shape != x.shape:
        got = f"shape {tuple(tokens.shape)}" if isinstance(tokens, Tensor) else repr(tokens)
        raise ValueError(
            f"{type(position).__name__}.embed must return tokens of the shape that it gets, "
            f"{tuple(x.shape)}, got {got}"
        )
    return tokens


def check_position(position: Position, d_model: int, n_heads: int) -> Position:
    """Return `position`, or raise ValueError unless it has doors and fits these sizes."""
    if not isinstance(position, Position):
        raise ValueError(
            f"position must be a posenc.attention.Position, got {position!r}; "
            "posenc.encodings.make(name, d_model, n_heads, max_length) makes one from a name"
        )
    if (position.d_model, position.n_heads) != (d_model, n_heads):
        raise ValueError(
            f"position must be made for d_model = {d_model} and n_heads = {n_heads}, got one for "
            f"d_model = {position.d_model} and n_heads = {position.n_heads}"
        )
    _check_doors(position)
    return position


def _check_doors(position: Position) -> None:
    """Raise ValueError if a class lets position in nowhere and does not say so."""
    own = type(position)
    doorless = not own.doors() and not set(DOORS) & set(vars(position))
    if doorless and own is not Position and not own._needs_no_door:
        raise ValueError(
            f"position must override a door ({', '.join(DOORS)}), got {own.__name__} with none of "
            "them, which would train without position; derive it from "
            "posenc.encodings.NoPosition if that is meant"
        )


def check_mask(mask: Tensor | None, x: Tensor) -> None:
    """Raise ValueError unless `mask` is None or bool of shape (batch, length) like `x`."""
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool, True for real tokens, got dtype {mask.dtype}")
    if mask.shape != x.shape[:2]:
        raise ValueError(
            f"mask must have shape (batch, length) = {tuple(x.shape[:2])}, got {tuple(mask.shape)}"
        )


def _merge(bias: Tensor | None, mask: Tensor | None, q: Tensor) -> Tensor | None:
    """Return one additive or boolean attention mask of 4 axes, or None."""
    if bias is not None:
        bias = bias.to(torch.promote_types(q.dtype, torch.float32))
        bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
    if mask is None:
        return bias
    seen = mask[:, None, None, :]
    if bias is None:
        return seen
    return bias.masked_fill(~seen, torch.finfo(q.dtype).min)


def _without_padding(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return (batch, length, width) or (batch, heads, length, width), zeros where it is padded.

    A weight of nothing does not stop what stands there: 1e-26 times 1e30 is a lot.
    """
    if mask is None:
        return x
    real = mask[:, None, :, None] if x.ndim == 4 else mask[..., None]
    return x.where(real, 0)


def _tamed(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return the tokens with zeros for what is huge or no number where there is no real one.

    There a token asks still, though nobody sees it, and 0 times infinity is NaN in a gradient.
    """
    return x if mask is None else x.where(mask.unsqueeze(-1) | (x.abs() < _HUGE), 0)


def _apply_weights(weights: Tensor, v: Tensor) -> Tensor:
    """Return `weights @ v`; if the weights are common to the batch, in one product per head."""
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    if weights.shape[0] > 1:
        return weights @ v
    batch, heads, length, width = v.shape
    columns = v.permute(1, 2, 0, 3).reshape(heads, length, batch * width)
    return (weights[0] @ columns).unflatten(-1, (batch, width)).permute(2, 0, 1, 3)
