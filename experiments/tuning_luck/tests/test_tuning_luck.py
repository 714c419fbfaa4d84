"""Each cell is tuned on five deals that nothing else uses, and trained on those of the edition."""

from experiments.edition3 import train as third
from experiments.tuning_luck import train
from posenc_book.records.store import Store


def test_the_plan_is_frozen():
    assert train.HASH == "05f98022fc17"


def test_trials_stand_on_deals_that_nothing_else_uses(tmp_path):
    title, groups, _ = next(train.stages("CBF", tmp_path))
    trials = [one for group in groups for one in group]
    assert title == "trials"
    assert len(trials) == 3 * 5 * 4
    assert {one.resample for one in trials} == {1001, 1002, 1003, 1004, 1005}
    assert {one.protocol for one in trials} == {train.HASH}
    assert len({one.key for one in trials}) == len(trials)


def test_what_the_edition_has_trained_at_a_chosen_setting_is_not_trained_again(
    tmp_path, monkeypatch
):
    chosen = {}
    for one in train.cells("CBF"):
        stored = Store(train.results.folder() / "edition-3" / "CBF.jsonl")
        rates = {
            r["settings"]["learning_rate"]
            for r in stored
            if r["settings"]["encoding"] == one.encoding and not r["settings"]["encoding_options"]
        }
        chosen[one.encoding] = rates
    monkeypatch.setattr(
        third,
        "tuned",
        lambda one, *_: third.replace(
            one, learning_rate=min(chosen[one.encoding]), tuned="5 trials of 500 steps"
        ),
    )
    monkeypatch.setattr(third, "last_trial", lambda *_: None)
    *_, (title, groups, _) = train.stages("CBF", tmp_path)
    assert title == "training"
    assert len(groups) == 3
    assert min(len(group) for group in groups) == 0
