"""Two transformers that classify time series: one token per step, or one per patch.

They are Algorithms 1 and 2 of a survey (Irani and Metsis 2025, section 4), the first after
Zerveas et al. (2021), the second after Dosovitskiy et al. (2021). What the algorithms leave open
is an option, whose default is named where it is chosen.
"""

from posenc.models.layer import EncoderLayer
from posenc.models.norms import BatchNorm, LayerNorm, NoNorm
from posenc.models.patch import PatchTransformer
from posenc.models.positions import PositionLike
from posenc.models.time_series import TimeSeriesTransformer

__all__ = [
    "BatchNorm",
    "EncoderLayer",
    "LayerNorm",
    "NoNorm",
    "PatchTransformer",
    "PositionLike",
    "TimeSeriesTransformer",
]
