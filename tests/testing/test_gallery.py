"""Each broken layer is found by the right checks and by no other, and the right one by none."""

import pytest
import torch
from torch import nn

from posenc.testing import CHECKS, check_attention
from posenc.testing.adapters import adapt
from posenc.testing.asking import LENGTHS, Asked, difference
from posenc.testing.checks.pairs import PAIRS
from posenc.testing.checks.texts import in_pieces
from posenc.testing.promises import Promises
from posenc_book.teaching import gallery

SEEN_TOGETHER = (
    "cached & padding left",
    "cached & packing",
    "cached & window",
    "cached & given_positions",
    "padding left & dtypes",
    "cached & compiled",
)
NAMES = {check.name for check in CHECKS}


def broken_names(make, **promises):
    seconds = 2 if make is gallery.Hangs else 60  # others may be slow on a busy machine
    report = check_attention(make, seconds=seconds, measure=False, **promises)
    return {one.name for one in report.findings if one.outcome in ("broken", "late")}, report


def asked(exhibits):
    """Return exhibits as parameters; one that is compiled at each length takes half a minute."""
    weekly = {"ForgetsWhenCompiled": pytest.mark.slow}
    names = [one.broken.__name__ for one in exhibits]
    marks = [[weekly[name]] if name in weekly else [] for name in names]
    pairs = zip(exhibits, names, marks, strict=True)
    return [pytest.param(one, id=name, marks=own) for one, name, own in pairs]


@pytest.mark.parametrize("exhibit", asked(gallery.GALLERY))
def test_a_broken_layer_is_found_by_the_right_checks_and_by_no_other(exhibit):
    found, report = broken_names(exhibit.broken, **exhibit.promised())
    assert found == set(exhibit.found_by), str(report)
    assert report.cut_short or not report.unanswered, str(report)
    assert not report.passed


TWINS = {f"{one.right.__name__}, {one.promised()}": one for one in gallery.GALLERY}


@pytest.mark.parametrize("exhibit", asked(TWINS.values()))
def test_the_right_layer_beside_it_keeps_the_same_promises(exhibit):
    found, report = broken_names(exhibit.right, **exhibit.promised())
    assert not found
    assert report.passed, str(report)


def test_every_check_that_can_fail_finds_something_in_the_gallery():
    measured_only = {check.name for check in CHECKS if not check.promise}
    found = {name for exhibit in gallery.GALLERY for name in exhibit.found_by}
    assert found | measured_only >= NAMES
    assert {check.name for check in PAIRS} >= found - NAMES
    for promise in SEEN_TOGETHER:
        assert gallery.together(*promise.split(" & ")) in found


class Asleep(gallery.StartsAgain):
    """Its weights are as small as those of a fresh language model."""

    def __init__(self):
        super().__init__()
        for weight in self.parameters():
            nn.init.normal_(weight, std=0.02)


def test_weights_that_sleep_hide_a_fault():
    asked = Asked(lambda: adapt(Asleep()), Promises.of({}))
    found = {}
    for awake in (True, False):
        layer = asked.subject(awake=awake)
        x = layer.tokens(1, 3)
        with torch.no_grad():
            found[awake] = difference(in_pieces(layer, x, [1, 1, 1]), layer.outputs(x))
    assert found[False] < 0.01
    assert found[True] > 10 * found[False]


def test_the_smallest_input_is_told():
    _, report = broken_names(gallery.OneAhead, causal=True)
    finding = report[gallery.CAUSAL]
    assert finding.smallest == f"{LENGTHS[0]} tokens, the last one replaced by another"
    assert finding.number > finding.due
    assert finding.link.endswith("/book/four-doors.html")
