"""What the chapter on models measures in small ones: work, norms, and what a model can see."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from posenc import encodings
from posenc.attention import Position, SelfAttention
from posenc.models import PositionLike, TimeSeriesTransformer

SIZE: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 64}

# names of weights in a model that is written in the chapter, and in the library's
_NAMES = {
    "words.map.": "patches.",
    "words.0.": "project.",
    "words.1.": "input_norm.",
    "norms.0.": "attention_norm.",
    "norms.1.": "feed_forward_norm.",
    "feed.0.": "expand.",
    "feed.2.": "contract.",
}


def added_parameters(n_channels: int, n_classes: int, length: int) -> tuple[int, dict[str, int]]:
    """Return the parameters of a step transformer of the survey's size, and what encodings add.

    Returns
    -------
    the number without an encoding, and a dict of every encoding's name to the number added.
    """
    counts = {
        name: sum(
            weights.numel()
            for weights in TimeSeriesTransformer(n_channels, n_classes, length, name).parameters()
        )
        for name in encodings.names()
    }
    return counts["none"], {name: count - counts["none"] for name, count in counts.items()}


@torch.no_grad()
def sees_reversal(position: PositionLike, x: Tensor) -> bool:
    """Say whether an untrained model with this encoding tells series from their reversals.

    Parameters
    ----------
    position : as `TimeSeriesTransformer` takes it
    x : tensor of shape (n, length, n_channels)
    """
    torch.manual_seed(0)
    model = TimeSeriesTransformer(x.shape[2], 2, x.shape[1], position, **SIZE).eval()
    return not torch.allclose(model(x), model(x.flip(1)), atol=1e-5)


@torch.no_grad()
def told_apart(*, residual: bool, n_layers: int = 4, n_tokens: int = 100) -> float:
    """Return which share of the tokens' energy tells them apart after some layers of attention.

    Parameters
    ----------
    residual : bool
        Whether what came in is added to what attention returns.
    n_layers, n_tokens : int
    """
    torch.manual_seed(0)
    x = torch.randn(1, n_tokens, 128)
    for _ in range(n_layers):
        attend = SelfAttention(128, 8, Position(128, 8, max_length=n_tokens))
        x = x + attend(x) if residual else attend(x)
    deviation = x - x.mean(1, keepdim=True)
    return float(deviation.square().sum() / x.square().sum())


@torch.no_grad()
def operations(model: nn.Module, x: Tensor) -> int:
    """Return the operations of a model's matrix products, by PyTorch's own counter."""
    # the counter does not look into fused kernels
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(x)
    return counter.get_total_flops()


@torch.no_grad()
def largest_means(norm: Callable[[int], nn.Module]) -> tuple[float, float]:
    """Return what a norm leaves of the means of tokens of unequal features.

    Returns
    -------
    the largest mean of a feature over all tokens, and the largest of a token over its features
    """
    torch.manual_seed(0)
    uneven = torch.randn(8, 50, 16) * torch.linspace(0.5, 3, 16) + torch.linspace(-1, 2, 16)
    after = norm(16)(uneven)
    return float(after.mean((0, 1)).abs().max()), float(after.mean(2).abs().max())


@torch.no_grad()
def same_logits(ours: nn.Module, theirs: nn.Module, x: Tensor) -> bool:
    """Say whether two models agree once the library's has the weights of the chapter's.

    Parameters
    ----------
    ours : a model as the chapter builds it
    theirs : TimeSeriesTransformer or PatchTransformer
    x : tensor of shape (batch, length, n_channels)
    """
    weights = {}
    for name, value in ours.state_dict().items():
        for here, there in _NAMES.items():
            name = name.replace(here, there)
        weights[name] = value
    if "patches.weight" in weights:  # steps side by side here, a convolution's kernel there
        like = theirs.state_dict()["patches.weight"].mT
        weights["patches.weight"] = weights["patches.weight"].reshape(like.shape).mT
    theirs.load_state_dict(weights)
    return torch.allclose(ours.eval()(x), theirs.eval()(x), atol=1e-5)
