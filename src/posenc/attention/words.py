"""What encodings, their options and their values are called elsewhere, and what they are here.

Records and messages know one name for each thing. A word from another library or a paper is
answered with it, where it means exactly the same.
"""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

from posenc import _checks

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

ENCODINGS = {
    "absolute": "sinusoidal' or 'learnable",
    "axial_rope": "axial_rotary",
    "bucketed": "t5",
    "cable": "fox",
    "disentangled": "deberta",
    "fixed": "sinusoidal",
    "forgetting": "fox",
    "learned": "learnable",
    "m_rope": "mrope",
    "multimodal_rope": "mrope",
    "no_position": "none",
    "nope": "none",
    "rel_logits": "distance_profiles",
    "relative_key": "relative",
    "relative_logits": "distance_profiles",
    "rope": "rotary",
    "rope_2d": "axial_rotary",
    "roper": "rove",
    "shaw": "relative",
    "sine": "sinusoidal",
    "sinusoid": "sinusoidal",
    "spe": "sine_spe",
    "swin_table": "swin",
    "t5_bias": "t5",
    "time2vec": "sine_linear",
    "vanilla": "sinusoidal",
    "vo_rope": "rove",
    "winstat": "window_statistics",
    "wpe": "learnable",
}
OPTIONS = {
    "alibi_bias_max": "bias_max",
    "d_rel": "n_profiles",
    "hidden_size": "d_model",
    "interleaved": "pairing",
    "is_neox_style": "pairing",
    "max_position_embeddings": "max_length",
    "max_relative_position": "max_distance",
    "max_relative_positions": "max_distance",
    "mrope_interleaved": "arrangement",
    "mrope_section": "sections",
    "num_attention_heads": "n_heads",
    "num_buckets": "n_buckets",
    "num_heads": "n_heads",
    "original_max_position_embeddings": "original_length",
    "position_buckets": "n_buckets",
    "partial_rotary_factor": "share",
    "rel_extent": "reach",
    "relative_attention_max_distance": "max_distance",
    "relative_attention_num_buckets": "n_buckets",
    "rope_scaling": "scaling",
    "rope_theta": "base",
    "rope_type": "scaling",
    "rotary_value": "values",
    "rotary_dim": "share",
    "rotary_emb_base": "base",
    "rotary_pct": "share",
    "theta": "base",
}
ARGUMENTS = {  # of a layer's or a model's call; the first one that it has
    **dict.fromkeys(("position_ids", "pos", "position"), ("positions", "times")),
    **dict.fromkeys(("times", "timestamps", "time"), ("positions", "times")),
    "positions": ("times",),
    **dict.fromkeys(("attention_mask", "key_padding_mask"), ("padding", "mask")),
    "src_key_padding_mask": ("padding", "mask"),
    "attn_mask": ("pairs",),
    **dict.fromkeys(("past_key_value", "past_key_values", "layer_past", "kv_cache"), ("cache",)),
    "input_ids": ("tokens",),
}
NOTES = {
    "attention_mask": "bool, True for a real token",
    "key_padding_mask": "True for a real token, where PyTorch's marks a padded one",
    "src_key_padding_mask": "True for a real token, where PyTorch's marks a padded one",
    "attn_mask": "bool, True where a query looks at a key",
}
SCALINGS = {
    "default": "none",
    "dynamic": "dynamic_ntk",
    "ntk_aware": "ntk",
    "position_interpolation": "linear",
    "su": "longrope",
}
PAIRINGS = {
    "gptj": "interleaved",
    "neox": "half",
    "rotate_every_two": "interleaved",
    "rotate_half": "half",
}


def choice(argument: str, value: object, known: Iterable[str], words: Mapping[str, str]) -> str:
    """Return `value`, or raise ValueError that says what a word from elsewhere is called here."""
    known = list(known)
    called = None if value in known else here(value, known, words)
    if called is not None:
        raise ValueError(f"{argument} {value!r} has the name {called!r} here".replace('"', "'"))
    return _checks.choice(argument, value, known)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return what was perhaps meant, as the end of a message, or nothing."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def knows_its_arguments(method: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Let a method say what an argument that it does not have is called here."""
    known = list(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def checked(*args: _Given.args, **given: _Given.kwargs) -> _Made:
        for name in given:
            if name not in known:
                raise TypeError(_no_argument(method.__qualname__, name, known))
        return method(*args, **given)

    return checked


def _no_argument(method: str, name: str, known: list[str]) -> str:
    """Return that a method has no such argument, what is meant perhaps, and which there are."""
    called = next((one for one in ARGUMENTS.get(name, ()) if one in known), None)
    said = nearest(name, known) if called is None else f"; {name} is {called} here"
    said += f", {NOTES[name]}" if called and name in NOTES else ""
    return f"{method} has no argument {name}{said}; it takes {', '.join(known)}"


def here(word: object, known: Iterable[str], words: Mapping[str, str]) -> str | None:
    """Return what a word is called here, in whatever case it is written, None if nobody knows."""
    if not isinstance(word, str):
        return None
    plain = word.lower().replace("-", "_").replace(" ", "_")
    called = plain if plain in known else words.get(plain)
    return called if called is None or called.split("'")[0] in known else None
