"""Sentences of the protocol's dated entries that rest on the data.

The protocol is frozen, so they are no numbers that `tools/fill.py` fills in.
"""

import numpy as np
from sitefiles import ROOT

from posenc.experiments import results
from posenc.experiments.classification import found, found_tables
from posenc.statistics import friedman

PROTOCOL = (ROOT / "results/protocol.md").read_text(encoding="utf-8")


def test_the_treatment_of_ties_is_said_with_what_the_other_would_show():
    row = found_tables.rankings(found.grids())["steps, all"]
    columns = ("pairs shown to differ", "with ties left out")
    ranked, left_out = (row[column].split()[0] for column in columns)
    assert f"With steps, of 45 pairs: {ranked} and {left_out} over all units" in PROTOCOL


def test_trainings_on_a_gpu_and_on_a_processor_differ_by_luck():
    gpu = {one["key"]: one["metrics"]["accuracy"] for one in results.load_records("second-Adiac")}
    pairs = [
        (gpu[one["key"]], one["metrics"]["accuracy"])
        for one in results.load_records("agreement-Adiac")
    ]
    ahead = np.array([100 * (there - here) for there, here in pairs])
    effect = friedman.effect(ahead / 100)
    said = f"{-100 * effect.mean:.1f} points lower on average, with a 95 % interval of "
    said += f"{100 * effect.low:.1f} to {100 * effect.high:+.1f}; a pair differs by "
    said += f"{ahead.std(ddof=1):.1f} points"
    assert said in PROTOCOL
    assert len(pairs) == 24
    assert effect.low < 0 < effect.high
