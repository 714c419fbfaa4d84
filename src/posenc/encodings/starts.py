"""What encodings have in common when their parameters are drawn, at the start and ever again."""

import torch
from torch import nn


def empty_linear(n_in: int, n_out: int, *, bias: bool = False) -> nn.Linear:
    """Return a linear map whose weights are yet to be drawn, by its owner's `reset_parameters`.

    So nothing is drawn twice, and encodings start with the random numbers they always had.
    """
    device = torch.get_default_device()
    return nn.utils.skip_init(nn.Linear, n_in, n_out, bias=bias, device=device)


def reset_projections(*maps: nn.Linear) -> None:
    """Draw the weights of linear maps from Glorot's uniform distribution."""
    for one in maps:  # that a linear map draws, too, is kept, so that what follows stays the same
        one.reset_parameters()
    for one in maps:
        nn.init.xavier_uniform_(one.weight)
