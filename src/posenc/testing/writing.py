"""`check_writing`: does a loop write the same however its prompts are handed over?"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, cast

import torch
from torch import Tensor

from posenc import _checks
from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Check, Seen, difference
from posenc.testing.checks.making import check
from posenc.testing.promises import Promises
from posenc.testing.report import Finding, Report
from posenc.testing.writers import Writer, Written, maker

N_NEW = 4
"""How many tokens are written, unless a check needs another number."""
N_PADDED = 2
LENGTHS = (1, 3, 6)
"""Of prompts, the shortest first."""
WORDS = ("cached", "order", "padding", "relative", "rows", "stateless", "trained")
"""What a loop may promise, in the words of `Promises`."""

FIRST_RIGHT = (
    "the first new token is right and a later one is not, so something is not carried on behind "
    "the prompt: the mask, the cache, or the place of a new token."
)
SAMPLES = (
    "it draws its tokens, and with the generator set back it draws the same; a temperature near 0, "
    "or do_sample=False, lets it be asked."
)
LEFT_OVER = "a cache, or a place to go on from, is left over from the call before."
PADDING_SEEN = "padded tokens are seen: with others in their place something else is written."
COUNTED = (
    "positions are counted from the padding: handed such positions, the model writes the same."
)
LATER_COUNTED = (
    "new tokens are placed behind the padded length: handed such positions, the model writes the "
    "same."
)
RESTARTS = (
    "positions restart at 0 with each new token: handed such positions, the model writes the same."
)
STANDS_STILL = (
    "all new tokens stand at one place: handed such positions, the model writes the same."
)
AHEAD = "new tokens stand one place too far: handed such positions, the model writes the same."
BEHIND = "new tokens stand one place too early: handed such positions, the model writes the same."


def check_writing(
    write: Any,
    *,
    vocabulary: int | None = None,
    model: Callable[..., Any] | None = None,
    pad: int | None = None,
    tolerance: float | None = None,
    seconds: float = 20.0,
    seed: int = 0,
    measure: bool = True,
    **promises: Any,
) -> Report:
    """Ask a loop that writes whether it writes the same however its prompts are handed over.

    Alone and in a batch, with padding and without, with a cache and without, for the first time
    and again, in one go and in two: the tokens must be the same. Where scores or the model are at
    hand, two tokens that are equally likely are no fault.

    Parameters
    ----------
    write : callable or torch.nn.Module
        `write(prompts, n_new)` takes integers (rows, length) and returns the likeliest tokens
        behind them, (rows, n_new) or with the prompts before them, or a pair of these and the
        scores (rows, n_new, vocabulary), logits or log-probabilities. It may take a mask
        (`mask` or `padding`, True is real; `attention_mask`, 1 is real), `cache` or `use_cache`
        (True or False), and `positions` or `position_ids` (rows, length) of the prompts. A model
        of transformers is asked by its `generate`, another module by `write` or `generate`. A
        function without arguments builds one of all these anew for each question.
    vocabulary : int, optional
        Tokens are integers below this. A module tells by its first table of embeddings.
    model : callable, optional
        What the loop asks: tokens (rows, length) to logits (rows, length, vocabulary). A module
        that does so is its own. If it takes `positions` or `position_ids`, reasons can be tried.
    pad : int, optional
        The token by which the loop knows padding, if it takes no mask.
    tolerance : float, optional
        Largest difference of scores that is rounding, as a share of their size. By default 0.001,
        or eight roundings of the type of the weights where these are more.
    seconds : float
        After this long, a check that has no answer yet ends.
    seed : int
        Of weights that are built.
    measure : bool
        Whether to ask what was not promised, too.
    **promises
        Words of `Promises`: `cached` (promised by whoever takes a cache or has a model at hand,
        unless you say False), `order` (promised too: where the order of a prompt changes nothing,
        no fault of places would show), `padding` ("left" is promised by whoever takes a mask),
        `relative` (prompts may begin at any position), `trained` (the window), `rows` and
        `stateless`.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If `write` is nothing that writes, a promise is none that a loop can make, or the
        vocabulary is unknown.

    Notes
    -----
    A loop that stops at an end token must be asked without one. For a loop that takes lists,
    `lambda prompts, n_new, mask: write([p[m].tolist() for p, m in zip(prompts, mask)], n_new)`.
    A module is copied for each question, and the copy's weights are enlarged as in
    `check_attention`; what a plain function leaves behind, stays. Of a plain function that returns
    tokens alone, a fault may stay hidden if its model has not been trained, as its likeliest tokens
    hardly depend on places: hand over the module, or return the scores.

    Source: checks of one's own; pages of the book say what each is about.

    Examples
    --------
    >>> from posenc.models import LanguageModel
    >>> model = LanguageModel(20, 16, 2, 1, position="sinusoidal")
    >>> def write(prompts, n_new):
    ...     for _ in range(n_new):
    ...         prompts = torch.cat([prompts, model(prompts)[:, -1:].argmax(-1)], dim=1)
    ...     return prompts
    >>> check_writing(write, vocabulary=20, model=model).passed
    True
    """
    for word in promises:
        if word not in WORDS:
            raise ValueError(f"a loop cannot promise {word!r}; the words are: {', '.join(WORDS)}")
    Promises.of(promises)
    _checks.positive("seconds", seconds)
    if tolerance is not None:
        _checks.positive("tolerance", tolerance)
    make = maker(write, vocabulary=vocabulary, model=model, pad=pad)
    with torch.random.fork_rng(devices=[]):
        first = make()
        said = Promises.of(_usual(first) | promises)
        rounding = max(1e-3, 8 * torch.finfo(first.dtype).eps)
        asked = Asked(make, said, tolerance or rounding, seed)
        found: list[Finding] = []
        for one in WRITING:
            if one.is_asked(said, measure):
                found.append(one.run(asked, seconds))
                if one in WRITING[:2] and found[-1].outcome in ("broken", "late"):
                    return Report(first.name, tuple(found), said.made(), cut_short=True)
        return Report(first.name, tuple(found), said.made())


def _usual(writer: Writer) -> dict[str, Any]:
    """Return what a loop promises by what it takes."""
    usual: dict[str, Any] = {"order": True}
    if writer.takes("cache") or writer.model is not None:
        usual["cached"] = True
    if writer.takes("padding"):
        usual["padding"] = "left"
    return usual


def _writer(asked: Asked) -> Writer:
    """Return the loop made anew, as far as it can be."""
    return cast(Writer, asked.subject())


@lru_cache(maxsize=4)
def _idle(asked: Asked) -> Writer:
    """Return one that never writes, to ask for prompts and what its model finds likely."""
    return _writer(asked)


def _lengths(asked: Asked, n_new: int = N_NEW + N_PADDED) -> list[int]:
    """Return lengths of prompts that leave room for new tokens within the window."""
    most = (asked.trained or 100) - n_new
    return [length for length in LENGTHS if length <= most]


def _compared(asked: Asked, one: Written, other: Written) -> tuple[float, int]:
    """Return how far one is from the other, and at which new token it is more than rounding.

    Behind two tokens that are equally likely, nothing can be compared.
    """
    largest = 0.0
    for step, (token, due) in enumerate(zip(one.tokens, other.tokens, strict=True)):
        number = 0.0 if token == due else _gap(asked, one, other, step)
        if one.scores is not None and other.scores is not None:
            number = max(number, difference(one.scores[step], other.scores[step]))
        if not number <= asked.tolerance:
            return number, step + 1
        largest = max(largest, number)
        if token != due:
            break
    return largest, 0


def _gap(asked: Asked, one: Written, other: Written, step: int) -> float:
    """Return how much likelier one of two tokens is, or the share of tokens that are others."""
    writer = _idle(asked)
    if other.scores is not None:
        scores = other.scores[step]
    elif writer.model is not None:
        scores = writer.likely(other)[step]
    else:
        return float((one.tokens != other.tokens).double().mean())
    return _behind(scores, scores[one.tokens[step]], scores[other.tokens[step]])


def _behind(scores: Tensor, token: Tensor, best: Tensor) -> float:
    return float((best - token).abs() / scores.square().mean().sqrt())


def _by_model(asked: Asked, one: Written, positions: Tensor | None = None) -> tuple[float, int]:
    """Return how far it is from what the model itself finds likely, and at which new token."""
    due = _idle(asked).likely(one, positions)
    largest = 0.0
    for step, token in enumerate(one.tokens):
        scores = due[step]
        number = _behind(scores, scores[token], scores.max())
        if one.scores is not None:
            number = max(number, difference(one.scores[step], scores))
        if not number <= asked.tolerance:
            return number, step + 1
        largest = max(largest, number)
    return largest, 0


def _seen(number: float, step: int, shown: str, hint: str = "", row: int = 0) -> Seen:
    """Return what was seen, with the new token at which it went wrong."""
    note = f"prompt {row + 1}, from its new token {step} on" if step else ""
    return Seen(number, shown, note=note, hint=hint)


def _shown(rows: int, length: int) -> str:
    return f"{rows} prompt{'s' * (rows > 1)} of {length} token{'s' * (length > 1)}"


@check(
    "it writes as many tokens as it was asked for",
    promise="stateless",
    page="your-gpt",
    hint="a dimension of size 1 is dropped, or it stops at an end token, which must be off here.",
)
def answers(asked: Asked) -> Iterator[Seen]:
    """Hand over one prompt, of one token and of several, and then two."""
    for rows, length in ((1, 1), (1, 3), (2, 1), (2, 3)):
        writer = _writer(asked)
        for n_new in (1, 2):
            writer.written(writer.tokens(rows, length), n_new)
        yield Seen(0.0, _shown(rows, length))


@check(
    "the order of a prompt changes what is written",
    promise="order",
    page="order-blindness",
    hint=(
        "only its end is read; or weights are so small that no wrong place would show: hand over "
        "the module itself, or scores, or a model that has been trained."
    ),
    at_least=1e-3,
)
def order(asked: Asked) -> Iterator[Seen]:
    """Swap the first two tokens, and look for any change."""
    for length in _lengths(asked)[1:]:
        prompts = _idle(asked).tokens(8, length)
        some = _writer(asked).written(prompts, N_NEW)
        others = _writer(asked).written(_swapped(prompts), N_NEW)
        pairs = zip(some, others, strict=True)
        number = max(_change(one, other) for one, other in pairs)
        yield Seen(number, f"{_shown(8, length)}, their first two tokens swapped")


def _swapped(prompts: Tensor) -> Tensor:
    return torch.cat([prompts[:, :2].flip(1), prompts[:, 2:]], dim=1)


def _change(one: Written, other: Written) -> float:
    if one.scores is not None and other.scores is not None:
        return difference(one.scores[0], other.scores[0])
    return float((one.tokens != other.tokens).double().mean())


@check(
    "the same prompts again are answered the same",
    promise="stateless",
    page="your-gpt",
    hint=LEFT_OVER,
)
def again(asked: Asked) -> Iterator[Seen]:
    """Write behind the same prompts twice."""
    for length in _lengths(asked):
        number, step, row = _twice(asked, length, seeded=False)
        hint = LEFT_OVER
        if step and _twice(asked, length, seeded=True)[0] <= asked.tolerance:
            hint = SAMPLES
        yield _seen(number, step, f"{_shown(2, length)}, twice", hint, row)


def _twice(asked: Asked, length: int, *, seeded: bool) -> tuple[float, int, int]:
    writer, came = _writer(asked), []
    for _ in range(2):
        if seeded:
            torch.default_generator.manual_seed(0)
        came.append(writer.written(writer.tokens(2, length), N_NEW))
    return _worst(asked, came[1], came[0])


def _worst(asked: Asked, some: list[Written], others: list[Written]) -> tuple[float, int, int]:
    """Return the largest difference over prompts, its new token, and its row."""
    pairs = enumerate(zip(some, others, strict=True))
    found = [(*_compared(asked, one, other), row) for row, (one, other) in pairs]
    return max(found, key=lambda one: (one[1] > 0, one[0]))


@check(
    "the same prompts are answered the same behind others",
    promise="stateless",
    page="your-gpt",
    hint="what an earlier call left behind decides: a cache kept for other prompts, or a length.",
)
def after_others(asked: Asked) -> Iterator[Seen]:
    """Write behind other prompts first, as long and longer."""
    for length in _lengths(asked):
        first = _writer(asked).written(_idle(asked).tokens(2, length), N_NEW)
        writer = _writer(asked)
        for longer in (0, N_PADDED):
            writer.written(writer.tokens(2, length + longer, seed=5), N_NEW)
        after = writer.written(writer.tokens(2, length), N_NEW)
        number, step, row = _worst(asked, after, first)
        yield _seen(number, step, f"{_shown(2, length)}, behind others", row=row)


@check(
    "some tokens and then more equal all in one go",
    promise="stateless",
    page="your-gpt",
    hint="the number of new tokens decides something, such as how long an empty cache is.",
)
def in_two_goes(asked: Asked) -> Iterator[Seen]:
    """Write one token, and the others behind prompt and token."""
    for length in _lengths(asked):
        prompts = _idle(asked).tokens(1, length)
        (whole,) = _writer(asked).written(prompts, N_NEW)
        (one,) = _writer(asked).written(prompts, 1)
        (rest,) = _writer(asked).written(torch.cat([prompts, one.tokens[None]], 1), N_NEW - 1)
        scores = [part.scores for part in (one, rest) if part.scores is not None]
        joined = Written(
            one.prompt,
            torch.cat([one.tokens, rest.tokens]),
            torch.cat(scores) if len(scores) == 2 else None,
        )
        number, step = _compared(asked, joined, whole)
        yield _seen(number, step, f"{_shown(1, length)}, 1 new one and then {N_NEW - 1}")


@check(
    "prompts in a batch are answered as if alone",
    promise="rows",
    page="four-doors",
    hint="one row decides for all, or rows and steps are mixed up.",
)
def rows(asked: Asked) -> Iterator[Seen]:
    """Write behind three prompts of one length, and behind each by itself."""
    for length in _lengths(asked):
        prompts = _idle(asked).tokens(3, length)
        together = _writer(asked).written(prompts, N_NEW)
        number, step, row = _worst(asked, together, _alone(asked, together))
        yield _seen(number, step, f"{_shown(3, length)}, and each alone", row=row)


def _alone(asked: Asked, texts: list[Written]) -> list[Written]:
    """Return what is written behind the same prompts, each by itself and without padding."""
    return [_writer(asked).written(one.prompt[None], N_NEW)[0] for one in texts]


@check(
    "with a cache it writes what it writes without",
    promise="cached",
    page="rotary",
    hint="the cache is not empty at first, or holds what is handed over once more.",
)
def cached(asked: Asked) -> Iterator[Seen]:
    """Write with a cache and without."""
    for length in _lengths(asked):
        prompts = _idle(asked).tokens(1, length)
        (due,), (came,) = (
            _writer(asked).written(prompts, N_NEW, cache=cache) for cache in (False, True)
        )
        number, step = _compared(asked, came, due)
        hint = _misplaced(asked, came, step) if step else ""
        yield _seen(number, step, f"{_shown(1, length)}, with a cache and without", hint)


@check(
    "each new token is the likeliest to the model itself",
    promise="cached",
    page="your-gpt",
    hint=(
        "it reads the scores of another token than the last, or hands over a part of the text; or "
        "the model changes its mind about early tokens as the text goes on."
    ),
)
def likeliest(asked: Asked) -> Iterator[Seen]:
    """Hand the model the whole text at once, and look at each next token."""
    for length in _lengths(asked):
        (came,) = _writer(asked).written(_idle(asked).tokens(1, length), N_NEW)
        number, step = _by_model(asked, came)
        hint = _misplaced(asked, came, step) if step else ""
        yield _seen(number, step, f"{_shown(1, length)}, and the whole text at once", hint)


def _misplaced(asked: Asked, came: Written, step: int) -> str:
    """Return where new tokens seem to stand, if the model writes the same with such places."""
    if step < 2:
        return ""
    length, new = len(came.prompt), torch.arange(N_NEW - 1)
    guesses = {
        RESTARTS: torch.zeros_like(new),
        STANDS_STILL: torch.full_like(new, length),
        AHEAD: length + 1 + new,
        BEHIND: length - 1 + new,
    }
    prompt = torch.arange(length)
    guesses = {hint: torch.cat([prompt, at]) for hint, at in guesses.items()}
    return _tried(asked, came, guesses) or FIRST_RIGHT


def _tried(asked: Asked, came: Written, guesses: dict[str, Tensor]) -> str:
    """Return the hint whose positions make the model write what the loop wrote, or ""."""
    for hint, positions in guesses.items():
        try:
            if _by_model(asked, came, positions)[0] <= asked.tolerance:
                return hint
        except Exception:  # a guess that cannot be tried proves nothing
            return ""
    return ""


def _padded(asked: Asked, length: int, side: str, filler: int) -> list[Written]:
    """Return what is written behind a short prompt padded on a side, and a longer one."""
    writer = _writer(asked)
    prompts = writer.tokens(2, length + N_PADDED)
    real = torch.ones_like(prompts, dtype=torch.bool)
    padded = slice(None, N_PADDED) if side == "left" else slice(length, None)
    real[0, padded] = False
    if writer.pad is None:
        prompts[0, padded] = filler
    return writer.written(prompts, N_NEW, real=real)


def _sides(asked: Asked, side: str) -> Iterator[Seen]:
    for length in _lengths(asked):
        together = _padded(asked, length, side, 0)
        number, step, row = _worst(asked, together, _alone(asked, together))
        hint = _why_padded(asked, together[row], side, step) if step else ""
        shown = f"prompts of {length} and {length + N_PADDED} tokens, padded on the {side}"
        yield _seen(number, step, shown, hint, row)


def _why_padded(asked: Asked, came: Written, side: str, step: int) -> str:
    """Return the reason that a change of the question proves right, or ""."""
    if side == "right" and step < 2:
        return ""
    length = len(came.prompt)
    if _value_matters(asked, length, side)[0] > asked.tolerance:
        return PADDING_SEEN
    real = torch.arange(length + N_NEW - 1)
    behind = real + N_PADDED
    guesses = {COUNTED: behind, LATER_COUNTED: torch.cat([real[:length], behind[length:]])}
    return _tried(asked, came, guesses) or (FIRST_RIGHT if step > 1 else "")


@check(
    "prompts padded on the left are answered as if alone",
    promise="padding left",
    page="four-doors",
    hint="padded tokens are seen, or they are counted, so that real ones stand elsewhere.",
)
def left(asked: Asked) -> Iterator[Seen]:
    """Put padding before the shorter prompt."""
    yield from _sides(asked, "left")


@check(
    "prompts padded on the right are answered as if alone",
    promise="padding right",
    page="four-doors",
    hint="the scores of the last column are read, where the shorter prompt has padding.",
)
def right(asked: Asked) -> Iterator[Seen]:
    """Put padding behind the shorter prompt."""
    yield from _sides(asked, "right")


@check(
    "any token may stand in the padding",
    promise="padding",
    page="four-doors",
    hint="padding is known by one token, whatever the mask says, or it is seen.",
)
def value(asked: Asked) -> Iterator[Seen]:
    """Fill up with the token 0, and with another one."""
    if _idle(asked).pad is not None:
        raise CannotAsk("it knows padding by its token")
    side = "right" if str(asked.promises.padding).startswith("right") else "left"
    for length in _lengths(asked):
        number, step, row = _value_matters(asked, length, side)
        shown = f"prompts of {length} and {length + N_PADDED} tokens, padded with 0 and with 3"
        yield _seen(number, step, shown, row=row)


def _value_matters(asked: Asked, length: int, side: str) -> tuple[float, int, int]:
    zeros, others = (_padded(asked, length, side, filler) for filler in (0, 3))
    return _worst(asked, others, zeros)


@check(
    "a prompt as long as the window is read to its beginning",
    promise="stateless",
    page="beyond-training-length",
    hint="the text is cut one token too short, or a token is asked for that needs no place.",
)
def window(asked: Asked) -> Iterator[Seen]:
    """Write one token behind a prompt that fills the window, and ask the model for it."""
    if asked.trained is None:
        raise CannotAsk("nobody has said how long its window is; `trained=` would")
    if asked.trained > 600:
        raise CannotAsk(f"its window of {asked.trained:,} tokens is too long to be filled here")
    prompts = _idle(asked).tokens(1, asked.trained)
    (came,) = _writer(asked).written(prompts, 1)
    number, step = _by_model(asked, came)
    yield _seen(number, step, f"{_shown(1, asked.trained)}, and a new one")


@check(
    "prompts that begin elsewhere are answered the same",
    promise="relative",
    page="rotary",
    hint="new tokens count from the number of tokens, and not on from the last position.",
)
def moved(asked: Asked) -> Iterator[Seen]:
    """Hand over positions from 0 on, and from 7 on."""
    for length in _lengths(asked):
        prompts, at = _idle(asked).tokens(1, length), torch.arange(length)[None]
        here, there = (
            _writer(asked).written(prompts, N_NEW, positions=at + start)[0] for start in (0, 7)
        )
        number, step = _compared(asked, there, here)
        yield _seen(number, step, f"{_shown(1, length)}, from position 0 on and from 7 on")


WRITING: tuple[Check, ...] = (
    answers,
    again,
    order,
    after_others,
    in_two_goes,
    rows,
    cached,
    likeliest,
    left,
    right,
    value,
    window,
    moved,
)
"""Every check of a loop, in the order in which it is asked."""
