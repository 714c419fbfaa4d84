"""The reading as tables, for notebooks and as Markdown."""

from collections.abc import Sequence

from posenc_book.atlas import called
from posenc_book.read.forecasting import rivals as baselines
from posenc_book.read.forecasting.answers import Answer, Answered
from posenc_book.read.forecasting.complete import (
    Stored,
    completeness_rows,
    encodings_rows,
    units_rows,
)
from posenc_book.read.forecasting.effects import Effect, per_cent
from posenc_book.read.forecasting.registered import Family
from posenc_book.teaching.table import Table

NOTHING = "–"
LEAST_P = 0.0001  # below which a p-value is not told
NUMBERS = (
    "change of the error",
    "95 % interval",
    "units with less",
    "scatter of units",
    "scatter of seeds",
)


def completeness_tables(stored: Stored) -> list[Table]:
    """Return what is there of the units that count: by part, by unit, and by encoding."""
    return [
        Table(completeness_rows(stored), head="part", caption="What is trained."),
        Table(units_rows(stored), head="unit", caption="Places that are whole."),
        Table(
            {called(name): row for name, row in encodings_rows(stored).items()},
            head="encoding",
            caption="Units on which a place is whole.",
        ),
    ]


def answers_table(answered: Answered) -> Table | None:
    """Return what a family comes to, in per cent of the error; None as long as it is not whole."""
    if not answered.is_whole:
        return None
    rows = {called(one.comparison.label): _row(one, answered.family) for one in answered.answers}
    return Table(rows, head=answered.family.name, caption=answered.completeness, unbroken=True)


def _row(one: Answer, family: Family) -> dict[str, str]:
    row = {"answer": verdict_text(one)} if family.tested else {}
    row |= dict.fromkeys(NUMBERS, NOTHING) | {NUMBERS[0]: "refuses"}
    if one.effect is not None:
        row |= _numbers(one.effect)
    if one.p_value is not None:
        row["p of no difference"] = _p(one.p_value)
    if one.p_equal is not None:
        row["p beyond the margin"] = _p(one.p_equal)
    return row


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= LEAST_P else f"< {LEAST_P}"


def _numbers(effect: Effect) -> dict[str, str]:
    interval = effect.interval
    found = (
        f"{per_cent(interval.mean):+z.1f} %",
        f"[{per_cent(interval.low):+z.1f}, {per_cent(interval.high):+z.1f}]",
        f"{(effect.by_unit < 0).sum()} of {len(effect.units)}",
        f"{effect.of_units:.3f}",
        f"{effect.of_seeds:.3f}",
    )
    return dict(zip(NUMBERS, found, strict=True))


def verdict_text(one: Answer) -> str:
    """Return an answer in words: ahead is a smaller error."""
    return NOTHING if one.answer == "interval" else one.answer


def rivals_table(standings: Sequence[baselines.Standing]) -> Table:
    """Return in how many units each reader is ahead of each rival."""
    rows: dict[str, dict[str, str]] = {}
    for one in standings:
        rows.setdefault(one.reader, {})[one.rival.replace("_", " ")] = str(one)
    caption = "Units in which a reader, with the encoding that validation chooses, is ahead."
    return Table(rows, head="reader", caption=caption)


def behind_sentences(standings: Sequence[baselines.Standing], rival: str) -> list[str]:
    """Return sentences that name the units in which readers are not ahead of a rival."""
    return [
        f"{one.reader} is not ahead of {rival.replace('_', ' ')} on {', '.join(one.behind)}."
        for one in standings
        if one.rival == rival and one.behind
    ]


def markdown(table: Table) -> str:
    """Return a table in Markdown, its caption above it."""
    head = [table.head, *table.columns]
    rows = [[name, *map(str, row.values())] for name, row in table.rows.items()]
    rule = ["---", *["---:"] * len(table.columns)]
    lines = ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)]
    return "\n".join([*([table.caption, ""] if table.caption else []), *lines])
