"""What happens beyond the trained length?"""

from collections.abc import Iterator

from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

PAGE = "beyond-training-length"


@check(
    "beyond the trained length it refuses, or tells places apart",
    promise="beyond",
    page=PAGE,
    hint="places beyond the table are clamped to the last one, or begin again.",
)
def told_apart(asked: Asked) -> Iterator[Seen]:
    """Give a longer input, and swap two of its tokens that stand beyond the trained length."""
    trained = _trained(asked)
    length, wanted = trained + 4, asked.promises.beyond
    subject = asked.subject()
    x = subject.tokens(1, length)
    shown = f"{length} tokens, {length - trained} more than trained"
    try:
        out = subject.outputs(x)
    except Exception as error:  # a refusal may have any form
        refused = f"refused: {type(error).__name__}"
        yield Seen(float(wanted == "exact"), shown, note=refused)
        return
    if wanted == "refused":
        yield Seen(1.0, shown, note="served, without an error")
        return
    for pair in ([trained, trained + 1], [1, trained + 1]):  # places that end, or begin again
        swapped = x.clone()
        swapped[:, pair] = x[:, pair[::-1]]
        apart = difference(subject.outputs(swapped)[:, -1:], out[:, -1:]) > 1e-5
        note = "served, and places are told apart" if apart else "served, and places are mixed up"
        where = " and ".join(map(str, pair))
        yield Seen(float(not apart), f"{shown}, those at {where} swapped", note=note)


@check(
    "beyond the trained length, earlier answers stay",
    promise="beyond",
    page=PAGE,
    hint="frequencies follow the length of the input, so that every answer changes with it.",
)
def earlier_stay(asked: Asked) -> Iterator[Seen]:
    """Ask within the trained length, and again with more tokens behind (of a causal layer)."""
    if asked.promises.beyond == "refused" or not asked.promises.causal:
        raise CannotAsk("it is asked of what promises to be causal, and not to refuse")
    trained = _trained(asked)
    subject = asked.subject()
    x = subject.tokens(1, trained + 4)
    whole = subject.outputs(x)[:, :trained]
    alone = asked.subject().outputs(x[:, :trained])
    yield Seen(difference(whole, alone), f"{trained} tokens, and 4 more behind them")


def _trained(asked: Asked) -> int:
    trained = asked.trained
    if trained is None:
        raise CannotAsk("nobody said for which length it was trained: say trained=512, for one")
    if trained > 2048:
        raise CannotAsk(
            f"trained = {trained} is too long to be asked in seconds; make a smaller one"
        )
    return trained
