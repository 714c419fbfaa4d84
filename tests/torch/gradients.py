"""Gradients against differences, in a layer's input and in all that it learns."""

import torch
from torch.autograd import gradcheck


def are_right(attention, x):
    """Return whether they are; raise where they are not."""
    names, parameters = zip(*attention.named_parameters(), strict=True)

    def output(x, *values):
        given = dict(zip(names, values, strict=True))
        return torch.func.functional_call(attention, given, x)

    inputs = (x.requires_grad_(), *(p.detach().clone().requires_grad_() for p in parameters))
    return gradcheck(output, inputs, fast_mode=True)
