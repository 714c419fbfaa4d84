"""A model's checkpoint: an encoding that several layers share is stored once."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from posenc.models.layer import Layers


class StoredOnce(nn.Module):
    """A model with `layers` whose encodings may be one and the same."""

    layers: Layers
    __call__: Callable[..., Tensor]

    def state_dict(self, *args: Any, **options: Any) -> Any:
        """Return parameters and buffers, those of a shared encoding once, with the first layer.

        Some formats, such as safetensors, refuse to store a tensor under two names. Checkpoints
        that name an encoding in every layer are loaded all the same.
        """
        state = super().state_dict(*args, **options)
        for key in self._repeated(options.get("prefix", "")):
            state.pop(key, None)
        return state

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        for key, first in self._repeated(prefix).items():
            if first in state_dict:
                state_dict.setdefault(key, state_dict[first])
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _repeated(self, prefix: str) -> dict[str, str]:
        """Return a shared encoding's names in later layers, each with the one in its first."""
        positions = [layer.attention.position for layer in self.layers]
        firsts = [next(j for j, p in enumerate(positions) if p is one) for one in positions]
        place = prefix + "layers.{}.attention.position.{}"
        return {
            place.format(i, name): place.format(first, name)
            for i, first in enumerate(firsts)
            for name in positions[i].state_dict()
            if first < i
        }
