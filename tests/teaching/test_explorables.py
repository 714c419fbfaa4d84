"""Explorable figures: their form, their first frame, and kind errors."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from posenc.study import explorables
from posenc.teaching.explorables import bundle
from posenc.teaching.explorables.controls import Range

RUNTIME_LIMIT, FIGURE_LIMIT = 15_000, 40_000  # bytes

every_figure = pytest.mark.parametrize("name", explorables.names())


class Ids(HTMLParser):
    """Gathers ids, labels' targets and inline handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.ids, self.targets, self.handlers = [], [], []

    def handle_starttag(self, tag, attributes):  # noqa: ARG002
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name == "for":
                self.targets.append(value)
            if name.startswith("on") or name == "style":
                self.handlers.append(name)


@every_figure
def test_a_figure_is_whole_without_its_script(name):
    figure = explorables.make(name)
    html = figure.html()
    found = Ids()
    found.feed(html)
    assert f'data-name="{name}"' in html
    assert "<svg" in html
    assert figure.summary(figure.first())
    assert len(figure.alt) > 40
    assert len(figure.caption) > 40
    assert set(found.targets) <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    assert found.handlers == []
    assert re.findall(r"<script(?! type=\"application/json\")", html) == []
    assert len(figure.controls) <= 4


@every_figure
def test_what_a_preset_and_the_call_name_are_controls(name):
    figure = explorables.make(name)
    keys = {control.key for control in figure.controls}
    for preset in figure.presets:
        assert preset.state.keys() <= keys
    assert set(re.findall(r"\{(\w+)\}", figure.python)) <= keys
    for control in figure.controls:
        if isinstance(control, Range):
            assert control.minimum <= control.value <= control.maximum
        else:
            assert control.value in control.options


@every_figure
def test_a_figure_is_light(name):
    figure = explorables.make(name)
    weight = len(figure.html().encode()) + len(bundle.script(f"{name}.js").encode())
    assert weight <= FIGURE_LIMIT
    assert len(bundle.script("explorables.js").encode()) <= RUNTIME_LIMIT


@every_figure
def test_its_data_are_plain_json(name):
    packed = re.search(
        r'<script type="application/json">(.*?)</script>', explorables.make(name).html()
    )
    assert json.loads(packed[1]).keys() == {"data", "presets", "python"}


def test_an_unknown_figure_is_named_beside_the_known():
    with pytest.raises(ValueError, match=r"name must be one of .*clock-hands.*got 'clocks'"):
        explorables.make("clocks")


def test_the_site_gets_no_script_and_a_notebook_all_it_needs(monkeypatch):
    published = []
    monkeypatch.setattr("IPython.display.publish_display_data", published.append)
    explorables.show("clock-hands")
    figure, script = published
    assert figure.keys() == {"text/html", "text/plain"}
    assert script.keys() == {"application/javascript"}
    assert "posencExplorables" in script["application/javascript"]
    assert "explorables.css" not in script["application/javascript"]


@pytest.mark.parametrize("door", ["rotate", "bias"])
def test_the_map_of_the_doors_is_what_the_librarys_encodings_give(door):
    torch = pytest.importorskip("torch")
    from posenc import encodings
    from posenc.teaching.explorables import doors

    q, k = np.random.default_rng(0).normal(size=(2, 6, 8))
    theirs = {"rotate": "rotary", "bias": "alibi"}[door]
    heads = 8 if door == "bias" else 1  # of eight heads the first has slope 1/2
    encoding = encodings.make(theirs, 8 * heads, heads, 6).double()
    both = [torch.tensor(a).expand(1, heads, 6, 8) for a in (q, k)]
    if door == "rotate":
        queries, keys = encoding.rotate(*both)
        bias = 0.0
    else:
        queries, keys = both
        bias = encoding.bias(torch.zeros(1, 6, 8 * heads).double(), *both)
    scores = (queries @ keys.mT / 8**0.5 + bias)[0, 0]
    expected = doors.attention_weights(q, k, rope=door == "rotate", alibi=door == "bias")
    np.testing.assert_allclose(scores.softmax(-1).numpy(), expected, atol=1e-9)
