"""Ports of well-known models with one wrong number each, and what the checker says of them.

`RIGHT` has a port for each family. `PORTS` lists the wrong ones: each is the right one of its
family with one thing changed, as people have done by mistake.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import frequencies, schedules

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Numbers:
    """What a port does with positions; `Port` says it in code.

    `angles` is the layout of cosines and sines where it is not that of partners, `weights` the
    pairs of the weights where they are put in order before they turn, `ahead` how many places
    queries stand ahead, and `axis` the axis of each pair.
    """

    n_heads: int = 4
    d_head: int = 16
    turning: int = 16
    first: int = 0
    base: float = 10_000.0
    exponent: int | None = None
    schedule: Callable[[Array], Array] | None = None
    pairing: str = "half"
    angles: str | None = None
    weights: str | None = None
    direction: int = 1
    ahead: int = 0
    rounded: bool = False
    axis: tuple[int, ...] | None = None
    gain: float = 1.0
    grows: float = 0.0
    scale: float = 0.25
    softcap: float | None = None
    norm: str | None = None
    causal: bool = True
    window: int | None = None
    slopes: tuple[float, ...] | None = None
    buckets: Mapping[str, int] | None = None
    sinks: bool = False
    table: int | None = None

    def omega(self) -> Array:
        """Return the frequencies of all pairs."""
        n, width = self.turning // 2, self.exponent or self.turning
        omega = frequencies.geometric(width, self.base)[:n]
        omega = self.schedule(omega) if self.schedule else omega
        if not self.rounded:
            return omega
        return torch.tensor(omega).bfloat16().double().numpy()


class Port(nn.Module):
    """One attention layer with these numbers."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__()
        self.n = numbers
        self.d_model = numbers.n_heads * numbers.d_head
        self.qkv = nn.Linear(self.d_model, 3 * self.d_model)
        self.out = nn.Linear(self.d_model, self.d_model)
        self.norm_q, self.norm_k = (nn.RMSNorm(numbers.d_head) for _ in range(2))
        if numbers.sinks:
            self.sinks = nn.Parameter(torch.zeros(numbers.n_heads))
        if numbers.buckets:
            self.rows = nn.Embedding(numbers.buckets["n"], numbers.n_heads)
        if numbers.table is not None:
            self.table = nn.Embedding(64 + numbers.table, self.d_model)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the attended tokens (batch, length, d_model)."""
        t = torch.arange(x.shape[1])[None] if positions is None else positions
        if self.n.table is not None:
            x = x + self.table(t.long() + self.n.table)
        q, k, v = self.qkv(x).unflatten(-1, (3, self.n.n_heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.turned(q, t + self.n.ahead, self.norm_q), self.turned(k, t, self.norm_k)
        if self.n.grows:
            q = q * (1 + self.n.grows * torch.log1p(t // 64))[:, None, :, None].to(q.dtype)
        scores = q @ k.transpose(-1, -2) * self.n.scale
        if self.n.softcap:
            scores = self.n.softcap * torch.tanh(scores / self.n.softcap)
        scores = self.masked(scores + self.bias(x.shape[1]).to(x.dtype))
        out = self.softmax(scores) @ v
        return self.out(out.transpose(1, 2).flatten(2))

    def turned(self, a: Tensor, t: Tensor, norm: nn.Module) -> Tensor:
        """Return queries or keys behind norm, order, rotation and gain."""
        a = norm(a) if self.n.norm == "before" else a
        first, last = self.n.first, self.n.first + self.n.turning
        before, part, behind = a[..., :first], a[..., first:last], a[..., last:]
        if self.n.weights == "interleaved":
            part = torch.cat([part[..., ::2], part[..., 1::2]], -1)
        part = self.rotated(part, t) * self.n.gain if self.n.turning else part
        a = torch.cat([before, part, behind], -1)
        return norm(a) if self.n.norm == "behind" else a

    def rotated(self, a: Tensor, t: Tensor) -> Tensor:
        """Return pairs turned by their places."""
        omega = torch.tensor(self.n.omega())
        if self.n.axis is None:
            angles = t[..., None] * omega
        else:
            t = t if t.ndim == 3 else t[..., None].expand(*t.shape, 3)
            angles = t[..., list(self.n.axis)] * omega
        if self.n.pairing == "half":
            partners = torch.cat([-a[..., a.shape[-1] // 2 :], a[..., : a.shape[-1] // 2]], -1)
        else:
            partners = torch.stack([-a[..., 1::2], a[..., ::2]], -1).flatten(-2)
        halves = (self.n.angles or self.n.pairing) == "half"
        angles = torch.cat([angles, angles], -1) if halves else angles.repeat_interleave(2, -1)
        cos, sin = (one[:, None].to(a.dtype) for one in (angles.cos(), angles.sin()))
        return a * cos + self.n.direction * partners * sin

    def bias(self, length: int) -> Tensor:
        """Return what is added to the scores."""
        offset = torch.arange(length)[None] - torch.arange(length)[:, None]
        if self.n.slopes:
            return torch.tensor(self.n.slopes)[:, None, None] * offset
        if self.n.buckets:
            return self.rows(_bucket(offset, self.n.buckets)).permute(2, 0, 1)
        return torch.zeros(())

    def masked(self, scores: Tensor) -> Tensor:
        """Return scores of which those that nobody sees are hidden."""
        length = scores.shape[-1]
        seen = torch.ones(length, length, dtype=torch.bool)
        seen = seen.tril() if self.n.causal else seen
        seen = seen.triu(1 - self.n.window) if self.n.window else seen
        return scores.masked_fill(~seen, -1e9)

    def softmax(self, scores: Tensor) -> Tensor:
        """Return the weights, without that of the sink."""
        if not self.n.sinks:
            return scores.softmax(-1)
        sink = self.sinks[:, None, None].expand(len(scores), -1, scores.shape[-2], 1)
        return torch.cat([scores, sink], -1).softmax(-1)[..., :-1]


class Ports(nn.Module):
    """Several layers behind each other."""

    def __init__(self, *layers: Numbers) -> None:
        super().__init__()
        self.layers = nn.ModuleList(map(Port, layers))
        self.d_model = layers[0].n_heads * layers[0].d_head

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return (batch, length, d_model)."""
        for layer in self.layers:
            x = x + layer(x, positions)
        return x


