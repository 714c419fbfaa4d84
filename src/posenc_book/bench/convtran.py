"""ConvTran's convolutions in front of our transformer: an option of our model, not one of its own.

The survey draws ConvTran (Foumani et al. 2024) as a hybrid: convolutions, tAPE on the tokens, eRPE
in one block. What is asked here is what the convolutions bring, and what the pair of encodings is
worth behind them. So everything else is as in the model that they are compared with: its norms, its
attention, its sizes and its training. As published are the two convolutions, each with batch norm
and GELU, the number of filters, the pair of encodings, one block, and a mean of the tokens. Not as
published: there the residual path leaves tAPE out, scores are divided by the root of the whole
width, a layer norm stands in the place of the last map of attention, and norms are layer norms.
"""

from torch import Tensor, nn

from posenc.models import TimeSeriesTransformer
from posenc.models.norms import BatchNorm

N_FILTERS = 64
WINDOW = 8  # steps of a filter
BEFORE = (WINDOW - 1) // 2  # so many of them lie before the step that it makes, as torch pads


class ConvTran(TimeSeriesTransformer):
    """One token per step, made by convolutions over time and then over channels.

    Each channel meets the same filters in time; at each step a linear map of all filters of all
    channels follows, which is a convolution over the channels. Missing steps count as 0 for the
    filters, and not at all for the norms.

    Parameters
    ----------
    n_channels : int
    *sizes, **options
        As for `TimeSeriesTransformer`.

    Source: Foumani et al. (2024), ConvTran.
    """

    def __init__(self, n_channels: int, *sizes, **options) -> None:
        super().__init__(n_channels, *sizes, **options)
        del self.project, self.input_norm
        self.temporal = nn.Conv1d(1, N_FILTERS, WINDOW)
        self.temporal_norm = BatchNorm(N_FILTERS)
        self.spatial = nn.Linear(N_FILTERS * n_channels, self.d_model)
        self.spatial_norm = BatchNorm(self.d_model)

    @property
    def _first_map(self) -> nn.Module:
        return self.temporal

    def _tokens(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        n, length, n_channels = x.shape
        each = x.transpose(1, 2).reshape(n * n_channels, 1, length)  # every channel by itself
        padded = nn.functional.pad(each, (BEFORE, WINDOW - 1 - BEFORE))
        of_each = None if mask is None else mask.repeat_interleave(n_channels, 0)
        found = self.temporal_norm(self.temporal(padded).transpose(1, 2), of_each)
        found = nn.functional.gelu(found).reshape(n, n_channels, length, N_FILTERS)
        tokens = self.spatial(found.transpose(1, 2).flatten(2))
        return nn.functional.gelu(self.spatial_norm(tokens, mask)), mask
