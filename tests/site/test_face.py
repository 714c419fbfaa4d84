"""The face of the book: parts by their names, and a clip that is what its program makes."""

import re

import pytest
from sitefiles import ROOT

import clip

FACE = (ROOT / "book" / "_assets" / "face.css").read_text(encoding="utf-8")


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("dark", "paper"), [(False, "#fdfcf9"), (True, "#121212")])
def test_a_parts_colour_can_be_read_on_the_page(dark, paper):
    lines = [line for line in FACE.splitlines() if "--face-part: #" in line]
    theme = [line for line in lines if ('data-theme="dark"' in line) == dark and ":has" in line]
    colours = [re.search(r"--face-part: (#\w{6})", line)[1] for line in theme]
    assert len(colours) == 6
    for colour in colours:
        pair = sorted((luminance(colour), luminance(paper)))
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, colour


def test_the_clip_breaks_the_model_and_mends_it():
    from posenc_book.explorables import living, living_model

    means = {}
    for scene in clip.scenes():
        nats = living.surprises(
            living.load("rope", scene.slower), living_model.PASSAGE[: scene.letters]
        )
        means[scene.letters, scene.slower] = sum(nats) / len(nats)
    most = clip.GROWS[-1]
    assert means[clip.LEARNED, 1] < means[most, clip.SLOWER[-1]] < means[most, 1]
