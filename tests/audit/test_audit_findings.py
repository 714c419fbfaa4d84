"""The sentences of the first page: each with its number, each computed."""

import re
from collections import Counter

import numpy as np
import pytest

from posenc.audit import findings
from posenc.audit.outcomes import Outcome
from posenc.experiments.classification import afterwards, edition, second

ALL = findings.findings()


@pytest.mark.parametrize("finding", ALL, ids=lambda one: one.page)
def test_a_finding_is_a_sentence_with_a_number_and_a_page(finding):
    assert re.search(r"\d", finding.text)
    assert finding.text.endswith(".")
    assert finding.title.endswith(".")
    assert finding.page.endswith((".ipynb", ".md"))


def test_every_statement_is_accounted_for():
    text = next(one.text for one in ALL if one.page == "claims.md")
    outcomes = r"(\d+) (?:hold|are slips|could not be|are refuted|cannot be)"
    later = text.index("papers behind")
    for total, part in (
        (r"Of (\d+) checkable", text[:later]),
        (r"Of (\d+) statements", text[text.rindex("Of ") :]),
    ):
        assert sum(map(int, re.findall(outcomes, part))) == int(re.search(total, part)[1])


@pytest.mark.parametrize(
    ("count", "words"),
    [
        ({}, "0 hold"),
        ({Outcome.CONFIRMED: 2, Outcome.CONDITION: 3}, "5 hold"),
        ({Outcome.CONFIRMED: 2, Outcome.SLIP: 4, Outcome.REFUTED: 0}, "2 hold and 4 are slips"),
        (
            {Outcome.NOT_REPRODUCED: 2, Outcome.REFUTED: 3, Outcome.UNTESTABLE: 4},
            "0 hold, 2 could not be reproduced, 3 are refuted and 4 cannot be tested here",
        ),
    ],
)
def test_an_outcome_that_no_statement_had_is_not_counted(count, words):
    assert findings._tally(Counter(count)) == words


def test_the_first_finding_names_its_edition_and_what_the_frozen_test_leaves_open():
    one = ALL[0]
    grid = second.learned(second.load_grid("time_series"))
    scores = grid.scores.mean((0, 2))
    assert scores[1:].mean() - scores[0] > np.ptp(scores[1:])  # what its title says
    assert "on average over sets" in one.title
    assert f"single set the best lies {afterwards.on_one_set(grid).apart.mean():.1f} " in one.text
    assert edition.read_edition().name in one.text
    assert f"beforehand, {second.said_shown(second.gains(grid))}." in one.text


def test_few_sets_are_named_with_their_steps_and_many_counted():
    assert findings._listed(("PenDigits", "SmoothSubspace")) == (
        "PenDigits (8 steps) and SmoothSubspace (15 steps)"
    )
    assert findings._listed(("a", "b", "c")) == "3 independent sets"
