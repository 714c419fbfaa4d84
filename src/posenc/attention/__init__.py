"""Attention with four doors through which position may enter.

`position` holds the doors, `terms` the kinds of what they add, and `places` what they may ask about
positions; `axes` refuses tensors that a door is not made for; `layer` and `cross` are the layers
that call them, `core` what both share, `maps` the linear maps that others may replace; `masks` says
who sees whom, `cache` remembers earlier tokens. `kernels` decides which kernel serves: PyTorch's
own (`flash`), `blocks`, `flex` on a GPU, or the `formula`. Torch starts here.
"""

from posenc.attention.cache import Cache, Kept
from posenc.attention.core import check_position, embedded
from posenc.attention.cross import CrossAttention
from posenc.attention.layer import SelfAttention
from posenc.attention.masks import check_mask
from posenc.attention.places import Places, Steps
from posenc.attention.position import DOORS, Mix, Position
from posenc.attention.terms import Form, Term, by_offset, by_product, by_query_and_offset

__all__ = [
    "DOORS",
    "Cache",
    "CrossAttention",
    "Form",
    "Kept",
    "Mix",
    "Places",
    "Position",
    "SelfAttention",
    "Steps",
    "Term",
    "by_offset",
    "by_product",
    "by_query_and_offset",
    "check_mask",
    "check_position",
    "embedded",
]
