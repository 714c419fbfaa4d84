"""Readings of the survey's sentences give the verdicts they should on trainings made up for it."""

from dataclasses import replace

import numpy as np
import pytest

from posenc_book.audit import printed
from posenc_book.audit.claims import claim
from posenc_book.audit.outcomes import Outcome
from posenc_book.audit.rules import Decision
from posenc_book.audit.survey import trained
from posenc_book.read.classification import edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies

ENCODINGS = protocols.ENCODINGS
SETS = protocols.UP_TO_100[:16]


def grid(model, effect, noise=0.002, seed=0):
    """Return scores in which set i gives encoding j `effect(i, j)` over 0.7."""
    rng = np.random.default_rng(seed)
    means = np.array([[effect(i, name) for name in ENCODINGS] for i in range(len(SETS))])
    scores = 0.7 + means[..., None] + rng.normal(0, noise, (*means.shape, 5))
    return Accuracies(model, tuple(SETS), ENCODINGS, scores, np.full((len(SETS), 5), 0.2))


def grids(effect, **options):
    return {model: grid(model, effect, seed=i, **options) for i, model in enumerate(printed.TABLES)}


def by_rank(sign):
    def effect(_, name):
        if name not in trained.METHODS:
            return 0.0 if name == "none" else 0.05
        ranks = np.mean([printed.average_ranks(model) for model in printed.TABLES], axis=0)
        return 0.1 - sign * 0.01 * ranks[trained.METHODS.index(name)]

    return effect


def nothing(_, name):
    return 0.05 * (name != "none")


def test_the_printed_order_is_found_where_it_is():
    assert trained.order(grids(by_rank(1))).outcome is Outcome.CONDITION


@pytest.mark.parametrize("model", printed.TABLES)
def test_the_order_is_judged_on_the_methods_of_the_survey_in_its_columns_order(model):
    judged = trained.ranked(grid(model, by_rank(1)))
    ranks = np.mean([printed.average_ranks(one) for one in printed.TABLES], axis=0)
    assert judged.encodings == tuple(trained.METHODS)
    assert np.array_equal(np.argsort(-judged.scores.mean((0, 2))), np.argsort(ranks))
    assert judged.datasets == edition2.deciding(judged).datasets


def test_the_opposite_order_is_not_reproduced_and_never_refuted():
    assert trained.order(grids(by_rank(-1))).outcome is Outcome.NOT_REPRODUCED


def test_orders_of_chance_decide_nothing_or_show_no_agreement():
    outcome = trained.order(grids(nothing, noise=0.02)).outcome
    assert outcome in (Outcome.UNTESTABLE, Outcome.NOT_REPRODUCED)


judged = pytest.mark.parametrize(
    ("gain", "noise", "outcome"),
    [
        (0.03, 0.002, Outcome.CONDITION),
        (-0.03, 0.002, Outcome.NOT_REPRODUCED),
        (0.0, 0.002, Outcome.NOT_REPRODUCED),  # equal within the margin
        (0.0, 0.2, Outcome.UNTESTABLE),
    ],
)


@judged
@pytest.mark.parametrize(
    ("judge", "better"), [(trained.accuracy, ("tupe", "sine_spe")), (trained.fourier, ("dft",))]
)
def test_more_accurate_is_judged_against_the_others(judge, better, gain, noise, outcome):
    def effect(i, name):
        return nothing(i, name) + gain * (name in better)

    assert judge(grids(effect, noise=noise)).outcome is outcome


@judged
def test_each_method_is_judged_by_itself_against_the_sinusoid(gain, noise, outcome):
    def effect(i, name):
        return nothing(i, name) + gain * (name == "tape")

    names = ("erpe", "tape")
    found = trained.over_sinusoid(grids(effect, noise=noise), names)
    equal = Outcome.UNTESTABLE if noise > 0.1 else Outcome.NOT_REPRODUCED
    assert [found[name].outcome for name in names] == [equal, outcome]
    assert "Holm's correction for 4 tests" in found["tape"].reason
    assert all(tokens in found["tape"].reason for tokens in trained.TOKENS.values())


