"""T5's bias with a bucket for each hour: what is trained."""

from functools import partial

import torch

from experiments.forecasting import buckets, cells
from experiments.forecasting.store import UnitStores
from posenc.encodings import T5Bias
from posenc_book.read import results
from posenc_book.read.forecasting import plan


def test_a_bucket_holds_one_hour_of_two_days():
    bias = T5Bias(64, 4, 96, **buckets.ENOUGH)
    for causal in (False, True):
        back = bias.bucket(torch.arange(-48, 1), causal=causal)
        assert len(set(back.tolist())) == 49


def test_the_trainings_are_those_of_the_plan_but_for_the_buckets(monkeypatch):
    tried = UnitStores(results.folder() / "forecasting", "tuning-", ["etth1"])
    (source,) = {record["settings"]["dataset_source"] for record in tried.records().values()}
    monkeypatch.setattr(cells, "unit_fingerprint", lambda _: source)
    found = buckets.seeds("etth1", "decoder", tried)
    planned = plan.tuned(cells.cell("etth1", "decoder", "t5"), tried.records())
    plain = plan.seeds(planned)
    assert len(found) == buckets.N_SEEDS
    for one, other in zip(found, plain, strict=False):
        apart = {name for name, value in vars(one).items() if vars(other)[name] != value}
        assert apart == {"encoding_options", "profile", "protocol"}


def test_a_missing_trial_is_told(tmp_path, capsys, monkeypatch):
    sources = {"encoding_source": "0" * 12, "dataset_source": "1" * 12}
    monkeypatch.setattr(cells, "cell", partial(plan.cell, **sources))
    assert buckets.main(["--out", str(tmp_path), "--device", "cpu"]) == 2
    assert "trials of t5 for decoder on etth1" in capsys.readouterr().err