def _bucket(offset: Tensor, rule: Mapping[str, int]) -> Tensor:
    """Return T5's row of each offset, as its own code has it."""
    n, offset = rule["n"], offset * rule.get("sign", 1)
    start = torch.zeros_like(offset)
    if rule["both"]:
        n //= 2
        start = (offset > 0) * n
        distance = offset.abs()
    else:
        distance = (-offset).clamp(min=0)
    exact = n // 2
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(rule["max"] / exact)
    far = (exact + (ratio * (n - exact)).long()).clamp(max=n - 1)
    return start + torch.where(distance < exact, distance, far)


@dataclass(frozen=True)
class Family:
    """A right port: the configuration, and the numbers of each layer that is built."""

    config: Mapping[str, Any]
    numbers: tuple[Numbers, ...]
    layer: int = 0

    def make(self, change: Mapping[str, Any] | None = None, at: int = 0) -> nn.Module:
        """Return the port, with something changed in one of its layers."""
        numbers = list(self.numbers)
        numbers[at] = replace(numbers[at], **(change or {}))
        return Port(*numbers) if len(numbers) == 1 else Ports(*numbers)


def _llama3(omega: Array, factor: float = 8.0, trained: int = 8192) -> Array:
    ends = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    return schedules.llama3(omega, factor, trained, **ends)


def _yarn(omega: Array, *, truncate: bool = True) -> Array:
    return schedules.yarn(omega, 32.0, 4096, truncate=truncate)


def _deepseek(omega: Array) -> Array:
    return schedules.yarn(omega, 40.0, 4096)


SIZE = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1}
PLAIN = Numbers()
LLAMA = replace(PLAIN, base=500_000.0, schedule=_llama3)
OSS_GAIN = 0.1 * math.log(32) + 1
OSS = Numbers(
    base=150_000.0,
    schedule=lambda omega: _yarn(omega, truncate=False),
    gain=OSS_GAIN,
    window=8,
    sinks=True,
)
MSCALE = 0.1 * math.log(40) + 1
LATENT = Numbers(
    d_head=24,
    turning=16,
    first=8,
    schedule=_deepseek,
    weights="interleaved",
    scale=24**-0.5 * MSCALE**2,
)
ALIBI = (1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8)
T5 = {"n": 32, "max": 128, "both": 0}
BLOCKS, WOVEN = (0, 0, 1, 1, 1, 2, 2, 2), (0, 1, 2, 0, 1, 2, 1, 2)
LOCAL = Numbers(norm="before", window=8)
FULL = Numbers(norm="before", base=1_000_000.0)