@judged
def test_the_benefit_of_tupe_with_batch_norm_is_judged_against_that_with_layer_norm(
    gain, noise, outcome
):
    def benefit(size):
        return lambda i, name: nothing(i, name) + size * (name == "tupe")

    def two(model, seed):
        batch, layer = (
            grid(model, benefit(size), noise, seed + i)
            for i, size in enumerate((0.02 + gain, 0.02))
        )
        return (batch, layer) if model == "time_series" else (layer, batch)

    pairs = {model: two(model, 2 * i) for i, model in enumerate(printed.TABLES)}
    assert trained.norms(pairs).outcome is outcome


def test_what_lacks_for_the_norms_is_counted_by_model():
    sets = protocols.VARIED
    ten = grid("patch", nothing)
    ten = replace(ten, datasets=sets, scores=ten.scores[:10], largest_class=ten.largest_class[:10])
    assert trained.norms_missing(dict.fromkeys(trained.TOKENS, (ten, ten))) == ""
    lacking = trained.norms_missing({"patch": (ten, ten)})
    assert "0 of 10 sets with steps as tokens and 10 of 10 sets with patches" in lacking


def test_sets_of_a_later_tier_change_no_verdict_of_the_first():
    def effect(i, name):
        return nothing(i, name) + 0.03 * (name == "dft")

    found = grids(effect, noise=0.02)
    steps = found["time_series"]
    later = replace(
        steps,
        datasets=(*steps.datasets, *protocols.UP_TO_180),
        scores=np.concatenate([steps.scores, steps.scores[:8, ::-1]]),
        largest_class=np.concatenate([steps.largest_class, steps.largest_class[:8]]),
    )
    for judge in (trained.order, trained.accuracy, trained.fourier, trained.trends):
        assert judge(found | {"time_series": later}) == judge(found)


def test_one_architecture_is_not_both():
    def effect(i, name):
        return nothing(i, name) + 0.03 * (name in ("tupe", "sine_spe"))

    found = grids(effect) | {"patch": grid("patch", nothing)}
    assert trained.accuracy(found).outcome is Outcome.NOT_REPRODUCED


def test_trends_that_are_not_there_are_not_confirmed():
    found = trained.trends(grids(nothing))
    assert found.outcome is Outcome.NOT_REPRODUCED
    assert "patches, length" in found.reason


def test_a_trend_with_length_alone_is_not_all_three():
    from posenc_book import data

    lengths = [data.recorded_facts(name).length for name in SETS]

    def effect(i, name):
        return nothing(i, name) + 0.02 * np.log2(lengths[i]) * (name in ("tupe", "sine_spe"))

    found = trained.trends(grids(effect))
    assert found.outcome is Outcome.UNTESTABLE  # the worst part decides, not the best
    assert "patches, length" in found.reason


VERDICTS = {
    "confirmed": (trained.order, by_rank(1), {}, 2),
    "not reproduced": (trained.order, by_rank(-1), {}, 2),
    "untestable": (trained.accuracy, nothing, {"noise": 0.2}, 2),
    "trends": (trained.trends, nothing, {}, 6),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_what_was_measured_stands_beside_every_verdict(name):
    judge, effect, options, n_parts = VERDICTS[name]
    decision = judge(grids(effect, **options))
    said = trained.measured(decision, "the difference")
    assert said.startswith("the difference, with Student's intervals: steps as tokens")
    assert said in str(claim("S19", rule=decision, measured=said))
    assert said.count(" sets") == n_parts


def test_several_statements_are_joined_by_the_worst():
    def given(*outcomes):
        return trained.both({str(i): Decision(o, "So it is.") for i, o in enumerate(outcomes)})

    assert given(Outcome.CONFIRMED, Outcome.CONFIRMED).outcome is Outcome.CONFIRMED
    assert given(Outcome.CONFIRMED, Outcome.CONDITION).outcome is Outcome.CONDITION
    assert given(Outcome.CONFIRMED, Outcome.UNTESTABLE).outcome is Outcome.UNTESTABLE
    assert given(Outcome.UNTESTABLE, Outcome.NOT_REPRODUCED).outcome is Outcome.NOT_REPRODUCED


def test_what_the_edition_lacks_of_the_first_tier_is_counted(monkeypatch):
    def whole(model):
        return replace(grid(model, nothing), datasets=protocols.DATASETS)

    monkeypatch.setattr(trained.edition2, "load_grid", lambda model: grid(model, nothing))
    assert "16 of 19 with steps as tokens and 16 of 38 with patches" in trained.missing()
    monkeypatch.setattr(trained.edition2, "load_grid", whole)
    assert trained.missing() == ""
