"""Does a gain go with the norm, or with the size of the model?

Tier 3 trains no encoding and a few others with the other norm, and in a larger model, on ten varied
sets. What is asked of them was fixed before any was read (`results/protocol.md`, 25 November 2026):
does an encoding help there, and does the mean gain of three encodings change?
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book.read.classification import edition, edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import MARGIN, TOKENS, Accuracies
from posenc_book.statistics import friedman
from posenc_book.statistics.answers import Answer, Family

SAID = {"other-norm": "the other norm", "large": "a larger model"}
QUESTIONS = tuple(product(protocols.VARIANTS, TOKENS))
"""Variant and model: what Holm's correction counts, whole or not."""
NOT_TRAINED = "not trained"
AVERAGED = protocols.COMPARED["large"][1:]
"""The encodings whose mean gain is compared, the same for every question."""
NORMS = {"time_series": "batch", "patch": "layer"}
"""The norm of each model's own algorithm; the other one is that of the other model."""

Pair = tuple[Accuracies, Accuracies]
"""The plain model and the variant, with the same sets and encodings."""


def whole(*, every: bool = False) -> dict[tuple[str, str], Pair]:
    """Return the plain model and the variant on the sets that both have, by variant and model.

    Parameters
    ----------
    every : bool
        Whether to take in sets that came after the edition.

    Returns
    -------
    dict of (variant, model) to (Accuracies, Accuracies)
        What has no whole set is left out.

    Raises
    ------
    ValueError
        If the edition names a data set that is not whole.

    Examples
    --------
    >>> whole().keys() <= {*QUESTIONS}
    True
    """
    found = {}
    for variant, model in QUESTIONS:
        compared = protocols.COMPARED[variant]
        if not edition.has_whole(model, variant, compared, every=every):
            continue
        varied = edition2.load_grid(model, variant=variant, every=every)
        plain = edition2.load_grid(model, encodings=varied.encodings, every=every)
        both = [name for name in varied.datasets if name in plain.datasets]
        if both:
            found[variant, model] = plain.only(both), varied.only(both)
    return found


def learned(pair: Pair) -> Pair:
    """Return the units on which the plain model and the variant both learn something."""
    kept = set.intersection(
        *({one.dataset for one in edition2.decides(grid) if one.learned} for grid in pair)
    )
    plain, varied = (grid.only(kept) for grid in pair)
    return (plain.units(), varied.units()) if kept else (plain, varied)


@dataclass(frozen=True)
class Change(Answer):
    """How the mean gain of `AVERAGED` over none changes from the plain model to a variant.

    Parameters
    ----------
    variant, model : str
    datasets : tuple of str
        Units on which both learn something.
    plain, varied : array of shape (n_units, n_resamples)
        Mean gains, shares of 1.
    """

    variant: str
    model: str
    datasets: tuple[str, ...]
    plain: NDArray[np.float64]
    varied: NDArray[np.float64]


def changes(pairs: Mapping[tuple[str, str], Pair]) -> dict[tuple[str, str], Change]:
    """Return how the mean gain changes, for every question with at least two learned units.

    Parameters
    ----------
    pairs : mapping of (variant, model) to (Accuracies, Accuracies)
        As `whole` returns them. Holm counts four questions; what is lacking counts with p = 1.

    Returns
    -------
    dict of (variant, model) to Change

    Raises
    ------
    ValueError
        If a grid lacks one of `AVERAGED`.

    Examples
    --------
    >>> changes({})
    {}
    """
    units = {question: learned(pair) for question, pair in pairs.items()}
    units = {question: pair for question, pair in units.items() if len(pair[0].datasets) > 1}
    cells = {question: tuple(map(_mean_gain, pair)) for question, pair in units.items()}
    moved = {title(*question): varied - plain for question, (plain, varied) in cells.items()}
    family = Family("changes", tuple(title(*question) for question in QUESTIONS), MARGIN)
    found = family.over_sets(moved)
    changed = {}
    for question, (plain, varied) in cells.items():
        variant, model = question
        changed[question] = Change(
            **vars(found[title(*question)]),
            variant=variant,
            model=model,
            datasets=units[question][0].datasets,
            plain=plain,
            varied=varied,
        )
    return changed


