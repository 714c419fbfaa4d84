"""Dropout whose masks are drawn outside the model, from one generator per seed.

That is what makes a model trained in a stack see the same masks as one trained alone. It is also
faster on a CPU: eight masks' entries come from one random 64-bit integer, and NumPy draws and
compares bytes several times faster than torch does there.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

Noise = Callable[[int], Tensor]
"""Gives that many random bytes, a tensor of type uint8 on its device."""


class Masks:
    """Hands the masks of one step to the dropouts of a model, in the order of their calls."""

    def __init__(self) -> None:
        self.shapes: list[torch.Size] = []
        self._queue: list[Tensor] | None = None
        self._next = 0

    def give(self, masks: list[Tensor] | None) -> None:
        """Set the masks of the next forward pass; None makes it a pass that notes the shapes."""
        self._queue, self._next = masks, 0

    def apply(self, x: Tensor) -> Tensor:
        """Return `x` times its mask."""
        if self._queue is None:
            self.shapes.append(x.shape)
            return x
        mask = self._queue[self._next]
        self._next += 1
        return x * mask.to(x.dtype)


class GivenDropout(nn.Module):
    """Stands where a `torch.nn.Dropout` was, with masks that are given to it."""

    def __init__(self, masks: Masks) -> None:
        super().__init__()
        self.masks = masks

    def forward(self, x: Tensor) -> Tensor:
        """(any shape) to the same."""
        return self.masks.apply(x) if self.training else x


def replace_dropout(model: nn.Module) -> Masks:
    """Replace every dropout of `model` in place, and return what feeds them."""
    masks = Masks()
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.Dropout):
                setattr(parent, name, GivenDropout(masks) if child.p else nn.Identity())
    return masks


def noise(seed: int, device: torch.device) -> Noise:
    """Return a stream of random bytes: the same for the same seed and kind of device."""
    if device.type != "cpu":
        generator = torch.Generator(device).manual_seed(seed)
        return lambda n: torch.randint(
            256, (n,), dtype=torch.uint8, device=device, generator=generator
        )
    rng = np.random.Generator(np.random.SFC64(seed))
    return lambda n: torch.from_numpy(
        rng.integers(0, 2**64, -(-n // 8), dtype=np.uint64).view(np.uint8)[:n]
    )


def draw(shapes: list[torch.Size], p: float, source: Noise) -> list[Tensor]:
    """Return masks of the given shapes: 0 with probability `p`, else one over the share kept.

    `p` is rounded to a multiple of 1/256.
    """
    if not shapes:
        return []
    sizes = [shape.numel() for shape in shapes]
    dropped = min(round(p * 256), 255)
    scaled = _scaled(source(sum(sizes)), dropped, 256 / (256 - dropped))
    return [flat.view(shape) for flat, shape in zip(scaled.split(sizes), shapes, strict=True)]


def _scaled(noise: Tensor, dropped: int, scale: float) -> Tensor:
    if noise.device.type == "cpu":  # compares bytes twenty times faster than torch
        kept = np.greater_equal(noise.numpy(), dropped).astype(np.float32)
        return torch.from_numpy(kept).mul_(scale)
    return (noise >= dropped).to(torch.float32).mul_(scale)
