"""Side-by-side timing: every contestant runs once per round, so that all see the same weather."""

import os
import time
from collections.abc import Callable
from random import Random
from statistics import median, quantiles


def interleaved(
    contestants: dict[str, Callable[[], object]], rounds: int, *, settled: bool = False
) -> dict[str, list[float]]:
    """Return the seconds of every contestant in every round, after one round to warm up.

    If `settled`, each call is made twice and the second one timed, in an order that is drawn anew
    each round: what the contestant before has left in the caches is nobody's time then.
    """
    order, random = list(contestants.items()), Random(0)
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for round_number in range(rounds + 1):
        if settled:
            random.shuffle(order)
        for name, call in order:
            if settled:
                call()
            start = time.perf_counter()
            result = call()
            elapsed = time.perf_counter() - start
            del result  # freeing the memory belongs to nobody's time
            if round_number:
                seconds[name].append(elapsed)
    return seconds


BUSY = "POSENC_BENCHMARK_BUSY"
"""Variable by which a benchmark tells those that it starts, which would see its own work."""


def busy() -> bool:
    """Return whether other programs keep more than a fifth of a processor at work."""
    said = os.environ.get(BUSY)
    return os.getloadavg()[0] > 0.2 if said is None else said == "1"


def median_ratio(numerator: list[float], denominator: list[float]) -> float:
    """Return the median over rounds of the ratio of two contestants."""
    return median(a / b for a, b in zip(numerator, denominator, strict=True))


def ratio_quartiles(numerator: list[float], denominator: list[float]) -> list[float]:
    """Return the quartiles over rounds of the ratio of two contestants, the lowest first."""
    return quantiles((a / b for a, b in zip(numerator, denominator, strict=True)), n=4)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table, first column to the left, the others to the right."""
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, rule, *rows))
