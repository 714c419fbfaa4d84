"""Self-attention with four doors through which position may enter.

`position` holds the doors, `layer` the attention that calls them, `kernels` what computes it fast.
Torch starts here.
"""

from posenc.attention.layer import SelfAttention, check_mask, check_position, embedded
from posenc.attention.position import DOORS, Mix, Position

__all__ = [
    "DOORS",
    "Mix",
    "Position",
    "SelfAttention",
    "check_mask",
    "check_position",
    "embedded",
]
