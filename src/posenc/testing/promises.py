"""What a layer or model may promise, and kind words for a promise that nobody knows."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import torch

from posenc import _checks
from posenc.register import Description, read

SIDES = ("left", "right", "both", "left alone", "both alone")
LAYOUTS = ("half", "interleaved")
BEYOND = ("exact", "refused")
HALVES = ("bfloat16", "float16")
KERNELS = ("sdpa", "flex", "flash")
DEMANDS = ("order", "causal")
"""Of these words, False promises the opposite."""
ELSEWHERE = {
    "cache": "cached",
    "use_cache": "cached",
    "packed": "packing",
    "pairing": "layout",
    "dtype": "dtypes",
    "max_length": "trained",
    "max_position_embeddings": "trained",
    "times": "real_times",
    "is_causal": "causal",
    "n_axes": "axes",
    "sliding_window": "window",
    "n_layers": "layers",
    "num_hidden_layers": "layers",
    "recency": "nearer",
    "alibi": "nearer",
    "compile": "compiled",
    "export": "exported",
    "n_kv_heads": "shared_heads",
    "gqa": "shared_heads",
    "attn_implementation": "kernels",
    "kernel": "kernels",
    "cuda": "device",
    "gpu": "device",
}


@dataclass(frozen=True)
class Promises:
    """Promises that a layer or model is held to. Those left out are measured, and fail nothing.

    Attributes
    ----------
    order : bool, optional
        Whether the order of tokens matters. False: it promises to be blind to it.
    causal : bool, optional
        Whether a token sees itself and earlier ones only. False: it promises to look ahead.
    cached : bool, optional
        One token at a time, or a few, give what all at once give.
    relative : bool, optional
        Only distances count: moving all tokens alike changes nothing.
    given_positions : bool, optional
        Positions that are handed over are read.
    real_times : bool, optional
        Positions may be any real numbers.
    axes : int, optional
        Numbers that make the position of one token, such as 2 in a picture.
    padding : {"left", "right", "both", "left alone", "both alone"}, optional
        On which side padded tokens change nothing. On the left, a layer that takes positions may
        be handed those of the real tokens beside the mask; "alone": it gets the mask and no more.
    packing : bool, optional
        Documents in one row do not see each other, and count from their own beginning.
    window : int, optional
        A token sees those fewer than this many places away, in each layer.
    layers : int, optional
        How many layers of attention stand behind each other, where the module does not tell.
    nearer : bool, optional
        Of tokens that are alike, a nearer one is heard louder, as with ALiBi.
    layout : {"half", "interleaved"}, optional
        Which dimensions make a pair of RoPE: i and i + d/2, or 2i and 2i + 1.
    dtypes : str, torch.dtype or several, optional
        Half types in which distant tokens keep their places: "bfloat16", "float16".
    trained : int, optional
        The length that it was trained for, or its table has.
    beyond : {"exact", "refused"}, optional
        What happens to longer inputs: they are served, with places that are told apart and without
        a change of what came before, or they are refused with an error.
    longest : int, optional
        Up to which position neighbours are told apart.
    shared_heads : bool, optional
        Shared key and value heads give what repeated ones give.
    compiled, exported : bool, optional
        `torch.compile`, or `torch.export`, give what the module gives. Asked on request only.
    stateless : bool
        The same input gets the same answer whatever came before. Promised unless you say False.
    rows : bool
        Rows of a batch do not see each other. Promised unless you say False.
    moves : bool, optional
        A change of dtype or device, or a saved and loaded state, keeps all tables.
    like : mapping, path, str or Description, optional
        The configuration whose positions it has; what `posenc.register.read` takes.
    layer : int
        Which of that configuration's layers it is, from 0, or its first one is.
    kernels : str or several, optional
        Kernels that answer as the eager attention of a model of transformers does: "sdpa", "flex",
        "flash", or the name of one that you registered there. Asked on request only. Flash is
        asked in bfloat16; on a processor, flex is not compiled.
    device : str or torch.device, optional
        Where everything is asked, such as "cuda", if torch finds one.

    Raises
    ------
    ValueError
        If a word means nothing here, or its value is none that it can have.
    """

    order: bool | None = None
    causal: bool | None = None
    cached: bool | None = None
    relative: bool | None = None
    given_positions: bool | None = None
    real_times: bool | None = None
    axes: int | None = None
    padding: str | None = None
    packing: bool | None = None
    window: int | None = None
    layers: int | None = None
    nearer: bool | None = None
    layout: str | None = None
    dtypes: tuple[torch.dtype, ...] = ()
    trained: int | None = None
    beyond: str | None = None
    longest: int | None = None
    shared_heads: bool | None = None
    compiled: bool | None = None
    exported: bool | None = None
    stateless: bool = True
    rows: bool = True
    moves: bool | None = None
    like: Description | None = field(default=None, hash=False)  # it holds mappings
    layer: int = 0
    kernels: tuple[str, ...] = ()
    device: torch.device | None = None

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> "Promises":
        """Return promises made in words, or raise ValueError that says which would be right."""
        known = [one.name for one in fields(cls)]
        for word in words:
            if word not in known:
                raise ValueError(_unknown(word, known))
        made = cls(**{word: _value(word, value) for word, value in words.items()})
        if made.like is not None and made.layer >= len(made.like.layers):
            most = len(made.like.layers) - 1
            raise ValueError(f"layer must be from 0 to {most}, as like has it, got {made.layer}")
        return made

    def word(self, promise: str) -> Any:
        """Return what was promised under a word; for "padding left" whether that side was."""
        word, _, side = promise.partition(" ")
        value = getattr(self, word)
        if word == "kernels" and side:
            return side in value or (side == "other" and bool({*value} - {*KERNELS}))
        return (str(value).removesuffix(" alone") in (side, "both")) if side else value

    def speak_of(self, promise: str) -> bool:
        """Return whether there is something to hold it to, under a word or under one side of it."""
        word, _, side = promise.partition(" ")
        if word == "like":
            return self.like is not None and self._has(side)
        return word in self.made() and (not side or bool(self.word(promise)))

    def _has(self, side: str) -> bool:
        """Return whether the configuration says anything that a check could look at."""
        assert self.like is not None
        layers = self.like.layers[self.layer :]
        added = [one.table for one in layers if one.table and one.table["kind"] != "angles"]
        return {"turn": not added, "table": bool(added)}.get(side, True)

    def windows_of_like(self) -> list[int]:
        """Return the windows and chunks of the configuration's layers, the smallest first."""
        layers = () if self.like is None else self.like.layers[self.layer :]
        said = {one.window for one in layers if one.kind in ("window", "chunk") and one.window}
        return sorted(said)

    def made(self) -> tuple[str, ...]:
        """Return the words of all that was promised."""
        silent = (
            "trained",
            "layers",
            "layer",
            "device",
        )  # facts that other checks need, and nothing to hold it to
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        return tuple(
            word
            for word, value in said.items()
            if word not in silent and (value or (value is False and word in DEMANDS))
        )


