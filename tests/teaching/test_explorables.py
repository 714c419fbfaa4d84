"""Explorable figures: their form, their first frame, and kind errors."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup

from posenc import faithfulness, fourier, frequencies, tables
from posenc_book import data
from posenc_book.explorables import bundle, density, drawers, noise, patches, pulled, rope_schedules
from posenc_book.explorables.controls import Range
from posenc_book.guide import chooser, explorables
from posenc_book.read.classification import explorable as benchmark
from posenc_book.read.classification import fair, one_more_split, trained_again
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies, load_grid
from posenc_book.read.classification.explorable import FOLLOWED, Benchmark
from posenc_book.read.range_probe import explorable as kernels
from posenc_book.read.range_probe.explorable import by_formula, by_offset
from posenc_book.records import paired
from posenc_book.statistics import counts
from posenc_book.teaching import program, released

ROOT = Path(__file__).parents[2]
RUNTIME_LIMIT, FIGURE_LIMIT = 15_000, 40_000  # bytes

every_figure = pytest.mark.parametrize("name", explorables.names())


def test_the_gallery_shows_every_figure_once():
    cells = json.loads((ROOT / "book" / "explorables.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    shown = re.findall(r'explorables\.show\("([\w-]+)"\)', code)
    assert len(shown) >= 10
    assert sorted(shown) == sorted(explorables.names())


def test_what_is_drawn_again_are_stored_trainings():
    stored = fair.accuracies("RoomOccupancy", "time_series")
    figure = trained_again.Luck()
    one = figure.drawn(draw=7, runs=1)
    assert all(mean in runs for mean, runs in zip(one, stored.values(), strict=True))
    assert np.bincount(trained_again.choices(1, 5000)).min() > 900  # each about as often


def test_the_interval_of_splits_is_that_of_a_report():
    figure = one_more_split.OneMoreSplit()
    records = list(fair._records("second-ItalyPowerDemand", "time_series"))
    [gain] = [
        one for one in paired.paired_gains(records, "time_series") if one.encoding == "sinusoidal"
    ]
    mean, low, high = figure.judged("none", 5)
    assert (mean, low, high) == pytest.approx((-100 * gain.mean, -100 * gain.high, -100 * gain.low))


def test_an_encoding_behind_on_every_split_may_still_be_behind_by_luck():
    figure = one_more_split.OneMoreSplit()
    told = figure.summary({"splits": 5, "compared": "relative"})
    assert "behind it on 5 of 5 splits" in told
    assert "this may be luck" in told
    few, more = (figure.summary({"splits": n, "compared": "none"}) for n in (2, 3))
    assert "this may be luck" in few
    assert "this can hardly be luck" in more
    assert "cannot tell" in figure.summary({"splits": 1, "compared": "rotary"})


def test_who_learns_from_shuffled_pieces_forecasts_as_well():
    figure, windows = drawers.Drawers(), drawers.made_up(drawers._N_DAYS)
    past, ahead = windows[:, : drawers.PAST], windows[:, drawers.PAST :]
    assert np.allclose(past[drawers._SHOWN], figure.fitted["past"], atol=1e-3)
    lying = past.reshape(-1, drawers.N_PIECES, drawers.PIECE)[:, drawers.order(6)]
    lying = lying.reshape(past.shape)
    known = np.arange(len(past)) != drawers._SHOWN
    again = lying[drawers._SHOWN] @ drawers.weights(lying[known], ahead[known])
    assert np.allclose(again, figure.forecast("again", 6), atol=0.02)  # weights are rounded


def test_only_a_mean_of_pieces_stands_a_shuffle():
    figure = drawers.Drawers()
    assert [figure.off("mean", n) for n in range(7)] == pytest.approx(7 * [figure.off("mean", 0)])
    assert figure.off("flat", 0) < figure.off("mean", 0) / 3
    assert figure.off("flat", 6) > 3 * figure.off("flat", 0)
    order = figure.summary({"head": "flat", "swaps": 6})
    assert f"off by {figure.off('flat', 6):.2f} on average, and by" in order


def test_what_is_cut_in_pieces_are_recordings():
    train, test = (data.load("BasicMotions", split) for split in data.SPLITS)
    standardised = data.standardise(test, *data.channel_statistics(train))
    for activity, tenths in {"Running": patches.RUNNING, "Walking": patches.WALKING}.items():
        third = standardised.x[standardised.y == test.classes.index(activity)][2]
        assert np.array_equal(np.round(10 * third[:30, 1]), tenths)


@pytest.mark.parametrize(
    ("patch", "cut", "shared"), [(5, 25, 10), (8, 25, 0), (1, 23, 50), (8, 24, 3), (10, 20, 5)]
)
def test_pieces_that_fit_are_in_both_series(patch, cut, shared):
    told = explorables.make("patches").summary({"patch": patch, "cut": cut})
    assert f"and {shared} of them are in both" in told
    same = patches.heap(patches.both(cut, patch)[0]) == patches.heap(patches.both(cut, patch)[1])
    assert same == ("the same answer" in told)


@every_figure
def test_a_figure_is_whole_without_its_script(name):
    figure = explorables.make(name)
    html = figure.html()
    page = BeautifulSoup(html, "html.parser", multi_valued_attributes=None)
    ids = [one["id"] for one in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert {one["for"] for one in page.find_all(attrs={"for": True})} <= set(ids)
    attributes = {name for tag in page.find_all(True) for name in tag.attrs}
    assert not {name for name in attributes if name == "style" or name.startswith("on")}
    (packed,) = page.find_all("script")
    assert packed["type"] == "application/json"
    assert json.loads(packed.string).keys() == {"data", "presets", "python"}
    assert f'data-name="{name}"' in html
    assert "<svg" in html
    assert figure.summary(figure.first())
    assert len(figure.alt) > 40
    assert len(figure.caption) > 40
    assert len(figure.controls) <= 4


@every_figure
def test_what_is_copied_as_python_runs(name):
    figure = explorables.make(name)
    modules = [chooser, faithfulness, fourier, frequencies, program, released, tables]
    modules.append(sys.modules[type(figure).__module__])
    known = {module.__name__.rpartition(".")[2]: module for module in modules}
    known |= {"benchmark": benchmark, "kernels": kernels, "np": np}
    for preset in ({}, *(one.state for one in figure.presets)):
        call = figure.python
        for key, value in {**figure.first(), **preset}.items():
            call = call.replace(f"{{{key}}}", str(value))
        eval(call, known)


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


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda: explorables.make("hourglass"), "name must .*clock-hands.*got 'hourglass'"),
        (lambda: rope_schedules.frequencies("xpos", 8, 4096, 1e4), "schedule must .*got 'xpos'"),
        (lambda: explorables.make("kernels").scores("erpe", 20, 32), "length must .*got 20"),
        (lambda: Benchmark({}).set_counts("words", "rotary"), "must .*got 'words'"),
        (lambda: Benchmark({}).set_counts("steps", "alibi"), "must .*got 'alibi'"),
    ],
)
def test_what_is_not_there_is_named_beside_what_is(ask, named):
    with pytest.raises(ValueError, match=named):
        ask()


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
    from posenc_book.explorables import doors

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


@pytest.mark.parametrize(("positions", "name"), [("off", "none"), ("on", "sinusoidal")])
def test_the_numbers_of_the_two_sentences_are_those_of_the_librarys_layer(positions, name):
    torch = pytest.importorskip("torch")
    from posenc import attention, encodings

    figure = explorables.make("two-sentences")
    weights = {key: torch.tensor(value) for key, value in figure.weights.items()}
    width = weights["x"].shape[1]
    position = encodings.make(name, width, 1, 3)
    layer = attention.SelfAttention(width, 1, position).double().eval()
    with torch.no_grad():
        layer.qkv.weight.copy_(torch.cat([weights[key].T for key in "qkv"]))
        layer.out.weight.copy_(torch.eye(width))
        for order in figure.controls[0].options:
            x = weights["x"][[int(word) for word in order]]
            found = layer(x[None])[0].mean(0)
            np.testing.assert_allclose(figure.pooled(order, positions), found, atol=1e-6)


def test_without_positions_no_order_moves_a_bar_and_with_them_every_one_does():
    figure = explorables.make("two-sentences")
    orders = list(figure.controls[0].options)
    off, on = ([figure.pooled(order, said) for order in orders] for said in ("off", "on"))
    assert all(np.array_equal(one, off[0]) for one in off)
    for i, one in enumerate(on):
        assert min([np.abs(one - other).max() for other in on[:i]], default=1) > 0.05


@pytest.mark.parametrize("code", noise.CODES)
def test_the_highest_bar_is_the_librarys_answer_at_every_noise(code):
    table = tables.sinusoidal(64, 64) if code == "sinusoid" else tables.dft(64, 64)
    for draw in range(1, noise.TRIES + 1):
        crackle = faithfulness.rms_norm(table) / 8 * np.random.default_rng(draw).normal(size=64)
        levels = np.arange(0, 3.01, 0.25)
        heard = faithfulness.decode(table, table[24] + levels[:, None] * crackle)
        answers = [np.argmax(noise.scores(code, level, draw)) for level in levels]
        assert answers == heard.tolist()


def test_the_waves_lie_between_the_sinusoids_and_those_of_the_dft():
    skewed = fourier.frequency_density(frequencies.geometric(256), 256, 8 * np.pi / 256)
    assert np.allclose(density.spread(0, 10_000), skewed)
    assert np.allclose(density.spread(100, 10_000), fourier.dft_density(256))
    assert np.allclose(density.spread(25, 10_000).sum(), 1)
    assert density.width(density.kernel(skewed)) == 11  # as F8 measures it
    assert density.width(density.kernel(density.spread(100, 10_000))) == 1


def test_the_pairs_that_p_rope_stops_are_the_librarys():
    pytest.importorskip("torch")
    from posenc import encodings

    d_head, keep = rope_schedules.D_HEAD, rope_schedules.KEEP
    expected = encodings.make("rotary", d_head, 1, 8, keep=keep).omega
    np.testing.assert_allclose(rope_schedules.frequencies("keep", 8, 4096, 1e4), expected)


@pytest.mark.parametrize("name", ["sinusoidal", "dft", "tape", "alibi"])
@pytest.mark.parametrize(("length", "width"), [(16, 32), (32, 16), (9, 8)])
def test_scores_before_training_are_the_librarys(name, length, width):
    torch = pytest.importorskip("torch")
    from posenc import encodings

    encoding = encodings.make(name, width, 2, length).double()
    if name == "alibi":
        x = torch.zeros(1, length, width).double()
        scores = encoding.bias(x, x, x).numpy()
    else:
        rows = encoding.rows(length).numpy()
        scores = (rows @ rows.T / width**0.5)[None]
    expected = [by_offset(head) for head in scores]
    np.testing.assert_allclose(by_formula(name, length, width), expected, atol=1e-9)


def test_scores_of_rope_before_training_are_those_of_pairs_that_point_alike():
    torch = pytest.importorskip("torch")
    from posenc import encodings

    alike = torch.tensor([1.0, 0.0]).repeat(9, 4).expand(1, 2, 9, 8).double()
    q, k = encodings.make("rotary", 16, 2, 9).double().rotate(alike, alike)
    scores = (q @ k.mT / 8**0.5)[0, 0].numpy()
    np.testing.assert_allclose(by_formula("rotary", 9, 16)[0], by_offset(scores), atol=1e-6)
    np.testing.assert_allclose(by_formula("rotary", 9, 16)[0, 8], 4 / 8**0.5)


def test_shades_are_ordered_like_what_they_stand_for():
    from posenc_book.explorables import doors

    weights = np.linspace(0, 1 + doors.NEXT, 200)  # a door may add to a weight of 1
    shown = [doors.shade(weight) for weight in weights]
    assert (np.diff(shown) > 0).all()
    assert (shown[0], shown[-1]) == (0, 1)


def drawn(model, n_sets):
    """Return a grid of as many sets, with gains that differ."""
    rng = np.random.default_rng(n_sets)
    shape = n_sets, len(protocols.ENCODINGS), 5
    gains = np.linspace(0, 0.05, shape[1])[:, None]
    scores = (0.7 + gains + rng.normal(0, 0.02, shape)).clip(0, 1)
    names = tuple(protocols.DATASETS[:n_sets])
    return Accuracies(model, names, protocols.ENCODINGS, scores, np.full((n_sets, 5), 0.2))


def test_a_row_has_the_accuracies_of_its_set_and_more_gain_stands_higher():
    grid = drawn("patch", 9)
    rows = Benchmark({"patches": grid}).rows["patches"]
    gained = []
    for name, none, several in zip(*rows.values(), strict=True):
        means = 100 * grid.only([name]).scores[0].mean(1)
        np.testing.assert_allclose([none, *several], means, atol=0.005)
        gained.append(np.mean(several) - none)
    assert gained == sorted(gained, reverse=True)
    assert (*FOLLOWED,) == grid.encodings[1:]


def test_what_is_told_of_the_benchmark_is_counted_from_the_edition():
    figure = Benchmark()
    for tokens, model in {"steps": "time_series", "patches": "patch"}.items():
        grid = load_grid(model)
        means = 100 * counts.mean(grid.scores)
        gained = means[:, 1:].mean(1) - means[:, 0]
        for place, name in enumerate(FOLLOWED, 1):
            told = figure.set_counts(tokens, name)
            assert told["much"] == (gained >= 10).sum()
            assert told["little"] == (gained < 2).sum()
            above = (means[:, 1:] > means[:, [place]]).sum(1)
            below = (means[:, 1:] < means[:, [place]]).sum(1)
            assert (told["best"], told["worst"]) == ((above < 3).sum(), (below < 3).sum())


def test_a_text_that_is_pulled_longer_breaks_beyond_training_and_is_mended():
    """The answers themselves are compared with the models in a cell of the chapter."""
    assert len(pulled.TEXT) == 4 * pulled.TRAINED
    assert {len(said) for said in pulled.SAID.values()} == {len(pulled.TEXT)}
    spoken = pulled.speakers(">AB>CD")
    assert spoken == " AAACC"
    right = {mend: pulled.right(128, mend) for mend in pulled.MENDS}
    assert right["none"][0] == 31
    assert right["none"][1] < 20 < right["all"][1] < right["stretch"][1] < right["practised"][1]


def test_a_hand_of_the_pulled_text_meets_new_angles_unless_it_is_slowed():
    for hand, is_new in enumerate((False, True, True, True)):
        shown, reached = pulled.turned(hand, 128, "none")
        assert (reached > shown + 1e-9) == is_new
        shown, reached = pulled.turned(hand, 128, "stretch")
        assert reached <= shown + 1e-9
