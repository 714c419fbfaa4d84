"""What encodings, their options and their values are called elsewhere, and what they are here.

Records and messages know one name for each thing. A word from another library or a paper is
answered with it, where it means exactly the same.
"""

from collections.abc import Iterable, Mapping

from posenc import _checks

ENCODINGS = {
    "absolute": "sinusoidal' or 'learnable",
    "axial_rope": "axial_rotary",
    "bucketed": "t5",
    "disentangled": "deberta",
    "fixed": "sinusoidal",
    "learned": "learnable",
    "m_rope": "mrope",
    "multimodal_rope": "mrope",
    "no_position": "none",
    "nope": "none",
    "relative_key": "relative",
    "rope": "rotary",
    "rope_2d": "axial_rotary",
    "shaw": "relative",
    "sine": "sinusoidal",
    "sinusoid": "sinusoidal",
    "spe": "sine_spe",
    "swin_table": "swin",
    "t5_bias": "t5",
    "time2vec": "sine_linear",
    "vanilla": "sinusoidal",
    "winstat": "window_statistics",
    "wpe": "learnable",
}
OPTIONS = {
    "alibi_bias_max": "bias_max",
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
    "relative_attention_max_distance": "max_distance",
    "relative_attention_num_buckets": "n_buckets",
    "rope_scaling": "scaling",
    "rope_theta": "base",
    "rope_type": "scaling",
    "rotary_dim": "share",
    "rotary_emb_base": "base",
    "rotary_pct": "share",
    "theta": "base",
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


def here(word: object, known: Iterable[str], words: Mapping[str, str]) -> str | None:
    """Return what a word is called here, in whatever case it is written, None if nobody knows."""
    if not isinstance(word, str):
        return None
    plain = word.lower().replace("-", "_").replace(" ", "_")
    called = plain if plain in known else words.get(plain)
    return called if called is None or called.split("'")[0] in known else None
