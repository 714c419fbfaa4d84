"""What the chapter on models measures in small ones: training, work, and what a model can see."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from posenc import encodings
from posenc.attention import Position, SelfAttention
from posenc.models import PatchTransformer, PositionLike, TimeSeriesTransformer

Part = tuple[Tensor, Tensor]  # series (n, length, n_channels) and classes (n,)
SIZE: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 64}
LEARNING_RATE = 3e-3

# names of weights in a model written in the chapter, and in the library's
_NAMES = {"tokens.patches.": "patches.", "tokens.0.": "project.", "tokens.1.": "input_norm."}


def train(make_model: Callable[[], nn.Module], part: Part, seed: int, n_steps: int) -> nn.Module:
    """Return a model trained by AdamW for some steps, each over all series.

    Parameters
    ----------
    make_model : callable without arguments that returns a model
        Called after the seed is set.
    part : pair of tensors
        Series (n, length, n_channels) and classes (n,).
    seed, n_steps : int
    """
    x, y = part
    torch.manual_seed(seed)
    model = make_model().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for _ in range(n_steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, part: Part) -> float:
    """Return the share of series that a model classifies rightly."""
    x, y = part
    return (model(x).argmax(-1) == y).double().mean().item()


def compare_encodings(
    positions: Mapping[str, Any],
    parts: Mapping[str, Part],
    *,
    seeds: Iterable[int],
    n_steps: int,
    patch: int | None = None,
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return training and test accuracies of small transformers, by encoding, over seeds.

    Parameters
    ----------
    positions : mapping of a name to an encoding, as `TimeSeriesTransformer` takes it
    parts : mapping with "train" and "test"
    seeds : iterable of int
    n_steps : int
        Of each training, the same for all; 0 leaves the models untrained.
    patch : int, optional
        Steps in a token; by default every step is one.
    """
    x, y = parts["train"]
    fitted: dict[str, list[float]] = {name: [] for name in positions}
    tested: dict[str, list[float]] = {name: [] for name in positions}
    sizes = x.shape[2], int(y.max()) + 1, x.shape[1]
    kind = TimeSeriesTransformer if patch is None else partial(PatchTransformer, patch=patch)
    for name, seed in product(positions, seeds):
        make = partial(kind, *sizes, positions[name], **SIZE)
        model = train(make, parts["train"], seed, n_steps)
        fitted[name].append(accuracy(model, parts["train"]))
        tested[name].append(accuracy(model, parts["test"]))
    return fitted, tested


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
        if not name.startswith("position."):  # it stands in the layers too
            weights[name] = value
    theirs.load_state_dict(weights)
    return torch.allclose(ours.eval()(x), theirs.eval()(x), atol=1e-5)
