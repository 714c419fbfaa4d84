"""Attention with five doors through which position may enter.

Three ways in. With an attention of your own, begin at `rope` and `cos_sin`, which turn queries and
keys as functions (`turning`), and at `score_mod`, which hands a bias to FlexAttention (`for_flex`).
To use or change an encoding of the book, hand it to `SelfAttention`, `LatentAttention` or
`CrossAttention` (`layer`, `latent`, `cross`). To write one, derive from `Position` (`position`),
and declare what a door adds with `by_offset` and its like (`terms`).

Behind them: `places` knows where tokens stand; `axes` refuses tensors that a door is not made for;
`core` is what all layers share, `scoring` what their softmax gets besides, `maps` the linear maps
that others may replace; `masks` says who sees whom, `cache` remembers earlier tokens; `words` knows
what things are called elsewhere. `kernels` decides which kernel serves: PyTorch's own, one of
ours (`fast`, whose README says why), or the `formula`. Torch starts here.
"""

from posenc.attention.cache import Cache, Kept
from posenc.attention.core import check_position, embedded
from posenc.attention.cross import CrossAttention
from posenc.attention.for_flex import score_mod
from posenc.attention.latent import LatentAttention, LatentSizes
from posenc.attention.layer import SelfAttention
from posenc.attention.masks import check_mask
from posenc.attention.places import Places, Steps
from posenc.attention.position import DOORS, Mix, Position
from posenc.attention.scoring import QueryScaling, Scoring
from posenc.attention.terms import Form, Term, by_offset, by_product, by_query_and_offset
from posenc.attention.turning import cos_sin, rope

__all__ = [
    "DOORS",
    "Cache",
    "CrossAttention",
    "Form",
    "Kept",
    "LatentAttention",
    "LatentSizes",
    "Mix",
    "Places",
    "Position",
    "QueryScaling",
    "Scoring",
    "SelfAttention",
    "Steps",
    "Term",
    "by_offset",
    "by_product",
    "by_query_and_offset",
    "check_mask",
    "check_position",
    "cos_sin",
    "embedded",
    "rope",
    "score_mod",
]