def _mean_gain(grid: Accuracies) -> NDArray[np.float64]:
    """Return the mean gain of `AVERAGED`, (n_units, n_resamples)."""
    return np.mean([grid.gains(name) for name in AVERAGED], axis=0)


def variant_gains(
    pairs: Mapping[tuple[str, str], Pair],
) -> dict[tuple[str, str], list[edition2.Gain]]:
    """Return what each encoding adds to none in a variant, judged as in the plain models.

    Parameters
    ----------
    pairs : mapping of (variant, model) to (Accuracies, Accuracies)

    Returns
    -------
    dict of (variant, model) to list of second.Gain
        Over the units that both learn; questions with fewer than two are left out.

    Examples
    --------
    >>> variant_gains({})
    {}
    """
    units = {question: learned(pair)[1] for question, pair in pairs.items()}
    return {q: edition2.gains(grid) for q, grid in units.items() if len(grid.datasets) > 1}


def norm(model: str, variant: str) -> str:
    """Return the norm of a model: its own, or the other one."""
    changed = protocols.VARIANTS[variant][model] if variant else {}
    return str(changed.get("norm", NORMS[model]))


def title(variant: str, model: str) -> str:
    """Return a question in words, as tables and figures name it.

    Parameters
    ----------
    variant, model : str

    Examples
    --------
    >>> title("large", "patch")
    'a larger model, patches'
    """
    return f"{SAID[variant]}, {TOKENS[model]}"


def change_rows(found: Iterable[Change]) -> dict[str, dict[str, Any]]:
    """Return a row a question: mean gains in points, their change with its interval, the verdict.

    Parameters
    ----------
    found : iterable of Change

    Examples
    --------
    >>> cells = np.full((6, 5), 0.05) + 0.02 * np.arange(6)[:, None]
    >>> change = friedman.effect(-cells / 2)
    >>> one = Change("", change, 0.03, 1.0, "large", "patch", tuple("ABCDEF"), cells, cells / 2)
    >>> change_rows([one])["a larger model, patches"]["change"]
    '-5.0 [-7.0, -3.0]'
    """
    rows = {}
    for one in found:
        plain, varied = (100 * cells.mean() for cells in (one.plain, one.varied))
        rows[title(one.variant, one.model)] = {
            "sets": len(one.datasets),
            "gain in the plain model": f"{plain:+z.1f}",
            "gain there": f"{varied:+z.1f}",
            "change": edition2.points_text(one.effect),
            "verdict (p)": edition2.verdict_text(one),
        }
    return rows


def gain_rows(
    found: Mapping[tuple[str, str], Sequence[edition2.Gain]],
) -> dict[str, dict[str, str]]:
    """Return a row an encoding: its mean gain in points with interval and verdict, by question.

    Parameters
    ----------
    found : mapping of (variant, model) to a sequence of second.Gain
        As `variant_gains` returns them. An encoding that is not among those of a question says so.

    Examples
    --------
    >>> gain_rows({})
    {}
    """
    columns = {question: title(*question) for question in found}
    rows: dict[str, dict[str, str]] = {}
    for question, some in found.items():
        for one in some:
            row = rows.setdefault(one.encoding, dict.fromkeys(columns.values(), NOT_TRAINED))
            said = f"{edition2.points_text(one.effect)}, {edition2.verdict_text(one)}"
            row[columns[question]] = said
    return rows


def level_rows(pairs: Mapping[tuple[str, str], Pair]) -> dict[str, dict[str, str]]:
    """Return a row a question: accuracies in per cent without an encoding and with the three.

    Beside them by how much a model without an encoding is better in the variant, in points, over
    the units that both learn.

    Parameters
    ----------
    pairs : mapping of (variant, model) to (Accuracies, Accuracies)

    Examples
    --------
    >>> level_rows({})
    {}
    """
    rows = {}
    for (variant, model), pair in pairs.items():
        row = {}
        for where, grid in zip(("plain", "there"), pair, strict=True):
            row[f"{where}, none"] = f"{100 * grid.scores[:, 0].mean():.1f}"
            three = grid.compare(AVERAGED).scores
            row[f"{where}, mean of three"] = f"{100 * three.mean():.1f}"
        plain, varied = (grid.scores[:, 0] for grid in learned(pair))
        if len(plain) > 1:
            row["none, there less plain"] = edition2.points_text(friedman.effect(varied - plain))
        rows[title(variant, model)] = row
    return rows