RIGHT: Mapping[str, Family] = {
    "Llama 3.1": Family(
        {"model_type": "llama", **SIZE, "rope_theta": 500_000.0, "max_position_embeddings": 131_072,
         "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}},
        (LLAMA,),
    ),
    "DeepSeek-V3": Family(
        {"model_type": "deepseek_v3", **SIZE, "qk_rope_head_dim": 16, "qk_nope_head_dim": 8,
         "max_position_embeddings": 163_840,
         "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
                          "original_max_position_embeddings": 4096}},
        (LATENT,),
    ),
    "GPT-OSS": Family(
        {"model_type": "gpt_oss", **SIZE, "num_hidden_layers": 2, "head_dim": 16,
         "sliding_window": 8},
        (OSS, replace(OSS, window=None)),
    ),
    "Phi": Family(
        {"model_type": "phi", **SIZE, "partial_rotary_factor": 0.5}, (replace(PLAIN, turning=8),)
    ),
    "GPT-NeoX": Family(
        {"model_type": "gpt_neox", **SIZE, "rotary_pct": 0.25}, (replace(PLAIN, turning=4),)
    ),
    "ChatGLM": Family(
        {"model_type": "glm", **SIZE, "head_dim": 16, "partial_rotary_factor": 0.5},
        (replace(PLAIN, turning=8, pairing="interleaved"),),
    ),
    "Gemma 3": Family(
        {"model_type": "gemma3_text", **SIZE, "num_hidden_layers": 6, "head_dim": 16,
         "query_pre_attn_scalar": 16, "sliding_window": 8},
        (*[LOCAL] * 5, FULL),
    ),
    "Gemma 2": Family(
        {"model_type": "gemma2", **SIZE, "num_hidden_layers": 2, "head_dim": 16,
         "query_pre_attn_scalar": 64, "sliding_window": 8},
        (replace(PLAIN, scale=0.125, softcap=50.0, window=8),
         replace(PLAIN, scale=0.125, softcap=50.0)),
    ),
    "Mistral": Family(
        {"model_type": "mistral", **SIZE, "head_dim": 16, "sliding_window": 8},
        (replace(PLAIN, window=8),),
    ),
    "SmolLM3": Family(
        {"model_type": "smollm3", **SIZE, "num_hidden_layers": 4, "rope_theta": 5_000_000.0},
        (*[replace(PLAIN, base=5_000_000.0)] * 3, replace(PLAIN, turning=0)),
    ),
    "BLOOM": Family(
        {"model_type": "bloom", "hidden_size": 96, "n_head": 6, "n_layer": 1},
        (Numbers(n_heads=6, turning=0, slopes=ALIBI),),
    ),
    "T5, decoder": Family(
        {"model_type": "t5", "d_model": 64, "d_kv": 16, "num_heads": 4, "num_layers": 1},
        (Numbers(turning=0, scale=1.0, buckets=T5),),
        layer=1,
    ),
    "T5, encoder": Family(
        {"model_type": "t5", "d_model": 64, "d_kv": 16, "num_heads": 4, "num_layers": 1},
        (Numbers(turning=0, scale=1.0, buckets=T5 | {"both": 1}, causal=False),),
    ),
    "Qwen2.5-VL": Family(
        {"model_type": "qwen2_5_vl_text", **SIZE, "rope_theta": 1_000_000.0,
         "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}},
        (replace(PLAIN, base=1_000_000.0, axis=BLOCKS),),
    ),
    "OPT": Family(
        {"model_type": "opt", **SIZE, "max_position_embeddings": 62},
        (Numbers(turning=0, table=2),),
    ),
    "Ministral 3": Family(
        {"model_type": "ministral3", **SIZE, "head_dim": 16, "max_position_embeddings": 4096,
         "rope_parameters": {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 1.0,
                             "original_max_position_embeddings": 64,
                             "llama_4_scaling_beta": 0.1}},
        (replace(PLAIN, grows=0.1),),
    ),
    "HunYuan": Family(
        {"model_type": "hunyuan_v1_dense", **SIZE, "head_dim": 16},
        (replace(PLAIN, norm="behind"),),
    ),
}  # fmt: skip
"""Right ports of families of every kind."""


@dataclass(frozen=True)
class WrongPort:
    """A port with one thing wrong, and what has to be said of it.

    Attributes
    ----------
    story : str
        What somebody did.
    family : str
        Of `RIGHT`.
    change : mapping
        Fields of `Numbers`.
    field : str
        The field of the configuration that is to be named.
    words : str
        What the report has to say of the value that the port seems to use.
    at : int
        The layer that is changed.
    """

    story: str
    family: str
    change: Mapping[str, Any]
    field: str
    words: str
    at: int = 0

    @property
    def number(self) -> int:
        """The layer that is to be named."""
        return self.at + RIGHT[self.family].layer

    def make(self) -> nn.Module:
        """Return the wrong port."""
        return RIGHT[self.family].make(self.change, self.at)


PORTS = (
    WrongPort("keeps the base of the class", "Llama 3.1", {"base": 10_000.0}, "base",
              "the base were 10,000"),
    WrongPort("reads no schedule", "Llama 3.1", {"schedule": None}, "scaling",
              "the llama3 schedule were left out"),
    WrongPort("takes the factor of Llama 3.2", "Llama 3.1",
              {"schedule": lambda omega: _llama3(omega, 32.0)}, "factor", "factor were 32"),
    WrongPort("takes the new length for that of training", "Llama 3.1",
              {"schedule": lambda omega: _llama3(omega, trained=131_072)},
              "original_max_position_embeddings",
              "original_max_position_embeddings were 131,072"),
    WrongPort("stretches where the schedule should look at wavelengths", "Llama 3.1",
              {"schedule": lambda omega: omega / 8}, "scaling",
              "all frequencies were divided by 8"),
    WrongPort("pairs neighbours, as the paper does", "Llama 3.1", {"pairing": "interleaved"},
              "pairing", "16 dimensions in interleaved pairs"),
    WrongPort("lays out angles for neighbours and partners for halves", "Llama 3.1",
              {"angles": "interleaved"}, "pairing",
              "partners as in half pairs and angles as in interleaved ones"),
    WrongPort("turns the other way round", "Llama 3.1", {"direction": -1}, "direction",
              "the other way round"),
    WrongPort("counts queries from one and keys from zero", "Llama 3.1", {"ahead": 1}, "offset",
              "one place ahead"),
    WrongPort("casts its frequencies with the model", "Llama 3.1", {"rounded": True}, "inv_freq",
              "rounded to bfloat16"),
    WrongPort("norms queries behind the rotation", "Gemma 3", {"norm": "behind"}, "norm",
              "a norm with learned gains stood behind the rotation", 5),
    WrongPort("norms queries before the rotation", "HunYuan", {"norm": "before"}, "norm",
              "before the rotation"),
    WrongPort("lets all of a head turn", "Phi", {"turning": 16}, "turning",
              "16 dimensions in half pairs"),
    WrongPort("lets all of a head turn, too", "GPT-NeoX", {"turning": 16}, "turning",
              "16 dimensions in half pairs"),
    WrongPort("takes exponents of the whole head", "Phi", {"exponent": 16}, "turning",
              "exponents were 2i/16"),
    WrongPort("turns halves, as others do", "ChatGLM", {"pairing": "half"}, "pairing",
              "8 dimensions in half pairs"),
    WrongPort("turns the first dimensions where the last ones turn", "DeepSeek-V3", {"first": 0},
              "first", "16 dimensions in half pairs"),
    WrongPort("does not put the weights' pairs in order", "DeepSeek-V3", {"weights": None},
              "pairing", "it takes half pairs from the weights"),
    WrongPort("scales by the head's width alone", "DeepSeek-V3", {"scale": 24**-0.5}, "scale",
              "the scale were 1/sqrt(24)"),
    WrongPort("scales by the part that does not turn", "DeepSeek-V3", {"scale": 8**-0.5}, "scale",
              "the scale were 1/sqrt(8)"),
    WrongPort("puts YaRN's gain on what turns and not on all scores", "DeepSeek-V3",
              {"gain": MSCALE, "scale": 24**-0.5}, "scale", "the scale were 1/sqrt(24)"),
    WrongPort("forgets YaRN's gain", "GPT-OSS", {"gain": 1.0}, "gain", "were missing"),
    WrongPort("applies YaRN's gain twice", "GPT-OSS", {"gain": OSS_GAIN**2}, "gain",
              "were applied twice"),
    WrongPort("applies YaRN's schedule twice", "GPT-OSS",
              {"schedule": lambda omega: _yarn(omega, truncate=False) ** 2 / omega}, "scaling",
              "the yarn schedule were applied twice"),
    WrongPort("rounds YaRN's ends to whole pairs", "GPT-OSS", {"schedule": _yarn}, "truncate",
              "truncate were True"),
    WrongPort("has no sinks", "GPT-OSS", {"sinks": False}, "sinks", "its softmax has no sink"),
    WrongPort("sees everything in layers with a window", "GPT-OSS", {"window": None}, "window",
              "all before it"),
    WrongPort("has a window in layers without", "GPT-OSS", {"window": 8}, "kind",
              "8 tokens with its own", 1),
    WrongPort("sees one token more", "Mistral", {"window": 9}, "window", "9 tokens with its own"),
    WrongPort("sees one token less", "Mistral", {"window": 7}, "window", "7 tokens with its own"),
    WrongPort("sees what is to be guessed", "Mistral", {"causal": False}, "causal", "behind it"),
    WrongPort("has one base for all layers", "Gemma 3", {"base": 1_000_000.0}, "base",
              "the base were 1,000,000"),
    WrongPort("divides by the root of the head's width", "Gemma 2", {"scale": 0.25}, "scale",
              "the scale were 1/sqrt(16)"),
    WrongPort("sets no bound", "Gemma 2", {"softcap": None}, "softcap", "not bounded"),
    WrongPort("takes the bound of the last layer", "Gemma 2", {"softcap": 30.0}, "softcap",
              "bounded by 30"),
    WrongPort("turns layers that should not", "SmolLM3",
              {"turning": 16, "base": 5_000_000.0}, "door", "16 dimensions in half pairs", 3),
    WrongPort("knows slopes for powers of two only", "BLOOM",
              {"slopes": tuple(2.0 ** (-8 * i / 6) for i in range(1, 7))}, "slopes",
              "no rule for numbers of heads that are no power of two"),
    WrongPort("lets far tokens be louder", "BLOOM", {"slopes": tuple(-one for one in ALIBI)},
              "slopes", "their sign were the other one"),
    WrongPort("divides slopes as it divides products", "BLOOM",
              {"slopes": tuple(one / 4 for one in ALIBI)}, "slopes", "divided by sqrt(16)"),
    WrongPort("adds no slopes", "BLOOM", {"slopes": None}, "slopes", "nothing is added"),
    WrongPort("keeps rows for later tokens in a decoder", "T5, decoder",
              {"buckets": T5 | {"both": 1}}, "buckets.bidirectional", "served both directions"),
    WrongPort("keeps none in an encoder", "T5, encoder", {"buckets": T5}, "buckets.bidirectional",
              "served earlier tokens only"),
    WrongPort("takes the query's place less the key's", "T5, encoder",
              {"buckets": T5 | {"both": 1, "sign": -1}}, "buckets.sign",
              "offsets had the other sign"),
    WrongPort("ends at another distance", "T5, decoder", {"buckets": T5 | {"max": 64}},
              "buckets.max", "the last bucket began at 64"),
    WrongPort("scales, as all others do", "T5, decoder", {"scale": 0.25}, "scale",
              "the scale were 1/sqrt(16)"),
    WrongPort("deals pairs out in turn", "Qwen2.5-VL", {"axis": WOVEN}, "sections",
              "pair 1 follows height"),
    WrongPort("swaps height and width", "Qwen2.5-VL", {"axis": (0, 0, 2, 2, 2, 1, 1, 1)},
              "sections", "pair 2 follows width"),
    WrongPort("lets queries stay as long as they are", "Ministral 3", {"grows": 0.0},
              "query_scaling", "are 1 times as long"),
    WrongPort("begins with the first row", "OPT", {"table": 0}, "table.offset", "takes row 0"),
)  # fmt: skip
"""Every wrong port."""
