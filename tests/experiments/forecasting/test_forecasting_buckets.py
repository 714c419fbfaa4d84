"""T5's bias with a bucket for each hour: what is read of it."""

from posenc_book.read.forecasting import buckets, complete, tables


def test_what_is_stored_stands_beside_what_it_is_compared_with():
    enough = buckets.load_enough()
    assert set(enough) == {(r, u) for r in buckets.READERS for u in buckets.UNITS}
    assert {errors.shape for errors in enough.values()} == {(buckets.N_SEEDS,)}
    rows = tables.buckets_table(complete.load_stored(), enough).rows
    assert len(rows) == 4
    assert {len(row) for row in rows.values()} == {3}
