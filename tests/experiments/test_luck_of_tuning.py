"""The luck of tuning is the variance of a cell's mean over its tunings, told for whole cells."""

import json

import numpy as np
import pytest

from posenc_book.read import tuning_luck
from posenc_book.statistics import answers

RATES = (0.0003, 0.001, 0.003, 0.01, 0.0055)


def trial(encoding, deal, rate, accuracy):
    settings = {"learning_rate": rate, "scale": "paper", "n_layers": 2, "encoding_options": {}}
    metrics = {"validation_accuracy": accuracy, "validation_loss": 1.0, "accuracy": accuracy}
    return {
        "key": f"{encoding} {deal} {rate}",
        "encoding": encoding,
        "seed": deal,
        "model": "time_series",
        "settings": settings,
        "metrics": metrics,
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder in which two of five deals choose another rate, one point better."""
    lines = {"tuning-One.jsonl": [], "One.jsonl": []}
    for deal in tuning_luck.PLAN["trial deals"]:
        best = 0.01 if deal > 1003 else 0.001
        for rate in RATES:
            lines["tuning-One.jsonl"].append(trial("erpe", deal, rate, float(rate == best)))
    for seed in range(1, 6):
        lines["One.jsonl"] += [trial("erpe", seed, 0.001, 0.8), trial("erpe", seed, 0.01, 0.81)]
    for name, some in lines.items():
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in some))
    read = tuning_luck._finished
    monkeypatch.setattr(
        tuning_luck,
        "_finished",
        lambda path: (
            [json.loads(line) for line in path.read_text().splitlines()]
            if path.parent == tmp_path
            else read(path)
        ),
    )
    return tmp_path


def test_only_the_choice_moves_the_mean(folder):
    luck = tuning_luck.component(tuning_luck.scores(folder))
    assert luck.variance == pytest.approx(0.3)  # of 80, 80, 80, 81 and 81 per cent
    assert (luck.n_cells, luck.n_sets, luck.spread) == (1, 1, 0.0)


def test_a_cell_with_a_training_missing_waits(folder):
    path = folder / "One.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert tuning_luck.scores(folder) == {}


def test_an_interval_with_the_luck_of_tuning_is_that_of_runs_with_so_much_more_variance():
    runs = np.random.default_rng(0).normal(0.02, 0.03, (10, 5))
    luck = tuning_luck.Luck(1.2, 0.0, 30, 10)
    with_it = answers.of_runs("one", runs, 0.02, more=2 * 1.2e-4 / 10).effect
    found = tuning_luck.widened(answers.of_runs("one", runs, 0.02).effect, luck)
    assert (found.low, found.high) == pytest.approx((with_it.low, with_it.high))
    assert found.low < with_it.mean == found.mean


def test_a_row_tells_the_least_and_the_most_lucky_tuning(folder):
    table = tuning_luck.sets_table(tuning_luck.scores(folder))
    assert table.rows == {"One": {"eRPE": "80.0 to 81.0"}}
