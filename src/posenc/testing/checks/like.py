"""Does a layer do with positions what a configuration says?"""

from collections.abc import Iterator

from posenc.register.rules import Layer
from posenc.testing.adapters.base import CannotAsk
from posenc.testing.asking import Asked, Seen
from posenc.testing.checks.making import check
from posenc.testing.like import distances, hearing, rotation, scoring, sight, tables
from posenc.testing.like.fault import seen

TALK = 23  # tokens of random texts
LOOKS = ("longrope", "dynamic")
"""Schedules that look at the length of the input."""


@check(
    "queries and keys turn as the configuration says",
    promise="like turn",
    page="rotary",
    on_request=True,
)
def turn(asked: Asked) -> Iterator[Seen]:
    """Let one token stand at many places, and watch its queries and keys."""
    like, held = hearing.description(asked), "pairs, direction and frequencies are those"
    try:
        run = hearing.far(asked)
    except hearing.OtherHeads as error:
        yield seen([error.fault], "one token at several places", "")
        return
    yield seen(list(rotation.faults(run, like)), hearing.listed(run), held)
    if any((pair.due.scaling or {}).get("type") in LOOKS for pair in run.pairs):
        schedules = [pair.due.scaling for pair in run.pairs if pair.due.scaling]
        trained = max(one["original_max_position_embeddings"] for one in schedules)
        long = hearing.far(asked, last=2 * trained)
        yield seen(list(rotation.faults(long, like)), hearing.listed(long), held)
    if any(pair.due.sections for pair in run.pairs):
        runs = [hearing.far(asked, axis=axis) for axis in range(3)]
        yield seen(list(rotation.axes(runs)), f"{hearing.listed(run)}, along one axis", held)
    if behind := hearing.behind_mixers(asked):
        raise CannotAsk(
            f"layer {behind[0]} stands behind one that mixes tokens otherwise; give it by itself, "
            f"with layer={behind[0]}"
        )
    hearing.needs_all(asked, run)


@check(
    "scores are scaled as the configuration says",
    promise="like scale",
    page="released-models",
    on_request=True,
)
def scale(asked: Asked) -> Iterator[Seen]:
    """Divide scores by products, and queries by what they were before they turned."""
    _without_vectors(asked)
    talks = _talks(asked)
    still = hearing.counted(asked, TALK)
    if any(one.heard.q is None for one in still.pairs):
        raise CannotAsk("no product of queries and keys was heard, and so no scale")
    yield seen(
        list(scoring.faults(talks, still)), hearing.listed(still), "scale and gain are those"
    )
    if unheard := scoring.unheard(talks, still):
        raise CannotAsk(
            f"what queries of layer {unheard[0]} were before they turned was not heard, and so not "
            "what they are multiplied by"
        )


@check(
    "scores get by distance what the configuration says",
    promise="like bias",
    page="distance",
    on_request=True,
)
def bias(asked: Asked) -> Iterator[Seen]:
    """Take products out of scores, and look at what is left at each offset."""
    due = _without_vectors(asked)
    run = hearing.with_scores(asked, max(map(distances.needed, due)))
    found = list(distances.faults(run, _talks(asked)))
    yield seen(found, hearing.listed(run), "what is added is that")


@check(
    "each query sees what the configuration says",
    promise="like sight",
    page="four-doors",
    on_request=True,
)
def sees(asked: Asked) -> Iterator[Seen]:
    """Look which scores are hidden, in a text longer than the window."""
    windows = [one.window for _, one in hearing.attends(asked) if one.window]
    length = TALK if not windows else max(windows) + min(max(windows), TALK) + 1
    if length > sight.LONGEST:
        raise CannotAsk(
            f"a window of {max(windows):,} is too long to look past; make the layer, and the "
            "configuration, with a smaller sliding_window"
        )
    run = hearing.with_scores(asked, length)
    yield seen(list(sight.faults(run)), hearing.listed(run), "windows and masks are those")


@check(
    "the softmax has a sink where the configuration says",
    promise="like sinks",
    page="released-models",
    on_request=True,
)
def sinks(asked: Asked) -> Iterator[Seen]:
    """Look whether scores have a column that is no token's, or weights do not sum to one."""
    run = hearing.with_scores(asked, TALK)
    faults = list(sight.sinks(run))
    subject = asked.subject()
    nowhere = bool(faults) and not any(one.heard.has_sink() for one in run.pairs)
    if nowhere and not sight.sums_to_one(subject.outputs(subject.constant(1, TALK))[0]):
        if len(run.pairs) > 1:
            raise CannotAsk("weights do not sum to one, and which layers have a sink is not heard")
        faults = []
    yield seen(faults, hearing.listed(run), "sinks are those")


@check(
    "tokens take the rows of a table that the configuration says",
    promise="like table",
    page="order",
    on_request=True,
)
def rows(asked: Asked) -> Iterator[Seen]:
    """Look which rows are looked up."""
    run = hearing.counted(asked, TALK)
    yield seen(list(tables.faults(run)), hearing.listed(run), "rows are those")
    hearing.needs_all(asked, run)


def _talks(asked: Asked) -> list[hearing.Run]:
    """Return two runs of random texts."""
    return [hearing.counted(asked, TALK, seed=seed, keep=False) for seed in (1, 2)]


def _without_vectors(asked: Asked) -> list[Layer]:
    """Return the layers that are due, or raise CannotAsk where vectors of distances meet tokens."""
    due = [one for _, one in hearing.attends(asked)]
    if any(one.relative or one.profiles for one in due):
        raise CannotAsk(
            "scores with vectors or curves of distances that meet tokens, as this family has them, "
            "are not read"
        )
    return due


LIKE = (turn, scale, bias, sees, sinks, rows)
