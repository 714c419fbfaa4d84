"""The five readers: which tokens a transformer makes of a context, and how it reads them out.

Beside them stand two linear maps of the same windows, which are baselines.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc_book.bench import build
from posenc_book.records.settings import Settings

N_CALENDAR = 4
KNOWN, N_KNOWN = "known_ahead", 2  # option of a cell, and channels of each column it names


@dataclass(frozen=True)
class Reader:
    """A way to read a context.

    Parameters
    ----------
    tokens : {"steps", "patches"}
    pooling : {"flatten", "mean", "last"}
        A flattened head gives each token weights of its own, so it knows their places by itself; a
        mean knows none. "last" is a decoder's.
    causal : bool
        Whether a token sees itself and earlier ones only.
    """

    tokens: str
    pooling: str
    causal: bool = False


READERS = {
    "steps_flat": Reader("steps", "flatten"),
    "steps_mean": Reader("steps", "mean"),
    "patches_flat": Reader("patches", "flatten"),
    "patches_mean": Reader("patches", "mean"),
    "decoder": Reader("steps", "last", causal=True),
}


LINEAR = {"linear": 1, "linear_short": 4}  # what share of the context they see: all, a quarter


class LinearReader(nn.Module):
    """A linear map from the last steps of a scaled context to the horizon.

    As contexts are scaled from their last value on, that is NLinear's form; DLinear's two maps of a
    trend and what is left are one linear map, too (Zeng et al. 2023).

    Parameters
    ----------
    length, n_channels, horizon : int
        Steps that are seen, their channels, steps that are forecast.
    """

    def __init__(self, length: int, n_channels: int, horizon: int) -> None:
        super().__init__()
        self.length = length
        self.head = nn.Linear(length * n_channels, horizon)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """(batch, context, n_channels) to (batch, horizon); what is missing is zero already."""
        return self.head(x[:, -self.length :].flatten(1))


def n_tokens(reader: str, context: int, patch: int) -> int:
    """Return how many tokens a reader makes of a context."""
    if reader in LINEAR:
        return 1
    return context if READERS[reader].tokens == "steps" else -(-context // patch)


def make_model(cell: Settings, context: int, horizon: int, *, calendar: bool) -> nn.Module:
    """Return the model of a cell with the initial weights of its seed.

    It maps (batch, context, channels) and a mask to (batch, horizon), in units of the scaled
    context. Norms are layer norms before each branch.
    """
    n_channels = 1 + N_CALENDAR * calendar + N_KNOWN * len(cell.dataset_options.get(KNOWN, ()))
    if cell.model in LINEAR:
        return _starting_level(LinearReader(context // LINEAR[cell.model], n_channels, horizon))
    reader = READERS[_checks.choice("model", cell.model, (*READERS, *LINEAR))]
    make = TimeSeriesTransformer if reader.tokens == "steps" else PatchTransformer
    options: dict[str, Any] = {} if reader.tokens == "steps" else {"patch": cell.patch}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(cell.seed)
        model = make(
            n_channels,
            horizon,
            context,
            position=build.position(cell),
            d_model=cell.d_model,
            n_heads=cell.n_heads,
            n_layers=cell.n_layers,
            d_ff=cell.d_ff,
            dropout=cell.dropout,
            norm="layer",
            norm_first=True,
            pooling=reader.pooling,
            head="linear",
            causal=reader.causal,
            check_input=False,
            **options,
        )
    return _starting_level(model)


def _starting_level(model: nn.Module) -> nn.Module:
    """Let the first forecast of a model be the last known value."""
    assert isinstance(model.head, nn.Linear)
    nn.init.zeros_(model.head.weight)
    nn.init.zeros_(model.head.bias)
    return model
