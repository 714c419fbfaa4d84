"""The search for LongRoPE's divisors keeps its constraints and finds what there is to be found."""

import numpy as np
import pytest

from experiments.characters.longrope import Search
from posenc_book.read.characters.plan import LATER

PLAN = LATER["longrope"]["search"]
WANTED = np.array([1.0, 1.3, 2.0, 3.5, 4.5])
STARTS = [np.full(5, 4.0), np.linspace(1, 4, 5)]


def search(loss=lambda one: float(np.abs(one - WANTED).sum()), seed=0, **plan):
    return Search(loss, 4.0, np.random.default_rng(seed), {**PLAN, **plan})


def test_the_best_list_is_found_and_found_again():
    found = search().run(STARTS)
    assert np.abs(found - WANTED).max() < 0.15
    assert found.tolist() == search().run(STARTS).tolist()
    assert found.tolist() != search(seed=1).run(STARTS).tolist()


def test_every_list_that_is_read_rises_within_the_bounds_and_is_read_once():
    seen = []
    one = search(lambda divisors: seen.append(tuple(divisors)) or float(divisors.sum()))
    one.run(STARTS)
    lists = np.array(seen)
    assert len(set(seen)) == len(seen) > PLAN["population"]
    assert len(seen) <= PLAN["population"] + PLAN["rounds"] * 32
    assert (np.diff(lists, axis=1) >= -1e-9).all()
    assert lists.min() >= 1
    assert lists.max() <= 5


def test_the_search_is_never_worse_than_the_list_it_begins_with():
    loss = search().loss
    found = search(rounds=1).run(STARTS)
    assert loss(found) <= min(map(loss, STARTS))


@pytest.mark.parametrize("bad", [[2.0, 1.0, 3, 3, 3], [0.5, 1, 1, 1, 1], [1, 1, 1, 1, 5.2]])
def test_a_start_outside_of_the_search_space_is_refused(bad):
    with pytest.raises(ValueError, match="starts must rise from 1 to at most 5, got"):
        search().run([np.array(bad)])


def test_a_search_ends_where_the_grid_has_fewer_lists_than_the_population():
    seen = []
    starts = [np.ones(2), np.full(2, 4.0)]
    one = search(
        lambda divisors: seen.append(tuple(divisors)) or abs(divisors - [1, 3]).sum(), step=1
    )
    assert one.run(starts).tolist() == [1.0, 3.0]
    assert len(seen) <= 15  # of 1, 2, 3, 4 and 5, the second not below the first
