"""Where does attention look before it has learned anything?"""

from collections.abc import Iterator

import torch

from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check


@check("where attention looks at birth", page="four-doors")
def birth(asked: Asked) -> Iterator[Seen]:
    """Average the weights of fresh modules over tokens and heads."""
    length = max(asked.lengths())
    subject = asked.subject(awake=False)
    weights = subject.weights(subject.tokens(4, length)).double().mean((0, 1))
    t = torch.arange(length)
    far = float((weights * (t - t[:, None]).abs()).sum(-1).mean())
    visible = weights > 0
    even = visible / visible.sum(-1, keepdim=True)
    as_even = float((even * (t - t[:, None]).abs()).sum(-1).mean())
    own = float(weights.diagonal().mean())
    note = f"steps away on average, evenly it would be {as_even:.2g}; on itself {own:.0%}"
    yield Seen(far, f"{length} random tokens, weights as they are born", far, note)
