"""Does a token see later ones?"""

from collections.abc import Iterator

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check


@check(
    "no token sees a later one",
    promise="causal",
    page="four-doors",
    hint="the mask lets a token see one too many, or is added after the softmax.",
)
def causal(asked: Asked) -> Iterator[Seen]:
    """Replace the last token by another one; those before must not notice."""
    for length in asked.lengths(2):
        subject = asked.subject()
        x = subject.tokens(1, length)
        changed = subject.replaced(x, length - 1)
        before = [subject.outputs(one)[:, :-1] for one in (changed, x)]
        yield Seen(difference(*before), f"{length} tokens, the last one replaced by another")


@check(
    "no earlier answer changes as the text goes on",
    promise="causal",
    page="four-doors",
    hint="something is averaged over the whole input, such as a norm over its length.",
)
def goes_on(asked: Asked) -> Iterator[Seen]:
    """Ask for the first tokens alone, and with more behind them."""
    for length in asked.lengths(3):
        subject = asked.subject()
        x = subject.tokens(1, length)
        whole = subject.outputs(x)[:, : length - 1]
        alone = asked.subject().outputs(x[:, : length - 1])
        yield Seen(
            difference(whole, alone), f"{length - 1} tokens, and the same with one more behind"
        )
