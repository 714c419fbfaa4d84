"""Explorable figures in a real browser: their numbers are the library's, all controls work."""

import itertools
import json
import math

import numpy as np
import pytest
import torch
from browsing import DESKTOP, PHONE, Opened
from playwright.sync_api import Page

from posenc import fourier, frequencies, rotation, schedules, tables
from posenc_book.explorables import (
    at_birth,
    clocks,
    density,
    digits_bits_waves,
    doors,
    drawers,
    drowning,
    learned_hands,
    noise,
    pulled,
    released_models,
    rope_schedules,
    roses,
    shuffle,
    two_hands,
    two_patches,
)
from posenc_book.explorables import ruler as rulers
from posenc_book.explorables.controls import Order, Spot, Switch
from posenc_book.guide import explorables
from posenc_book.read.classification import explorable as benchmark
from posenc_book.read.classification import one_more_split, trained_again
from posenc_book.read.range_probe import explorable as kernels
from posenc_book.teaching import program

pytestmark = pytest.mark.browser

GALLERY = "book/explorables"


# --- arguments of a figure's functions, and what the library or Python gives for them


def every(asked, *options, data_of=""):
    """Return what yields all arguments, followed by the data of a figure, and what is asked."""

    def cases(_):
        data = [explorables.make(data_of).data()] if data_of else []
        return (([*one, *data], asked(*one)) for one in itertools.product(*options))

    return cases


