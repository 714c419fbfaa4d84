"""What the guide says of the library's own layers, found by running them."""

import torch

from posenc import encodings
from posenc.attention import Cache, SelfAttention


@torch.no_grad()
def equal_steps(n_steps: int, d_model: int) -> float:
    """Return how far the vectors differ that DyWPE adds to the steps of a constant series."""
    torch.manual_seed(0)
    position = encodings.make("dywpe", d_model, 4, n_steps).double()
    added = position.embed(torch.ones(1, n_steps, d_model, dtype=torch.float64))[0]
    return (added - added[0]).abs().max().item()


@torch.no_grad()
def cached_difference(d_model: int) -> float:
    """Return how far outputs of a layer with RoPE differ, one token at a time and all at once."""
    torch.manual_seed(0)
    position = encodings.make("rotary", d_model, 4, 24)
    layer = SelfAttention(d_model, 4, position, causal=True).double().eval()
    x = torch.randn(1, 24, d_model, dtype=torch.float64)
    cache = Cache()
    one_by_one = torch.cat([layer(token, cache=cache) for token in x.split(1, dim=1)], dim=1)
    return (one_by_one - layer(x)).abs().max().item()
