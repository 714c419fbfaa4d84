"""Where tokens stand in a batch with padding, or with several documents in a row."""

import torch
from torch import Tensor

from posenc.attention.places import can_look


def counted(padding: Tensor | None, documents: Tensor | None) -> Tensor | None:
    """Return the place of each token among the real ones of its document, (batch, length).

    None where that is simply 0, 1, 2, ... at every real token.
    """
    if documents is None and (padding is None or _is_behind(padding)):
        return None
    like = padding if documents is None else documents
    assert like is not None
    real = torch.ones_like(like, dtype=torch.bool) if padding is None else padding
    count = real.cumsum(1)
    if documents is not None:  # less those of earlier documents
        before = (count - real.long()).where(_begins(documents), 0)
        count = count - before.cummax(1).values
    return (count - 1).clamp(min=0)


def same_document(documents: Tensor) -> Tensor:
    """Return which two tokens belong to one document, (batch, length, length).

    That is a run of equal numbers; the same number further on is another document.
    """
    run = _begins(documents).cumsum(1)
    return run[:, :, None] == run[:, None]


def check_documents(documents: Tensor | None, tokens: Tensor) -> None:
    """Raise ValueError unless there is a whole number for each token, or None."""
    if documents is None:
        return
    if not isinstance(documents, Tensor) or documents.shape != tokens.shape:
        got = tuple(documents.shape) if isinstance(documents, Tensor) else type(documents).__name__
        raise ValueError(
            "documents must be a tensor of shape (batch, length) = "
            f"{tuple(tokens.shape)}, got {got}"
        )
    if documents.is_floating_point() or documents.dtype == torch.bool:
        raise ValueError(f"documents must be integers, got dtype {documents.dtype}")


def _begins(documents: Tensor) -> Tensor:
    """Return which tokens are the first of their document."""
    begins = torch.ones_like(documents, dtype=torch.bool)
    begins[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return begins


def _is_behind(padding: Tensor) -> bool:
    """Return whether all padding is known to stand behind the real tokens."""
    return can_look(padding) and not bool((padding[:, 1:] & ~padding[:, :-1]).any())
