"""Values of a configuration, with where each comes from."""

import math
from collections.abc import Mapping
from typing import Any

from posenc.register.reading import ConfigError

NAMES = {  # what earlier releases and other families call the same
    "num_hidden_layers": ("n_layer", "num_layers", "n_layers", "decoder_layers"),
    "num_decoder_layers": ("num_layers",),
    "num_attention_heads": (
        "n_head", "num_heads", "n_heads", "attention_heads", "decoder_attention_heads",
    ),
    "head_dim": ("kv_channels",),
    "attention_head_dim": ("head_dim",),
    "hidden_size": ("n_embd", "d_model"),
    "max_position_embeddings": ("n_positions", "n_ctx", "max_seq_len", "seq_length"),
    "rope_theta": ("rotary_emb_base", "global_rope_theta"),
    "partial_rotary_factor": ("rotary_pct", "rope_pct"),
    "rope_local_base_freq": ("local_rope_theta", "swa_rope_theta"),
    "sliding_window": ("sliding_window_size", "attention_window_size"),
}  # fmt: skip
MOST = 1 << 40
SMALL, LARGE = 1e-30, 1e30  # beyond them, products of two numbers leave what float64 can hold


class Values:
    """What a configuration says, and what the family's class fills in where it says nothing."""

    def __init__(self, config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self.config, self.defaults = config, defaults

    def find(self, name: str) -> tuple[Any, str]:
        """Return a value and its source, "config" or "default"; else None and "code"."""
        for source, values in (("config", self.config), ("default", self.defaults)):
            for known in (name, *NAMES.get(name, ())):
                if values.get(known) is not None:
                    return values[known], source
        return None, "code"

    def says(self, name: str) -> bool:
        """Return whether the configuration itself has an entry, be it null."""
        return any(known in self.config for known in (name, *NAMES.get(name, ())))

    def get(self, name: str) -> Any:
        return self.find(name)[0]

    def count(self, name: str) -> int | None:
        """Return a whole number of at least 1, or None where there is none."""
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < MOST:
            raise ConfigError(f"{name} must be a whole number of at least 1, got {value!r:.60}")
        return value

    def whole(self, name: str) -> int:
        """Return a whole number from 0 on."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST:
            raise ConfigError(f"{name} must be a whole number from 0 on, got {value!r:.60}")
        return value

    def part(self, name: str) -> Mapping[str, Any]:
        """Return an object inside the configuration, empty where there is none."""
        value = self.get(name)
        return {} if value is None else mapping(name, value)

    def need(self, name: str) -> int:
        """Return a whole number of at least 1, or raise ConfigError where there is none."""
        known = [one for one in (name, *NAMES.get(name, ())) if one in self.config]
        if known and all(self.config[one] is None for one in known):
            raise ConfigError(f"{known[0]} must be a whole number of at least 1, got null")
        if (value := self.count(name)) is None:
            raise ConfigError(
                f"the configuration does not say {name}, and its family has no default"
            )
        return value

    def number(self, name: str) -> float | None:
        value = self.get(name)
        return None if value is None else above_zero(name, value)


def above_zero(name: str, value: Any) -> float:
    """Return a finite number above 0, or raise ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 < value < math.inf):
        raise ConfigError(f"{name} must be a number above 0, got {value!r:.60}")
    if not SMALL <= value <= LARGE:
        raise ConfigError(
            f"{name} must be a number above 0, from {SMALL:g} to {LARGE:g}, got {value!r:.60}"
        )
    return float(value)


def mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{name} must be an object with named entries, got {value!r:.60}")
    return value