def some_hands(rng):
    for _ in range(50):
        position, base = int(rng.integers(0, 100)), float(rng.choice([100, 1000, 10_000]))
        d_model = 2 * int(rng.integers(1, 33))
        pair = int(rng.integers(0, d_model // 2))
        row = tables.sinusoidal(position + 1, d_model, base)[position]
        yield [position, pair, d_model, base], row[2 * pair : 2 * pair + 2]


def some_dials(rng):
    for _ in range(100):
        pair, position, by = rng.integers(0, 8), rng.integers(0, 257) / 4, rng.uniform(-9, 9)
        state = {"position": position, "offset": 3}
        reached = round(4 * (position + by / frequencies.geometric(16, 100)[pair])) / 4
        yield [str(pair), by, state], {"position": min(max(reached, 0), 64), "offset": 3}


def all_cuts(_):
    """What fills up the last piece is -1."""
    for cut, patch in itertools.product((20, 24, 25, 30), range(1, 26)):
        run, walk = np.arange(cut), 100 + np.arange(50 - cut)
        series = np.stack([np.append(run, walk), np.append(walk, run)])
        filled = np.pad(series, ((0, 0), (0, -50 % patch)), constant_values=-1)
        yield [cut, patch], filled.reshape(2, -1, patch)


def some_draws(rng):
    for _ in range(30):
        figure = trained_again.Luck()
        figure.scores = rng.uniform(70, 100, size=(rng.integers(2, 12), trained_again.N_SEEDS))
        draw, runs = int(rng.integers(1, trained_again.N_DRAWS + 1)), int(rng.integers(1, 6))
        yield [draw, runs, figure.scores], figure.drawn(draw, runs)


def some_differences(rng):
    factors = one_more_split.factors()
    for n in (2, 3, 4, 5) * 5:
        differences = rng.normal(rng.normal(0, 5), 5, size=n).tolist()
        yield [differences, factors], one_more_split.judged(differences)


def all_scores(rng):
    query, key = np.array([[1.0, 0.0]]), np.array([[np.cos(1.2), np.sin(1.2)]])
    for offset in range(-8, 9):
        place = rng.integers(8, 24)
        one = rotation.rotate(query, [place], [0.4])
        other = rotation.rotate(key, [place + offset], [0.4])
        yield [offset], (one @ other.T).item()


def all_drags(rng):
    for _ in range(100):
        place, offset = int(rng.integers(8, 24)), int(rng.integers(-8, 9))
        steps, state = int(rng.integers(-30, 30)), {"place": place, "offset": offset}
        new, farther = place + steps, min(max(offset + steps, -8), 8)
        reached = min(max(new, 8, place + offset - 8), 23, place + offset + 8)
        yield ["both", 10 * steps, state], {"place": min(max(new, 8), 23), "offset": offset}
        yield ["key", 10 * steps, state], {"place": place, "offset": farther}
        yield ["query", 10 * steps, state], {"place": reached, "offset": place + offset - reached}


def all_pairs_of_patches():
    """Yield every place of the pair with every place of its key."""
    controls = explorables.make("two-patches").controls
    for values in itertools.product(*(control.options for control in controls)):
        yield [two_patches.pair(value) for value in values]


def eyes(at, wanted, axis):
    """Return a query and a key at its place, and the key's own arrow, of one axis."""
    both, key = (np.array(one) for one in at)
    back = np.array([[np.cos(0.7 * wanted), -np.sin(0.7 * wanted)]])
    return np.array([[1.0, 0.0]]), back, both[axis : axis + 1], (both + key)[axis : axis + 1]


def turned_by_the_library(at, axis, wanted):
    query, key, here, there = eyes(at, wanted, axis)
    return rotation.rotate(query, here, [0.7]), rotation.rotate(key, there, [0.7])


def added_by_the_program(at, axis, wanted):
    query, key, here, there = eyes(at, wanted, axis)
    return query + program.encode(here, [0.7]), key + program.encode(there, [0.7])


def score_of_patches(at, placed):
    both = [placed(at, axis, wanted) for axis, wanted in enumerate((0, 3))]
    return sum(query @ key.T for query, key in both).item()


def all_angles_of_patches(_):
    for at in all_pairs_of_patches():
        both = [turned_by_the_library(at, axis, wanted) for axis, wanted in enumerate((0, 3))]
        angles = [[np.arctan2(one[0, 1], one[0, 0]) for one in turned] for turned in both]
        found = np.array(two_patches.angles(*at))
        assert np.allclose(np.exp(1j * found), np.exp(1j * np.array(angles)))
        yield at, found


def all_turned_patches(_):
    for at in all_pairs_of_patches():
        yield [at[1]], score_of_patches(at, turned_by_the_library)


def all_added_patches(_):
    for at in all_pairs_of_patches():
        yield at, score_of_patches(at, added_by_the_program)


def all_drags_of_patches(rng):
    ends = {"both": ((2, 5), (1, 7)), "key": ((-1, 1), (1, 4))}
    for at in all_pairs_of_patches():
        state = dict(zip(ends, (f"{row},{column}" for row, column in at), strict=True))
        for grip, place in zip(ends, at, strict=True):
            down, along = rng.integers(-9, 10, size=2).tolist()
            low, high = zip(*ends[grip], strict=True)
            row, column = np.clip(np.add(place, (down, along)), low, high)
            yield [grip, 22 * along, state, 22 * down], state | {grip: f"{row},{column}"}


def some_sentences(rng):
    for _ in range(10):
        x, *weights = (rng.normal(size=shape) for shape in [(5, 8), (8, 8), (8, 8), (8, 8)])
        for causal in (False, True):
            yield [x, *weights, causal], program.attention(x, *weights, causal=causal)


def all_shuffles(_):
    for sentence, slot, steps in itertools.product(shuffle.SENTENCES, range(3), range(-4, 5)):
        words = list(sentence)
        words.insert(min(max(slot + steps, 0), 2), words.pop(slot))
        state = {"sentence": sentence, "rule": "back"}
        yield [str(slot), 90 * steps, state], state | {"sentence": "".join(words)}


def angle(place, period):
    """Return by how many degrees the program's clocks have turned."""
    sine, cosine = program.encode([place], [2 * np.pi / period])[0]
    return np.degrees(np.arctan2(sine, cosine)) % 360


def half(place, period):
    return tables.binary(16)[int(place), list(clocks.PERIODS).index(period)]


def all_shares(_):
    words = drowning.words()
    for place, written in itertools.product(range(0, 255, 7), drowning.WRITTEN):
        largest = np.abs(words).max()
        tallest = max(np.abs(words + drowning.added(place, written)).max(), largest)
        yield [words, place, written], largest / tallest


def some_spikes(rng):
    """The library's Algorithm 1 is asked about the spike at 0."""
    for shares in rng.dirichlet(np.ones(density.D // 2 + 1), size=10):
        yield [shares], fourier.reconstruct(np.eye(density.D)[0], shares)


def some_louder(rng):
    for loud, steps in zip(rng.integers(0, 61, 40), rng.integers(-70, 70, 40), strict=True):
        state = {"noise": loud / 20, "draw": 3}
        louder = min(max(loud + steps, 0), 60) / 20
        yield ["noise", 320 / 60 * steps, state], state | {"noise": louder}


def some_turns(rng):
    for _ in range(10):
        rows = rng.normal(size=(6, 2 * rng.integers(1, 9)))
        yield [rows], rotation.rotate(rows, np.arange(6), frequencies.geometric(rows.shape[1]))


def some_maps(rng):
    for _ in range(20):
        q, k = rng.normal(size=(2, 6, 8))
        rope, alibi, erpe = rng.integers(0, 2, size=3).astype(bool).tolist()
        weights = doors.attention_weights(q, k, rope=rope, alibi=alibi, erpe=erpe)
        yield [q, k, rope, alibi, erpe], weights


def some_longrope(rng):
    for omega, original, length in itertools.product(GRIDS, LENGTHS, (100, 5000, 30_000)):
        short, long = rng.uniform(1, 60, size=(2, omega.size))
        expected = schedules.longrope(omega, length, original, short_factor=short, long_factor=long)
        yield [omega, length, original, short, long], expected


def all_gains(_):
    for rows in explorables.make("benchmark").rows.values():
        yield [rows], benchmark.gains(rows)


def all_standings(_):
    for rows in explorables.make("benchmark").rows.values():
        for place in range(len(benchmark.FOLLOWED)):
            yield [rows, place], benchmark.standing(rows, place)


def all_advice(_):
    figure = explorables.make("chooser")
    for answers in itertools.product(*(control.options for control in figure.controls)):
        yield [*answers], figure.case(*answers).key


def all_sentences(_):
    figure = explorables.make("two-sentences")
    for order, positions in itertools.product(figure.controls[0].options, Switch.options):
        yield [figure.data(), order, positions], figure.pooled(order, positions)


def all_rulers(_):
    """The weights that attention with such a bias gives."""
    text = torch.zeros(1, 1, len(rulers.TEXT), 8)
    table = program.ALiBi(1)
    table.slopes = rulers.SLOPE
    for name, place in itertools.product(rulers.RULERS, range(8, 24)):
        steps = program.offsets(text, text)[place]
        wanted = -1 - (ord(rulers.TEXT[place]) - ord("A")) % 4
        marked = steps == wanted if name == "own" else (steps >= -4) & (steps < 0)
        bias = table.bias(None, text, text)[place] if name == "slope" else 5.0 * marked
        yield [name, place], bias.double().softmax(-1).numpy()


def kinds_of_layers():
    """Yield a model, each of its kinds of layers, and lengths."""
    for model in released_models.models().values():
        for kind, power in itertools.product(model["kinds"], released_models.POWERS):
            yield model, kind, 2**power


def all_layers(asked):
    for _, kind, length in kinds_of_layers():
        yield [kind, length], asked(kind, length)


def all_new_hands(_):
    for model, kind, length in kinds_of_layers():
        yield [kind, model["made"], length], released_models.fresh(kind, model["made"], length)


def each_pull():
    """Yield every length and mend of the text that is pulled longer."""
    return itertools.product(range(pulled.TRAINED, len(pulled.TEXT) + 1), pulled.MENDS)


def all_hits(_):
    for length, mend in each_pull():
        said, spoken = pulled.SAID[mend], pulled.speakers(pulled.TEXT)
        yield [length, said, spoken], pulled.right(length, mend)


def all_turned(_):
    for (length, mend), hand in itertools.product(each_pull(), range(4)):
        speeds = pulled.OMEGA[hand], pulled.HANDS[mend][hand]
        yield [*map(float, speeds), length], pulled.turned(hand, length, mend)


def all_frames(_):
    spoken = pulled.speakers(pulled.TEXT)
    for (length, mend), hit in itertools.product(each_pull(), (True, False)):
        yield [length, pulled.SAID[mend], spoken, hit], pulled.frames(length, mend, hit)


def all_learned_turns(_):
    angles = learned_hands.LearnedHands().data()["angles"]
    for i, place in itertools.product(range(5), range(2, 511, 37)):
        yield [angles[i], place], learned_hands.turn(i, place)


def slid(grip, key, places, *, per, low, high, **others):
    """Return what draws a grip some way, each step `per` units long, and names the end."""

    def drags(_):
        for start, by in itertools.product(places, (-900, -25, -3, 0, 3, 25, 900)):
            state = {key: start, **others}
            reached = min(max(start + math.floor(by / per + 0.5), low), high)
            yield [grip, by, state], state | {key: reached}

    return drags


def each_of(*cases):
    """Return what yields a grip, how far it is dragged, the state before and what changes."""
    return lambda _: (([*case], case[2] | change) for *case, change in cases)


GRIDS = [frequencies.geometric(d, base) for d in (4, 30, 128) for base in (100, 7e3, 1e6)]
FACTORS, LENGTHS = (1.0, 3.7, 40.0), (64, 4096, 20_000)
PLACES = [*range(16), *np.linspace(0, 15.99, 20)]
FORECASTS = [drawers.HEADS, range(len(drawers.SWAPS) + 1)]
FIVE = {"patch": 5, "cut": 25}
DIALS = [*enumerate(clocks.PERIODS)]
QUARTER = 2 * math.pi * 36 / 4  # of a dial of 36 units
REFERENCES = {
    ("learned-hands", "turn"): all_learned_turns,
    ("learned-hands", "dragged"): slid(
        "line", "place", (2, 200, 510), per=320 / 509, low=2, high=510
    ),
    ("two-sentences", "numbers"): all_sentences,
    ("clock-hands", "hand"): some_hands,
    ("clock-hands", "frequency"): every(
        lambda pair, d, base: frequencies.geometric(d, base)[pair], (0, 1), (4, 64), (2, 1e4, 1e6)
    ),
    ("clock-hands", "dialled"): some_dials,
    ("two-hands", "angles"): every(two_hands.angles, range(8, 24), range(-8, 9)),
    ("two-hands", "score"): all_scores,
    ("two-hands", "dragged"): all_drags,
    ("two-patches", "angles"): all_angles_of_patches,
    ("two-patches", "turned"): all_turned_patches,
    ("two-patches", "added"): all_added_patches,
    ("two-patches", "dragged"): all_drags_of_patches,
    ("ruler", "weights"): all_rulers,
    ("ruler", "dragged"): slid("query", "place", (9, 16), per=10, low=8, high=23, ruler="own"),
    ("roses", "arrows"): every(roses.arrows, range(1, 13), roses.WAYS, (0, 5, 700)),
    ("roses", "mean"): every(roses.mean, range(1, 13), roses.WAYS, (0, 5, 700)),
    ("roses", "dragged"): slid("row", "n", (5,), per=22, low=1, high=12, way="back"),
    ("luck", "drawn"): some_draws,
    ("luck", "dragged"): slid(
        "draw", "draw", (5,), per=8, low=1, high=trained_again.N_DRAWS, runs=2
    ),
    ("one-more-split", "judged"): some_differences,
    ("one-more-split", "dragged"): slid(
        "splits", "splits", (2,), per=40, low=1, high=one_more_split.N_SPLITS, compared="none"
    ),
    ("patches", "both"): all_cuts,
    ("patches", "dragged"): each_of(
        ("patch", 3.6 * 6.4, FIVE, {"patch": 9}),
        ("patch", -100, FIVE, {"patch": 1}),
        ("cut", -3.5, FIVE, {"cut": 24}),
        ("cut", 900, FIVE, {"cut": 30}),
    ),
    ("shuffle", "attention"): some_sentences,
    ("shuffle", "dragged"): all_shuffles,
    ("at-birth", "top"): every(at_birth.top, np.geomspace(0.3, 300, 40)),
    ("at-birth", "said"): every(at_birth.share_text, np.geomspace(0.3, 40, 40)),
    ("drowning", "added"): every(drowning.added, range(drowning.N_PLACES), drowning.WRITTEN),
    ("drowning", "share"): all_shares,
    ("drowning", "dragged"): slid(
        "page", "place", (0, 20, 254), per=1.25, low=0, high=254, written="bits"
    ),
    ("clocks", "angle"): every(angle, PLACES[16:], clocks.PERIODS),
    ("clocks", "half"): every(half, PLACES, clocks.PERIODS),
    ("clocks", "dragged"): each_of(
        ("line", 41, {"place": 5}, {"place": 7.1}),
        ("line", 900, {"place": 5}, {"place": 15.9}),
        *((str(i), QUARTER, {"place": 5}, {"place": 5 + p / 4}) for i, p in DIALS),
        *((str(i), -4 * QUARTER, {"place": 1}, {"place": 0}) for i, _ in DIALS),
    ),
    ("digits-bits-waves", "bit"): every(
        lambda place, k: tables.binary(32)[place, 4 - k], range(32), range(5)
    ),
    ("digits-bits-waves", "wave"): every(
        digits_bits_waves.wave, np.linspace(0, 64, 23), 2.0 ** np.arange(1, 6)
    ),
    ("wave-bank", "frequencies"): every(frequencies.geometric, range(2, 66, 6), (2.5, 100, 1e5)),
    ("chooser", "decided"): all_advice,
    ("doors", "turned"): some_turns,
    ("doors", "weights"): some_maps,
    ("kernels", "byFormula"): every(kernels.by_formula, kernels.FORMULAS, (2, 17, 39), (4, 24, 64)),
    ("pulled", "arc"): every(pulled.arc, (0.0, 0.5, 1.0, 3.2), (1.0, 4.0, 6.4)),
    ("pulled", "frames"): all_frames,
    ("pulled", "right"): all_hits,
    ("pulled", "turned"): all_turned,
    ("pulled", "dragged"): slid(
        "text", "length", (32, 60, 128), per=1 / 0.3, low=32, high=128, mend="all"
    ),
    ("released-models", "speeds"): lambda _: all_layers(released_models.speeds),
    ("released-models", "turned"): lambda _: all_layers(released_models.turned),
    ("released-models", "fresh"): all_new_hands,
    ("rope-schedules", "linear"): every(schedules.linear, GRIDS, FACTORS),
    ("rope-schedules", "ntk"): every(schedules.ntk, GRIDS, FACTORS),
    ("rope-schedules", "dynamicNtk"): every(
        schedules.dynamic_ntk, GRIDS, FACTORS, (100, 5000, 60_000), LENGTHS
    ),
    ("rope-schedules", "yarn"): every(schedules.yarn, GRIDS, FACTORS, LENGTHS),
    ("rope-schedules", "llama3"): every(schedules.llama3, GRIDS, FACTORS, LENGTHS),
    ("rope-schedules", "longrope"): some_longrope,
    ("rope-schedules", "frequencies"): every(
        rope_schedules.frequencies,
        rope_schedules.SCHEDULES,
        (1, 5, 32),
        (512, 4096, 8192),
        (1e4, 5e5),
        data_of="rope-schedules",
    ),
    ("benchmark", "gains"): all_gains,
    ("benchmark", "standing"): all_standings,
    ("drawers", "order"): every(drawers.order, FORECASTS[1], data_of="drawers"),
    ("drawers", "forecast"): every(
        explorables.make("drawers").forecast, *FORECASTS, data_of="drawers"
    ),
    ("drawers", "off"): every(explorables.make("drawers").off, *FORECASTS, data_of="drawers"),
    ("density", "geometric"): every(frequencies.geometric, range(2, 66, 6), (2.5, 100, 1e5)),
    ("density", "density"): every(fourier.frequency_density, GRIDS, (4, 40, 78), (0.02, 0.5)),
    ("density", "spread"): every(density.spread, range(0, 101, 10), (2.5, 1e4)),
    ("density", "kernel"): some_spikes,
    ("noise", "scores"): every(
        noise.scores, noise.CODES, (0.0, 0.65, 3.0), range(1, noise.TRIES + 1), data_of="noise"
    ),
    ("noise", "dragged"): some_louder,
}

every_figure = pytest.mark.parametrize("name", explorables.names())


@pytest.fixture(scope="module")
def all_figures(browser, site):
    window = Opened(browser, site, size=DESKTOP, painted=False)
    yield window.goto(GALLERY)
    window.context.close()


@pytest.fixture
def gallery(all_figures, request):
    """The page with all figures, as wide as the test's parameter says, or as a desk's.

    To lay it out anew takes longest, so tests that ask for one width stand together; all else a
    test sets by itself.
    """
    named = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    size = named.get("size", DESKTOP)
    if all_figures.viewport_size != size:
        all_figures.set_viewport_size(size)
        all_figures.wait_for_function(f"innerWidth === {size['width']}")
    return all_figures


def some_state(figure, rng):
    state = {}
    for control in figure.controls:
        if hasattr(control, "options"):
            state[control.key] = str(rng.choice(list(control.options)))
        else:
            n = math.floor((control.maximum - control.minimum) / control.step)
            value = control.minimum + control.step * int(rng.integers(0, n + 1))
            state[control.key] = round(value, 9)
    return state


def entered(page: Page, name: str, states: list[dict]) -> list[tuple[str, float, float]]:
    """Set a figure's controls as a reader would leave them, to one state after the other.

    Of each state its summary is returned, and how wide and high the drawing is.
    """
    return page.evaluate(
        """async ([name, states]) => {
          const root = document.querySelector(`.explorable[data-name="${name}"]`);
          const found = [];
          for (const state of states) {
            for (const [key, value] of Object.entries(state)) {
              const input = root.querySelector(`[data-key="${key}"]`);
              input.value = value;
              input.dispatchEvent(new Event("input", { bubbles: true }));
            }
            await new Promise(requestAnimationFrame);  // comes after the redraw that was asked for
            const { width, height } = root.querySelector("svg").getBoundingClientRect();
            found.push([root.querySelector(".explorable-summary").innerText, width, height]);
          }
          return found;
        }""",
        [name, states],
    )


def enter(page: Page, name: str, state: dict) -> str:
    return entered(page, name, [state])[0][0]


@pytest.mark.parametrize(("name", "function"), REFERENCES)
def test_its_mathematics_is_the_librarys(gallery, name, function):
    asked = [*REFERENCES[name, function](np.random.default_rng(0))]
    arguments = [one for one, _ in asked]
    plain = json.loads(json.dumps(arguments, default=lambda one: one.tolist()))
    call = "([name, f, all]) => all.map((a) => posencExplorables.known[name].functions[f](...a))"
    given = gallery.evaluate(call, [name, function, plain])
    for (_, expected), found in zip(asked, given, strict=True):
        if isinstance(expected, str):
            assert (found["use"] if isinstance(found, dict) else found) == expected
        elif isinstance(expected, dict):
            assert found == expected
        else:
            np.testing.assert_allclose(found, expected, atol=1e-6)


@every_figure
def test_it_says_what_python_says(gallery, name):
    page, figure = gallery, explorables.make(name)
    rng = np.random.default_rng(1)
    states = [figure.first(), *(some_state(figure, rng) for _ in range(25))]
    for state, (said, *_) in zip(states, entered(page, name, states), strict=True):
        assert said == figure.summary(state), state


def a_key_that_changes(control) -> str:
    """Return the key that leads from a control's first value to another one."""
    if isinstance(control, Order | Spot):
        return "ArrowRight"
    if isinstance(control, Switch):
        return "Space"
    if hasattr(control, "options"):
        return "ArrowUp" if control.value == list(control.options)[-1] else "ArrowDown"
    return "ArrowLeft" if control.value == control.maximum else "ArrowRight"


@every_figure
def test_every_control_works_by_keyboard_and_reset_undoes_it(gallery, name):
    page, figure = gallery, explorables.make(name)
    root = page.locator(f'.explorable[data-name="{name}"]')
    drawing = root.locator(".explorable-drawing")
    enter(page, name, figure.first())
    first = drawing.inner_html()
    for control in figure.controls:
        labelled = root.get_by_label(control.label, exact=True)
        buttons = isinstance(control, Order | Spot)
        (labelled.locator("button").first if buttons else labelled).focus()
        page.keyboard.press(a_key_that_changes(control))
        becomes(page, lambda: drawing.inner_html() != first, True)
        root.get_by_role("button", name="Reset").press("Enter")
        summary = root.locator(".explorable-summary")
        becomes(page, summary.inner_text, figure.summary(figure.first()))


def becomes(page, told, expected, seconds=60):
    """Wait for a redraw, at most so long: on a busy machine it takes its time."""
    for _ in range(20 * seconds):
        if told() == expected:
            return
        page.wait_for_timeout(50)
    assert told() == expected


def test_a_page_opens_with_the_first_setting_of_every_figure(opened):
    page = opened.goto(GALLERY)
    for name in explorables.names():
        figure = explorables.make(name)
        shown = page.locator(f'.explorable[data-name="{name}"] .explorable-summary')
        becomes(page, shown.inner_text, figure.summary(figure.first()))


def test_every_function_of_every_figure_is_compared(gallery):
    found = gallery.evaluate(
        """() => Object.entries(posencExplorables.known).flatMap(
          ([name, figure]) => Object.keys(figure.functions).map((key) => [name, key]))"""
    )
    assert {tuple(pair) for pair in found} == set(REFERENCES)


def test_every_figure_has_its_mathematics_compared():
    assert {name for name, _ in REFERENCES} == set(explorables.names())


@every_figure
def test_an_address_leads_to_a_setting(gallery, name):
    page, figure = gallery, explorables.make(name)
    state = some_state(figure, np.random.default_rng(2))
    said = "&".join(f"{key}={value}" for key, value in state.items())
    page.goto(f"{page.url.split('#')[0]}#explorable-{name}?{said}")
    shown = page.locator(f'.explorable[data-name="{name}"] .explorable-summary')
    becomes(page, shown.inner_text, figure.summary(state))


@every_figure
def test_an_address_with_values_that_no_control_has_changes_nothing(gallery, name):
    page, figure = gallery, explorables.make(name)
    first = enter(page, name, figure.first())
    lead = """async ([name, state]) => {
      const led = new Promise((done) => addEventListener("hashchange", done, { once: true }));
      location.hash = `explorable-${name}?${state}`;
      await led;
      await new Promise(requestAnimationFrame);
      const root = document.querySelector(`.explorable[data-name="${name}"]`);
      const summary = root.querySelector(".explorable-summary").innerText;
      return [summary, root.querySelector("svg").outerHTML];
    }"""
    for value in ("elsewhere", "", "9,999", "1e999"):
        state = "&".join(f"{control.key}={value}" for control in figure.controls)
        summary, drawing = page.evaluate(lead, [name, state])
        assert summary == first
        assert "NaN" not in drawing


@every_figure
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desk"])
def test_nothing_moves_when_it_starts_or_redraws(gallery, name, size):  # noqa: ARG001
    page, figure = gallery, explorables.make(name)
    drawing = page.locator(f'.explorable[data-name="{name}"] svg').bounding_box()
    states = [some_state(figure, np.random.default_rng(seed)) for seed in range(5)]
    for _, width, height in entered(page, name, states):
        assert (width, height) == (drawing["width"], drawing["height"])
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def every_state(figure):
    values = [
        list(control.options)
        if hasattr(control, "options")
        else np.arange(control.minimum, control.maximum + control.step / 2, control.step)
        .round(9)
        .tolist()
        for control in figure.controls
    ]
    keys = [control.key for control in figure.controls]
    return [dict(zip(keys, state, strict=True)) for state in itertools.product(*values)]


# Redraws a figure in each state and returns what leaves the drawing, texts that lie on one another,
# and texts that a bar covers or an edge cuts, with the first state in which each does.
MISPLACED = """([name, states]) => {
  const root = document.querySelector(`.explorable[data-name="${name}"]`);
  const { data } = JSON.parse(root.querySelector("script").textContent);
  const svg = root.querySelector("svg");
  const set = (part, named) => {
    for (const [key, value] of Object.entries(named)) part.setAttribute(key, value);
  };
  const view = { root, set, part: (part) => root.querySelector(`[data-part="${part}"]`) };
  const drawn = [...svg.querySelectorAll("text, rect, line, path, circle")];
  const found = {};
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;  // letters leave so much of a line
  const holds = (a, b) =>
    a.left <= b.left && a.right >= b.right && a.top <= b.top && a.bottom >= b.bottom;
  const called = (one) => one.dataset.part ?? `${one.tagName} ${one.textContent}`;
  for (const state of states) {
    for (const input of root.querySelectorAll("[data-key]")) input.value = state[input.dataset.key];
    posencExplorables.known[name].redraw(view, state, data);
    svg.getAnimations({ subtree: true }).forEach((one) => one.finish());
    const note = (what, ...ones) => (found[`${what}: ${ones.map(called).join(", ")}`] ??= state);
    const frame = svg.getBoundingClientRect();
    const boxes = drawn
      .map((one) => [one, one.getBoundingClientRect()])
      .filter(([one, box]) => box.width + box.height > 0)
      .filter(([one]) => one.textContent || one.tagName !== "text");
    for (const [one, box] of boxes) {
      const out = Math.max(frame.left - box.left, box.right - frame.right,
        frame.top - box.top, box.bottom - frame.bottom);
      if (out > 1) note("outside", one);
    }
    const texts = boxes.filter(([one]) => one.tagName === "text");
    const shapes = boxes.filter(([one]) => one.tagName === "rect");
    texts.forEach(([one, box], i) => {
      for (const [other, its] of texts.slice(i + 1)) {
        if (meet(box, its)) note("on one another", one, other);
      }
      for (const [shape, its] of shapes) {
        const room = shape.classList.contains("fill") ? false : holds(its, box);
        if (meet(box, its) && !room) note("covered", one, shape);
      }
    });
  }
  return found;
}"""


@every_figure
@pytest.mark.parametrize("most", [300, pytest.param(None, marks=pytest.mark.slow)])
def test_everything_stays_in_its_drawing_in_every_state(gallery, name, most):
    """In `make test` in so many states, evenly spread: a value of one control meets all others."""
    states = every_state(explorables.make(name))
    step = 1 if most is None else 1 + len(states) // most
    assert gallery.evaluate(MISPLACED, [name, states[::step]]) == {}


class Held:
    """A figure of the gallery as a reader finds it, who takes it by its grips."""

    def __init__(self, page, name):
        self.page, self.figure = page, explorables.make(name)
        enter(page, name, self.figure.first())
        self.root = page.locator(f'.explorable[data-name="{name}"]')
        self.root.scroll_into_view_if_needed()
        self.finger = page.context.new_cdp_session(page)
        self.unit = self.root.locator("svg").bounding_box()["width"] / 360

    def grip(self, name, share=0.5):
        """Return a place on a grip, so far from its left end."""
        box = self.root.locator(f'[data-grip="{name}"]').bounding_box()
        return box["x"] + share * box["width"], box["y"] + box["height"] / 2

    def drag(self, places, by="mouse"):
        """Lead the mouse or a finger over some places."""
        self.act("Start", *places[0], by)
        for place in places:
            self.act("Move", *place, by)
        self.act("End", *places[-1], by)

    def act(self, kind, x, y, by):
        if by == "mouse":
            self.page.mouse.move(x, y)
            {"Start": self.page.mouse.down, "End": self.page.mouse.up}.get(kind, lambda: None)()
            return
        points = [] if kind == "End" else [{"x": x, "y": y}]
        self.finger.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
        )
        self.page.wait_for_timeout(30)

    def along(self, name, right, down=0, *, share=0.5, by="mouse"):
        """Drag a grip by so many units of the drawing."""
        x, y = self.grip(name, share)
        far = [step / 8 * self.unit for step in range(9)]
        self.drag([(x + right * one, y + down * one) for one in far], by)

    def drawn(self, part, attribute="d"):
        return self.root.locator(f'[data-part="{part}"]').get_attribute(attribute)

    def says(self, **state):
        summary = self.root.locator(".explorable-summary")
        becomes(self.page, summary.inner_text, self.figure.summary(state), seconds=5)


@pytest.mark.parametrize(("turns", "position"), [(0.25, 6.5), (2, 17.5), (-0.5, 1.75)])
def test_a_hand_that_is_turned_takes_all_clocks_along(gallery, turns, position):
    held = Held(gallery, "clock-hands")
    (x, y), (end, _) = held.grip("0"), held.grip("0", 5 / 6)
    angles = np.linspace(0, 2 * np.pi * turns, 1 + int(24 * abs(turns)))
    r = end - x
    held.drag([(x + r * np.cos(angle), y - r * np.sin(angle)) for angle in angles])
    held.says(position=position, offset=2)


@pytest.mark.parametrize(
    ("grip", "expected"),
    [
        ("both", {"place": 15, "offset": -5}),
        ("key", {"place": 12, "offset": -2}),
        ("query", {"place": 15, "offset": -8}),
    ],
)
def test_two_tokens_are_dragged_along_their_text(gallery, grip, expected):
    held = Held(gallery, "two-hands")
    bar = held.drawn("bar")
    held.along(grip, 30)
    held.says(**expected)
    assert (held.drawn("bar") == bar) == (grip == "both")


@pytest.mark.parametrize(
    ("name", "grip", "by", "expected"),
    [
        ("patches", "patch", 3 * 6.4, {"patch": 8, "cut": 25}),
        ("noise", "noise", 1.3 / 3 * 320, {"noise": 2.5, "draw": 12}),
    ],
)
def test_a_picture_is_pulled_by_hand(gallery, name, grip, by, expected):
    held = Held(gallery, name)
    held.along(grip, by, share=0.25)
    held.says(**expected)


def test_a_finger_drags_sideways_and_the_page_does_not_take_it_away(gallery):
    held = Held(gallery, "two-hands")
    held.along("both", 80, share=1 / 3, by="finger")
    held.says(place=20, offset=-5)


@pytest.mark.parametrize(
    ("grip", "expected"),
    [("both", {"both": "5,4", "key": "0,3"}), ("key", {"both": "3,2", "key": "1,4"})],
)
@pytest.mark.parametrize("by", ["mouse", "finger"])
def test_two_patches_are_dragged_over_their_picture(gallery, grip, expected, by):
    held = Held(gallery, "two-patches")
    before = held.drawn("turned-bar"), held.drawn("added-bar")
    scrolled = gallery.evaluate("scrollY")
    held.along(grip, 44, 44, by=by)
    held.says(**expected)
    assert (held.drawn("turned-bar") == before[0]) == (grip == "both")
    assert held.drawn("added-bar") != before[1]
    assert gallery.evaluate("scrollY") == scrolled


def test_arrow_keys_lead_the_face_and_stop_at_its_edges(gallery):
    held = Held(gallery, "two-patches")
    button = held.root.get_by_role("button", name="Move both left")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter", "Enter", "Enter"):
        button.press(key)
    held.says(both="5,1", key="0,3")


def test_a_word_is_dragged_and_its_bars_ride_along(gallery):
    held = Held(gallery, "shuffle")

    def bars(slot):
        names = [f"now-{slot}-{i}" for i in range(shuffle.D_MODEL)]
        return [float(held.drawn(name, "height")) for name in names]

    alice, mean = bars(0), bars(3)
    held.drag([held.grip("0"), held.grip("2")])
    held.says(sentence="120", rule="all")
    assert np.allclose(bars(2), alice, atol=0.01)
    assert np.allclose(bars(3), mean, atol=0.01)


def test_a_stronger_weight_is_drawn_darker(gallery):
    figure = explorables.make("doors")
    for state in every_state(figure):
        enter(gallery, "doors", state)
        drawn = gallery.eval_on_selector_all(
            '.explorable[data-name="doors"] [data-part^="cell-"]',
            "all => all.map((cell) => Number(cell.getAttribute('fill-opacity')))",
        )
        weights = figure.weights(**state).ravel()
        np.testing.assert_allclose(drawn, [doors.shade(one) for one in weights], atol=1.1e-3)


# --- the words of the first page, which can be dragged


@pytest.fixture
def words(opened):
    """The figure of the first page, as a reader finds it."""
    page = opened.goto("book/intro")
    figure = Words(page, page.locator('.explorable[data-name="two-sentences"]'))
    becomes(page, lambda: figure.sentence("First"), "Alice helped Bob")
    yield figure
    assert opened.messages == []


class Words:
    """What a reader sees of the figure with the two sentences."""

    def __init__(self, page, root):
        self.page, self.root = page, root

    def words(self, row):
        return self.root.get_by_label(f"{row} sentence").get_by_role("button")

    def word(self, row, word):
        return self.root.get_by_label(f"{row} sentence").get_by_role("button", name=word)

    def sentence(self, row):
        return " ".join(self.words(row).all_inner_texts())

    def bars(self):
        """Return the heights of all bars, once they have come to rest."""
        for _ in range(2):  # what is asked is drawn with the next picture
            self.page.evaluate("new Promise((done) => requestAnimationFrame(done))")
        return self.root.locator("rect").evaluate_all(
            "all => all.map((bar) => bar.getAttribute('y') + bar.getAttribute('height'))"
        )

    def says(self, sentence):
        """Wait until the first sentence is this one, in the row and below the bars."""
        becomes(self.page, lambda: self.sentence("First").casefold(), sentence.casefold())
        told = self.root.locator(".explorable-summary")
        becomes(self.page, lambda: told.inner_text()[: len(sentence) + 1], f"“{sentence}")

    def centre(self, row, word):
        box = self.word(row, word).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def take(self, row, word, other):
        """Hold a word with the mouse, and lead it to where another one stands."""
        self.word(row, word).scroll_into_view_if_needed()
        self.page.mouse.move(*self.centre(row, word))
        self.page.mouse.down()
        self.page.mouse.move(*self.centre(row, other), steps=8)


def test_a_dragged_word_moves_no_bar_until_positions_are_on(words):
    before = words.bars()
    words.take("First", "Alice", "Bob")
    words.page.mouse.up()
    words.says("Bob helped Alice")
    assert words.bars() == before
    words.word("First", "Bob").press("ArrowRight")
    words.says("Helped Bob Alice")
    assert words.bars() == before
    words.word("First", "Alice").press("Enter")  # the last one changes places with the first
    words.says("Alice Bob helped")
    assert words.bars() == before
    words.root.get_by_role("switch", name="Positions").press("Space")
    becomes(words.page, lambda: words.bars() != before, True)
    on = words.bars()
    words.word("First", "Alice").press("ArrowRight")
    words.says("Bob Alice helped")
    assert words.bars() != on


def test_a_finger_drags_a_word_on_a_phone(words):
    words.word("First", "Alice").scroll_into_view_if_needed()
    (x, y), (end, _) = words.centre("First", "Alice"), words.centre("First", "Bob")
    touch = words.page.context.new_cdp_session(words.page)
    points = [[{"x": x + (end - x) * step / 8, "y": y}] for step in range(9)]
    moves = [("touchStart", points[0]), *(("touchMove", at) for at in points), ("touchEnd", [])]
    for kind, at in moves:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    words.says("Bob helped Alice")


def test_a_drag_that_is_broken_off_leaves_the_words_as_they_were(words):
    words.take("Second", "Bob", "Alice")
    words.word("Second", "Bob").dispatch_event("pointercancel")
    becomes(words.page, lambda: words.sentence("Second"), "Bob helped Alice")
