"""The registry and the record agree with the counts made by other means; no bytes are needed."""

import re

import pytest
from counted import COUNTS, REPEATS

from posenc_book import data
from posenc_book.data import registry
from posenc_book.data.sets import archive


def test_every_ready_made_set_of_the_registry_is_counted():
    ready = {name for name, entry in registry.ENTRIES.items() if entry.layout is archive}
    assert set(COUNTS) == ready - set(data.recorded()["absent"])


@pytest.mark.parametrize("name", COUNTS)
def test_the_record_holds_the_same_counts(name):
    facts = data.recorded_facts(name)
    sizes = (facts.train, facts.test, facts.length, facts.n_channels, facts.n_classes)
    assert sizes == COUNTS[name]
    assert facts.repeats == REPEATS.get(name, (0, 0, 0))


def test_notes_count_the_test_series_that_stand_in_the_training_part():
    said = {}
    for name, entry in registry.ENTRIES.items():
        for note in entry.notes:
            if found := re.match(r"(\d+) .*stands? in the training part", note):
                said[name] = int(found[1])
    assert said == {name: counts[2] for name, counts in REPEATS.items() if counts[2]}
