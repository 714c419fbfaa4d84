"""A `params.json`, which Mistral and Meta have beside their own code, as a configuration."""

from collections.abc import Mapping
from typing import Any

ENTRIES = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "rope_theta": "rope_theta",
    "sliding_window": "sliding_window",
    "max_seq_len": "max_position_embeddings",
    "max_position_embeddings": "max_position_embeddings",
}
SCALED = {  # what Meta's code takes where `use_scaled_rope` is true
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def is_params(config: Mapping[str, Any]) -> bool:
    """Return whether a configuration has the names of Meta's and Mistral's own code."""
    return {"dim", "n_layers"} <= config.keys() and "model_type" not in config


def config(said: Mapping[str, Any]) -> tuple[dict[str, Any], str, list[str]]:
    """Return a configuration, the pairing of such weights, and what sounds like positions.

    Their own code pairs neighbours; the weights for transformers are reordered.

    Source: `model.py` of meta-llama/llama-models, `args.py` of mistralai/mistral-inference.
    """
    found = {ENTRIES[name]: value for name, value in said.items() if name in ENTRIES}
    found = {n: v for n, v in found.items() if v is not None}
    found["model_type"] = "mistral" if "head_dim" in said else "llama"
    found.setdefault("rope_theta", 10_000.0)  # the default of both codes
    if said.get("use_scaled_rope"):
        found["rope_scaling"] = dict(SCALED)
    if isinstance(yarn := said.get("yarn"), Mapping):
        found["rope_scaling"] = _yarn(yarn)
    left = {n: v for n, v in said.items() if n.startswith(("rope", "yarn", "llama_4")) and v}
    read = {*ENTRIES, "yarn", "use_scaled_rope"}
    return found, "interleaved", [f"{n} = {v!r:.60}" for n, v in left.items() if n not in read]


def _yarn(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schedule as Mistral writes it: `alpha` and `beta` turns bound the ramp."""
    names = {
        "factor": "factor", "beta": "beta_fast", "alpha": "beta_slow",
        "original_max_position_embeddings": "original_max_position_embeddings",
    }  # fmt: skip
    block = {names[name]: value for name, value in said.items() if name in names}
    if said.get("apply_scale") is False:
        block["attention_factor"] = 1.0
    return {"rope_type": "yarn", **block}
