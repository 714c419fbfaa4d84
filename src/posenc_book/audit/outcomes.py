"""The six verdicts and what each means, in the one place where they are defined.

A module of its own, because every notebook imports it and the rules need scipy's statistics.
"""

from collections.abc import Mapping
from enum import StrEnum


class Outcome(StrEnum):
    """The six verdicts."""

    CONFIRMED = "confirmed"
    CONDITION = "confirmed with a condition"
    SLIP = "slip"
    NOT_REPRODUCED = "not reproduced"
    REFUTED = "refuted"
    UNTESTABLE = "not testable here"


DEFINITIONS: Mapping[Outcome, str] = {
    Outcome.CONFIRMED: (
        "The statement holds as printed: it is proved or counted, or a test with enough power "
        "shows it under the source's own conditions."
    ),
    Outcome.CONDITION: (
        "The statement holds, but only under a condition that the source does not name, or it is "
        "shown under other conditions than the source's; the condition is given."
    ),
    Outcome.SLIP: (
        "An index, a symbol, a count, a constant, a boundary case or a word is wrong; the meaning "
        "survives, and the corrected form is given. A slip does not count as refuted."
    ),
    Outcome.NOT_REPRODUCED: (
        "Our own measurement, under conditions that are named, gives something else beyond "
        "rounding and noise; the printed figure may still be right."
    ),
    Outcome.REFUTED: (
        "There is an exact counter-example, or printed figures contradict printed words, or a "
        "test with enough power shows the opposite, or equivalence is shown within a margin that "
        "was named beforehand."
    ),
    Outcome.UNTESTABLE: (
        "What would decide is missing: data, detail, power, independent units or printed digits. "
        "A difference that is not shown stands here; it refutes nothing."
    ),
}
"""What each of the six verdicts means, in whole sentences."""
