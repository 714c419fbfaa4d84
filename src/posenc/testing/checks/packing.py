"""Do documents in one row leave each other alone?"""

from collections.abc import Iterator

import torch

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "packed documents equal documents alone",
    promise="packing",
    page="beyond-training-length",
    hint="the mask does not know where a document ends, or places go on counting.",
)
def packed(asked: Asked) -> Iterator[Seen]:
    """Put two documents into one row, and ask for each alone."""
    for length in (n for n in asked.lengths(2) if 2 * n <= (asked.trained or 100)):
        subject = asked.subject()
        x = subject.tokens(1, 2 * length)
        documents = torch.arange(2).repeat_interleave(length)[None]
        together = subject.outputs(x, documents=documents)
        for n, part in enumerate(x.split(length, 1)):
            alone = asked.subject().outputs(part)
            own = together[:, n * length : (n + 1) * length]
            shown = f"two documents of {length} tokens in a row; number {n + 1}"
            yield Seen(difference(own, alone), shown)