def _unknown(word: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(word, known, n=1)
    meant = ELSEWHERE.get(word) or (nearest[0] if nearest else None)
    hint = f"; did you mean {meant!r}?" if meant else ""
    return f"nobody can promise {word!r} here{hint} The words are: {', '.join(known)}"


def _value(word: str, value: Any) -> Any:
    """Return a promise's value as the checks want it, or raise ValueError."""
    if value is None:
        return () if word in ("dtypes", "kernels") else None
    choices = {"padding": SIDES, "layout": LAYOUTS, "beyond": BEYOND}
    if word in choices:
        return None if value is False else _checks.choice(word, value, choices[word])
    if word == "like":
        return value if isinstance(value, Description) else read(value)
    if word == "layer":
        return _checks.count(word, value, minimum=0)
    if word in ("axes", "window", "layers", "trained", "longest"):
        return _checks.count(word, value, minimum=1)
    if word == "dtypes":
        several = value if isinstance(value, list | tuple | set) else (value,)
        return tuple(_half(one) for one in several)
    if word == "kernels":
        return _kernels(value)
    if word == "device":
        return _device(value)
    return _checks.flag(word, value)


def _kernels(value: Any) -> tuple[str, ...]:
    named = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(one, str) and one not in ("", "eager") for one in named):
        raise ValueError(
            f"kernels must be names such as {', '.join(KERNELS)}, and not eager, which they stand "
            f"beside, got {value!r}"
        )
    return named


def _device(value: Any) -> torch.device:
    """Return a device that torch finds here, or raise ValueError."""
    found = ["cpu", *["cuda"] * torch.cuda.is_available()]
    try:
        device = torch.device(value)
    except (RuntimeError, TypeError):
        device = None
    if device is None or device.type not in found:
        raise ValueError(
            f"device must be one that torch finds here, {' or '.join(found)}, got {value!r}"
        )
    return device


def _half(value: Any) -> torch.dtype:
    name = str(value).removeprefix("torch.")
    dtype: torch.dtype = getattr(torch, _checks.choice("dtypes", name, HALVES))
    return dtype
