"""T5's bias with a bucket for each hour: what is trained, and what is read of it."""

from functools import partial

import torch

from posenc.encodings import T5Bias
from posenc_book.read.forecasting import buckets, protocol
from posenc_book.read.forecasting.reading import complete, tables
from posenc_book.read.forecasting.store import UnitStores


def test_a_bucket_holds_one_hour_of_two_days():
    bias = T5Bias(64, 4, 96, **buckets.ENOUGH)
    for causal in (False, True):
        back = bias.bucket(torch.arange(-48, 1), causal=causal)
        assert len(set(back.tolist())) == 49


def test_the_trainings_are_those_of_the_protocol_but_for_the_buckets(monkeypatch):
    tried = UnitStores(complete.results.folder() / "forecasting", "tuning-", ["etth1"])
    (source,) = {record["settings"]["dataset_source"] for record in tried.records().values()}
    monkeypatch.setattr(protocol, "unit_fingerprint", lambda unit: source)
    found = buckets.cells("etth1", "decoder", tried)
    planned = protocol.tuned(protocol.cell("etth1", "decoder", "t5"), tried.records())
    plain = protocol.seeds(planned)
    assert len(found) == buckets.N_SEEDS
    for one, other in zip(found, plain, strict=False):
        apart = {name for name, value in vars(one).items() if vars(other)[name] != value}
        assert apart == {"encoding_options", "profile", "protocol"}


def test_what_is_stored_stands_beside_what_it_is_compared_with():
    enough = buckets.load_enough()
    assert set(enough) == {(r, u) for r in buckets.READERS for u in buckets.UNITS}
    assert {errors.shape for errors in enough.values()} == {(buckets.N_SEEDS,)}
    rows = tables.buckets_table(complete.load_stored(), enough).rows
    assert len(rows) == 4
    assert {len(row) for row in rows.values()} == {3}


def test_a_missing_trial_is_told(tmp_path, capsys, monkeypatch):
    sources = {"encoding_source": "0" * 12, "dataset_source": "1" * 12}
    monkeypatch.setattr(protocol, "cell", partial(protocol.cell, **sources))
    assert buckets.main(["--out", str(tmp_path), "--device", "cpu"]) == 2
    assert "trials of t5 for decoder on etth1" in capsys.readouterr().err
