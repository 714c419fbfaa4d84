"""Our own kernels, and the one door to them: what is hard to read, because it is quick.

Only `kernels` calls them, and nothing depends on them but time and memory: `formula.written_out`
computes the same. `blocks` learns scores of position on a CPU, with `band`, `beyond` and `flash`;
`flex` serves a GPU. README.md, beside this file, is for whoever wants to change one of them.
"""

from posenc.attention.fast.blocks import blocked_attention
from posenc.attention.fast.flex import flexible_attention
from posenc.attention.fast.flex import serves as flex_serves

__all__ = ["blocked_attention", "flex_serves", "flexible_attention"]
