"""When trainings check, keep, stop: in epochs and in steps."""

import math

import pytest

from posenc_book.bench.course import Best, learning_rate, plan
from posenc_book.bench.train import train
from posenc_book.records.settings import Settings

STEPS = {"steps": 1000, "least_steps": 200, "patience_steps": 100, "check_every": 50}


def settings(**changes) -> Settings:
    return Settings("none", "patch", "range_probe", **changes)


def test_a_course_in_epochs_checks_once_an_epoch():
    course = plan(settings(epochs=7, patience=3), n_batches=5)
    assert (course.round_steps, course.most_rounds, course.patience) == (5, 7, 3)
    assert course.most_steps == 35


def test_a_course_in_steps_does_not_depend_on_the_number_of_batches():
    courses = {plan(settings(**STEPS), n_batches=n) for n in (1, 5, 500)}
    assert len(courses) == 1
    (course,) = courses
    assert (course.round_steps, course.most_rounds) == (50, 20)
    assert (course.least_rounds, course.patience) == (4, 2)


def test_a_constant_schedule_stays_and_a_cosine_one_falls():
    constant, cosine = (settings(schedule=s, warmup=0.1) for s in ("constant", "cosine"))
    for cell in (constant, cosine):
        assert learning_rate(0, 100, cell) == pytest.approx(1e-4)
        assert learning_rate(9, 100, cell) == pytest.approx(1e-3)
    assert learning_rate(99, 100, constant) == 1e-3
    assert learning_rate(99, 100, cosine) < 1e-6


def checks(best: Best, pairs: list[tuple[float, float]]) -> list[bool]:
    return [best.check(n, 1.0, *pair) for n, pair in enumerate(pairs, 1)]


def test_the_best_check_has_the_highest_accuracy_and_then_the_lowest_loss():
    best = Best(settings(**STEPS))
    found = checks(best, [(0.5, 1.0), (0.4, 0.1), (0.5, 0.9), (0.5, 0.95)])
    assert found == [True, False, True, False]
    assert best.at == 3


def test_in_steps_a_tiny_fall_of_the_loss_is_no_progress_but_one_per_cent_is():
    best = Best(settings(**STEPS))
    checks(best, [(0.5, 1.0), (0.5, 0.995)])
    assert best.waiting == 1
    checks(best, [(0.5, 0.98)])
    assert best.waiting == 0


def test_in_steps_a_perfect_accuracy_leaves_nothing_to_wait_for():
    best = Best(settings(**STEPS))
    checks(best, [(1.0, 1.0), (1.0, 0.5), (1.0, 0.2)])
    assert best.waiting == 2
    assert best.at == 3


def test_in_epochs_any_better_check_restores_patience():
    best = Best(settings())
    checks(best, [(1.0, 1.0), (1.0, 0.999)])
    assert best.waiting == 0


@pytest.mark.parametrize(
    ("least", "accuracy", "first"),
    [(200, 0.5, 4), (500, 1.0, 3)],  # who has all right need not take the least number of steps
)
def test_nothing_stops_before_the_least_number_of_steps(least, accuracy, first):
    cell = settings(**STEPS | {"least_steps": least})
    best, course = Best(cell), plan(cell, 1)
    for n in range(1, 7):
        best.check(n, 1.0, accuracy, 0.1)
        assert best.done(course) == (n >= first)


def test_a_loss_that_is_not_finite_ends_a_training_with_its_place():
    best = Best(settings(**STEPS))
    best.check(3, math.nan, 0.5, 1.0)
    assert best.error == "the training loss became nan before step 150"
    assert best.done(plan(best.settings, 1))


def test_a_training_in_steps_takes_as_many_on_small_sets_as_on_large_ones(cell):
    for n in (48, 192):
        options = {"length": 12, "n": n, "distance": 3}
        steps = {**STEPS, "steps": 60, "least_steps": 60, "check_every": 20}
        (result,) = train([cell(model="patch", dataset_options=options, **steps)])
        assert result["steps"] == 60
        assert len(result["validation_curve"]) == 3
        assert result["best_step"] in (20, 40, 60)
