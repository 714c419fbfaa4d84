"""The model that lives in a page: its first frame, its weight, and what it says."""

import re

import pytest

from posenc_book.explorables import bundle, living, living_model

torch = pytest.importorskip("torch")
FIGURE, SCRIPTS, WEIGHTS = 40_000, 25_000, 120_000  # bytes at most


@pytest.fixture(scope="module")
def figure():
    return living_model.LivingModel()


def test_it_is_light_and_its_weights_come_later(figure):
    html = figure.html()
    scripts = [bundle.script(f"living-{name}.js") for name in ("engine", "model")]
    assert len(html.encode()) <= FIGURE
    assert sum(len(one.encode()) for one in scripts) <= SCRIPTS
    assert "posencLiving(" not in html
    for name in living_model.POSITIONS:
        assert len(bundle.script(f"living-{name}.js")) <= WEIGHTS


def test_two_controls_are_seen_at_first_and_all_are_labelled(figure):
    html = figure.html()
    assert len(figure.controls) == 2
    before, folded = html.split('<details class="explorable-more">')
    assert re.findall(r'data-key="(\w+)"', before) == ["slower", "positions"]
    assert re.findall(r'data-key="(\w+)"', folded) == [one.key for one in figure.folded]
    assert set(re.findall(r'for="([^"]+)"', html)) <= set(re.findall(r' id="([^"]+)"', html))


def test_the_first_frame_tells_what_the_model_says(figure):
    state = figure.first()
    nats = living.surprises(living.load("rope"), living_model.PASSAGE)
    assert len(living_model.PASSAGE) == 256
    assert f"1–64: {sum(nats[:63]) / 63:.2f} nats each; beyond 64: " in figure.summary(state)
    drawn = re.findall(
        r"[Mv]", "".join(re.findall(r' d="([^"]+)" [^>]*data-part="bar', figure.svg(state)))
    )
    assert drawn.count("M") == 255


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"positions": "alibi", "slower": 2}, "ALiBi, which has no clocks to slow: letters"),
        ({"positions": "none"}, "No positions: letters"),
        ({"slower": 2.5, "start": 100}, "RoPE, clocks slowed by 2.5, from place 100 on: letters"),
        ({"text": "a word"}, "RoPE: letters 1–6: "),
        ({"text": "a"}, "RoPE: a single letter cannot surprise. Next it expects"),
    ],
)
def test_it_says_what_is_read(figure, changes, words):
    assert figure.summary({**figure.first(), **changes}).startswith(words)


def test_what_is_copied_as_python_runs(figure):
    call = figure.python
    for key, value in figure.first().items():
        call = call.replace(f"{{{key}}}", str(value))
    assert len(eval(call, {"living": living})) == 255


def test_letters_that_it_never_met_are_spaces():
    assert living.numbers("A7é\n").tolist() == living.numbers("a  \n").tolist()


def test_to_load_a_model_leaves_the_luck_of_others_alone():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    living.load("rope")
    assert torch.equal(torch.rand(3), wanted)


def test_an_unknown_encoding_is_named():
    with pytest.raises(ValueError, match=r"name must be one of .*rope.*got 'shaw'"):
        living.untrained("shaw")


def test_a_notebook_gets_the_still_and_the_styles(monkeypatch):
    published = []
    monkeypatch.setattr("IPython.display.publish_display_data", published.append)
    living_model.show()
    still, styles = published
    assert still.keys() == {"text/html", "text/plain"}
    assert "posenc-living-model" in styles["application/javascript"]
