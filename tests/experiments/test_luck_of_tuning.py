"""The luck of tuning is the variance of a cell's mean over its tunings, told for whole cells."""

import json

import pytest

from posenc_book.read import tuning_luck

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
