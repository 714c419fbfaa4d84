"""The other norm and the larger model are judged by the rule that was fixed before."""

import numpy as np
import pytest
from test_edition import add, floor, trained

from posenc_book.read.classification import edition, edition2, found, found_tables, variants
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import friedman

SETS = protocols.VARIED
NAMES = protocols.COMPARED["large"]


def grid(gain, model="patch", noise=0.002, seed=0, sets=SETS):
    """Return scores of no encoding and three, each of which gains `gain(set)`."""
    rng = np.random.default_rng(seed)
    gains = np.array([[0.0, *3 * [gain(name)]] for name in sets])
    scores = 0.7 + gains[..., None] + rng.normal(0, noise, (len(sets), len(NAMES), 5))
    return Accuracies(model, tuple(sets), NAMES, scores, np.full((len(sets), 5), 0.3))


def spread(name):
    return 0.05 + 0.002 * SETS.index(name)


def pair(change, **options):
    return grid(spread, **options), grid(lambda name: spread(name) + change, seed=1, **options)


@pytest.mark.parametrize(
    ("change", "noise", "answer"),
    [
        (0.04, 0.002, "ahead"),
        (-0.04, 0.002, "behind"),
        (0.0, 0.002, "equal"),
        (0.0, 0.2, "undecided"),
    ],
)
def test_a_change_of_the_mean_gain_is_named(change, noise, answer):
    found = variants.changes({q: pair(change, noise=noise) for q in variants.QUESTIONS})
    assert {one.answer for one in found.values()} == {answer}


def test_four_questions_are_counted_whether_they_are_whole_or_not():
    one = pair(0.04)
    question = variants.QUESTIONS[2]
    (alone,) = variants.changes({question: one}).values()
    cells = [np.mean([g.gains(name) for name in NAMES[1:]], axis=0) for g in one]
    plain = friedman.wilcoxon(cells[1] - cells[0]).p_value
    assert alone.p_value == pytest.approx(4 * plain)
    assert alone.effect.mean == pytest.approx(0.04, abs=0.002)
    assert (alone.variant, alone.model) == question


def test_only_units_that_both_models_learn_are_compared():
    plain, varied = pair(0.0)
    scores = varied.scores.copy()
    scores[SETS.index("NATOPS")] = 0.3  # no better than the largest class
    poor = Accuracies(varied.model, varied.datasets, varied.encodings, scores, varied.largest_class)
    for one in variants.learned((plain, poor)):
        assert len(one.datasets) == 9
        assert "NATOPS" not in one.datasets


def test_the_mixed_model_finds_a_norm_that_was_planted(monkeypatch):
    """Batch norm adds 3 points to every gain, steps 5; lengths differ and do nothing."""

    def two(model):
        add_up = 0.05 * (model == "time_series")
        grids = {
            norm: grid(lambda _, n=norm: 0.02 + add_up + 0.03 * (n == "batch"), model, seed=seed)
            for seed, norm in enumerate(("layer", "batch"))
        }
        return tuple(grids[variants.norm(model, v)] for v in ("", "other-norm"))

    pairs = {("other-norm", model): two(model) for model in variants.NORMS}
    monkeypatch.setattr(variants, "whole", lambda **_: pairs)
    rows = found_tables.with_norms()
    assert abs(float(rows["layer norm in place of batch norm"]["effect"]) + 3) < 0.3
    assert abs(float(rows["steps in place of patches"]["effect"]) - 5) < 0.3
    assert float(rows["twice the length"]["p"]) > 0.01
    monkeypatch.setattr(variants, "whole", lambda **_: dict([*pairs.items()][:1]))
    assert found.with_norms() is None
    assert found_tables.with_norms() == {}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of results with one set in patches, plain and in the larger model."""
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    monkeypatch.setattr(edition2, "load_baselines", lambda: [floor("Libras"), floor("NATOPS")])
    add(tmp_path, "Libras")
    large = trained("Libras", encodings=protocols.COMPARED["large"])
    (tmp_path / "variant-large-Libras.jsonl").write_text("\n".join(large) + "\n")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_variant_is_read_with_its_own_encodings_on_sets_that_are_whole():
    assert edition2.load_grid("patch", variant="large").encodings == protocols.COMPARED["large"]
    (question,) = variants.whole()
    assert question == ("large", "patch")
    plain, varied = variants.whole()[question]
    assert plain.datasets == varied.datasets == ("Libras",)
    assert plain.encodings == varied.encodings


def test_a_variant_waits_for_the_edition(folder, monkeypatch):
    monkeypatch.setattr(edition, "entering", lambda _, there: there)
    edition.write_edition(edition.make_edition("a", "2026-11-25"))
    more = trained("NATOPS", encodings=protocols.COMPARED["large"])
    (folder / "variant-large-NATOPS.jsonl").write_text("\n".join(more) + "\n")
    add(folder, "NATOPS")
    assert variants.whole()["large", "patch"][0].datasets == ("Libras",)
    assert variants.whole(every=True)["large", "patch"][0].datasets == ("Libras", "NATOPS")
