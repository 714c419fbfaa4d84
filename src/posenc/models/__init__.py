"""Transformers that classify time series, per step or per patch, and a small language model.

The first two are Algorithms 1 and 2 of a survey (Irani and Metsis 2025, section 4), one after
Zerveas et al. (2021), the other after Dosovitskiy et al. (2021). What the algorithms leave open
is an option, whose default is named where it is chosen. The third is causal and decoder-only.
"""

from posenc.models.language import LanguageModel
from posenc.models.layer import EncoderLayer
from posenc.models.norms import BatchNorm, LayerNorm, NoNorm
from posenc.models.patch import PatchTransformer
from posenc.models.positions import PositionLike
from posenc.models.time_series import TimeSeriesTransformer

__all__ = [
    "BatchNorm",
    "EncoderLayer",
    "LanguageModel",
    "LayerNorm",
    "NoNorm",
    "PatchTransformer",
    "PositionLike",
    "TimeSeriesTransformer",
]
