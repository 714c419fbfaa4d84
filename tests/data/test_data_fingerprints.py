"""A fingerprint changes with the content of a set, and with nothing else."""

import gzip
import re
from dataclasses import replace

import numpy as np
import pytest
from datafiles import TINY_TEST, TINY_TRAIN

from posenc_book import data
from posenc_book.data import fingerprints


@pytest.fixture
def tiny(tiny_folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    return tiny_folder


@pytest.mark.usefixtures("tiny")
def test_it_is_short_and_stays():
    first = data.fingerprint("Tiny")
    assert re.fullmatch(r"[0-9a-f]{16}", first)
    assert data.fingerprint("Tiny") == first  # the second time from the packed arrays
    # written down once: records name it, so it must stay the same over versions and machines
    assert first == "233e06107e32fc2c"


@pytest.mark.parametrize(
    "change",
    [
        ("1,2,3:", "1,2,4:"),
        ("7,8,9", "7,8,-9"),
        ("2,2,2:Up", "2,2,2:down"),
        ("1,1,1:2,2,2:Up\n", ""),
        ("Up", "up"),
    ],
    ids=["training value", "test value", "label", "number of series", "class name"],
)
def test_it_changes_with_the_content(tiny, change):
    before = data.fingerprint("Tiny")
    for path in tiny.iterdir():
        path.write_text(path.read_text().replace(*change))
    assert data.fingerprint("Tiny") != before


def test_it_does_not_change_with_packing_or_comments(tiny):
    before = data.fingerprint("Tiny")
    for part, content in (("TRAIN", TINY_TRAIN), ("TEST", TINY_TEST)):
        (tiny / f"Tiny_{part}.ts").unlink()
        other = content.replace("# a comment", "# other words").replace("5e-1", "0.50")
        (tiny / f"Tiny_{part}.ts.gz").write_bytes(gzip.compress(other.encode()))
    assert data.fingerprint("Tiny") == before


def test_options_count():
    whole = data.fingerprint("BasicMotions")
    lost = data.fingerprint("BasicMotions", lost=0.5)
    assert len({whole, lost, data.fingerprint("BasicMotions", lost=0.5, seed=1)}) == 3
    assert data.fingerprint("range_probe", n=8) != data.fingerprint("range_probe", n=8, seed=1)
    assert data.fingerprint("range_probe", n=8) == data.fingerprint("range_probe", n=8)


def test_masks_and_groups_count_and_terms_and_an_idle_mask_do_not(monkeypatch):
    def of(part):
        monkeypatch.setattr(fingerprints, "load", lambda name, split: part)
        return data.fingerprint("any")

    part = data.load("range_probe", "train", n=4)
    mask = np.ones(part.x.shape[:2], dtype=bool)
    before = of(part)
    assert of(replace(part, mask=mask, provenance="elsewhere")) == before
    groups = np.array([0, 0, 1, 1])
    assert (
        len({before, of(replace(part, groups=groups)), of(replace(part, groups=1 - groups))}) == 3
    )
    mask[0, -1] = False
    assert of(replace(part, mask=mask)) != before
