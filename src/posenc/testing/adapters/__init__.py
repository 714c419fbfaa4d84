"""What stands between a module and the checks; each kind has one, and `adapt` finds it."""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from posenc.attention import SelfAttention
from posenc.models import LanguageModel
from posenc.testing.adapters.base import Adapter, CannotAsk, Ignored, UseError, WrongOutput
from posenc.testing.adapters.functions import FunctionAdapter, takes_three
from posenc.testing.adapters.hugging_face import HuggingFaceAdapter, is_of_transformers
from posenc.testing.adapters.modules import EncoderAdapter, ModuleAdapter, MultiheadAdapter
from posenc.testing.adapters.ours import OwnAdapter

__all__ = [
    "Adapter",
    "CannotAsk",
    "EncoderAdapter",
    "FunctionAdapter",
    "HuggingFaceAdapter",
    "Ignored",
    "ModuleAdapter",
    "MultiheadAdapter",
    "OwnAdapter",
    "UseError",
    "WrongOutput",
    "adapt",
]


OF_TORCH: dict[type[nn.Module], Callable[..., Adapter]] = {
    nn.MultiheadAttention: MultiheadAdapter,
    nn.TransformerEncoder: EncoderAdapter,
    nn.TransformerEncoderLayer: EncoderAdapter,
}
"""Who asks a module of PyTorch, unless it is of a class with a `forward` of its own."""


def adapt(
    made: Any, *, width: int | None = None, vocabulary: int | None = None, causal: bool = False
) -> Adapter:
    """Return the adapter for what somebody made.

    Parameters
    ----------
    made : Adapter, nn.Module or function
        An adapter of one's own comes back as it is.
    width, vocabulary : int, optional
        What a token is, where the module does not tell.
    causal : bool
        Whether `nn.MultiheadAttention` and `nn.TransformerEncoder` get a causal mask.

    Returns
    -------
    Adapter

    Raises
    ------
    ValueError
        If it is nothing that takes tokens.
    """
    if isinstance(made, Adapter):
        return made
    if isinstance(made, SelfAttention | LanguageModel):
        return OwnAdapter(made)
    for kind, adapter in OF_TORCH.items():
        if isinstance(made, kind) and type(made).forward is kind.forward:
            return adapter(made, causal=causal)
    if is_of_transformers(made):
        return HuggingFaceAdapter(made)
    if isinstance(made, nn.Module):
        return ModuleAdapter(made, width=width, vocabulary=vocabulary)
    if inspect.isroutine(made) and takes_three(made):
        return FunctionAdapter(made)
    if inspect.isroutine(made) and width is not None:
        return Adapter(made, width=width, name=made.__name__)
    raise UseError(
        "make must return a torch.nn.Module, a function of (q, k, v), or a "
        f"posenc.testing.Adapter, got {made!r:.80}"
    )
