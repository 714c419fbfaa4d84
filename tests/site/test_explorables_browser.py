"""Explorable figures in a real browser: their numbers are the library's, all controls work."""

import itertools
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


def some_hands(rng):
    """Yield arguments of `hand` and what the library's table holds there."""
    for _ in range(50):
        position, base = int(rng.integers(0, 100)), float(rng.choice([100, 1000, 10_000]))
        d_model = int(2 * rng.integers(1, 33))
        pair = int(rng.integers(0, d_model // 2))
        row = tables.sinusoidal(position + 1, d_model, base)[position]
        yield [position, pair, d_model, base], row[2 * pair : 2 * pair + 2]


def some_frequencies(rng):
    """Yield arguments of `frequency` and the library's."""
    for _ in range(50):
        d_model, base = int(2 * rng.integers(1, 65)), float(rng.uniform(2, 1e6))
        pair = int(rng.integers(0, d_model // 2))
        yield [pair, d_model, base], frequencies.geometric(d_model, base)[pair]


def some_dials(rng):
    """Yield a pair, by how much its hand is turned, from where, and the position that follows."""
    for _ in range(100):
        pair, position = int(rng.integers(0, 8)), int(rng.integers(0, 257)) / 4
        by, state = float(rng.uniform(-9, 9)), {"position": position, "offset": 3}
        reached = round(4 * (position + by / frequencies.geometric(16, 100)[pair])) / 4
        yield [str(pair), by, state], {"position": min(max(reached, 0), 64), "offset": 3}


def all_hands(rng):  # noqa: ARG001
    """Yield places and offsets, and the angles of both hands, the key's from its own direction."""
    for place, offset in itertools.product(range(8, 24), range(-8, 9)):
        yield [place, offset], two_hands.angles(place, offset)


def all_cuts(rng):  # noqa: ARG001
    """Yield cuts and patch lengths, and both series in pieces; what fills up the last is -1."""
    for cut, patch in itertools.product((20, 24, 25, 30), range(1, 26)):
        run, walk = np.arange(cut), 100 + np.arange(50 - cut)
        series = np.stack([np.append(run, walk), np.append(walk, run)])
        filled = np.pad(series, ((0, 0), (0, -50 % patch)), constant_values=-1)
        yield [cut, patch], filled.reshape(2, -1, patch)


def all_knobs(rng):  # noqa: ARG001
    """Yield a knob, how far it is dragged, and what the controls become."""
    state = {"patch": 5, "cut": 25}
    yield ["patch", 3 * 6.4, state], {"patch": 8, "cut": 25}
    yield ["patch", -100, state], {"patch": 1, "cut": 25}
    yield ["cut", -3.5, state], {"patch": 5, "cut": 24}
    yield ["cut", 900, state], {"patch": 5, "cut": 30}


def some_draws(rng):
    """Yield draws of small tables, and the means that Python takes of the same ones."""
    for _ in range(30):
        figure = trained_again.Luck()
        figure.scores = rng.uniform(70, 100, size=(int(rng.integers(2, 12)), trained_again.N_SEEDS))
        draw, runs = int(rng.integers(1, trained_again.N_DRAWS + 1)), int(rng.integers(1, 6))
        yield [draw, runs, figure.scores.tolist()], figure.drawn(draw, runs)


def all_pulls(rng):  # noqa: ARG001
    """Yield how far the picture is pulled, and the draw that follows."""
    for by, draw in ((16, 7), (-3, 5), (-900, 1), (900, trained_again.N_DRAWS)):
        yield ["draw", by, {"draw": 5, "runs": 2}], {"draw": draw, "runs": 2}


def all_roses(rng):  # noqa: ARG001
    """Yield every text of one word, at some places, and the mean of its arrows."""
    for n, way, start in itertools.product(range(1, 13), roses.WAYS, (0, 5, 700)):
        yield [n, way, start], roses.mean(n, way, start)


def all_arrows_of_roses(rng):  # noqa: ARG001
    """Yield every text of one word, at some places, and the angles of its arrows."""
    for n, way, start in itertools.product(range(1, 13), roses.WAYS, (0, 5, 700)):
        yield [n, way, start], roses.arrows(n, way, start)


def all_pulls_of_roses(rng):  # noqa: ARG001
    """Yield how far the row of roses is pulled, and how many it has then."""
    for by, n in ((22, 6), (-40, 3), (-900, 1), (900, 12)):
        yield ["row", by, {"n": 5, "way": "back"}], {"n": n, "way": "back"}


def some_differences(rng):
    """Yield differences of two models and more, and their interval as a report has it."""
    factors = one_more_split.factors()
    for n in (2, 3, 4, 5) * 5:
        differences = rng.normal(rng.normal(0, 5), 5, size=n).tolist()
        yield [differences, factors], one_more_split.judged(differences)


def all_pulls_of_splits(rng):  # noqa: ARG001
    """Yield how far the picture is pulled, and how many splits there are then."""
    for by, splits in ((41, 3), (-15, 2), (-900, 1), (900, one_more_split.N_SPLITS)):
        yield (
            ["splits", by, {"splits": 2, "compared": "none"}],
            {"splits": splits, "compared": "none"},
        )


def all_scores(rng):
    """Yield offsets, and the score of a query and a key that the library has turned."""
    query, key = np.array([[1.0, 0.0]]), np.array([[np.cos(1.2), np.sin(1.2)]])
    for offset in range(-8, 9):
        place = int(rng.integers(8, 24))
        one = rotation.rotate(query, [place], [0.4])
        other = rotation.rotate(key, [place + offset], [0.4])
        yield [offset], (one @ other.T).item()


def all_drags(rng):
    """Yield what is dragged, how far and from where, and what the controls must become."""
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


def all_angles_of_patches(rng):  # noqa: ARG001
    """Yield both places, and the angles of the arrows that the library has turned."""
    for at in all_pairs_of_patches():
        angles = []
        for axis, wanted in enumerate((0, 3)):
            query, key, here, there = eyes(at, wanted, axis)
            turned = [rotation.rotate(one, t, [0.7]) for one, t in ((query, here), (key, there))]
            angles.append([np.arctan2(one[0, 1], one[0, 0]) for one in turned])
        found = np.array(two_patches.angles(*at))
        assert np.allclose(np.exp(1j * found), np.exp(1j * np.array(angles)))
        yield at, found


def all_turned_patches(rng):  # noqa: ARG001
    """Yield the place of a key, and the score of both patches, turned by the library."""
    for at in all_pairs_of_patches():
        score = 0
        for axis, wanted in enumerate((0, 3)):
            query, key, here, there = eyes(at, wanted, axis)
            score += rotation.rotate(query, here, [0.7]) @ rotation.rotate(key, there, [0.7]).T
        yield [at[1]], score.item()


def all_added_patches(rng):  # noqa: ARG001
    """Yield both places, and the score of both patches with the library's table added."""
    for at in all_pairs_of_patches():
        score = 0
        for axis, wanted in enumerate((0, 3)):
            query, key, here, there = eyes(at, wanted, axis)
            score += (query + program.encode(here, [0.7])) @ (key + program.encode(there, [0.7])).T
        yield at, score.item()


def all_drags_of_patches(rng):
    """Yield what is dragged, how far and from where, and what the controls must become."""
    ends = {"both": ((2, 5), (1, 7)), "key": ((-1, 1), (1, 4))}
    for at in all_pairs_of_patches():
        state = dict(zip(ends, (f"{row},{column}" for row, column in at), strict=True))
        for grip, place in zip(ends, at, strict=True):
            down, along = rng.integers(-9, 10, size=2).tolist()
            new = [
                min(max(one + by, low), high)
                for one, by, (low, high) in zip(place, (down, along), ends[grip], strict=True)
            ]
            yield [grip, 22 * along, state, 22 * down], state | {grip: f"{new[0]},{new[1]}"}


def some_sentences(rng):
    """Yield arguments of `attention` and what NumPy gives."""
    for _ in range(10):
        x, *weights = (rng.normal(size=shape) for shape in [(5, 8), (8, 8), (8, 8), (8, 8)])
        for causal in (False, True):
            expected = program.attention(x, *weights, causal=causal)
            yield [*(a.tolist() for a in (x, *weights)), causal], expected


def all_shuffles(rng):  # noqa: ARG001
    """Yield which word is dragged, how far and from which sentence, and what becomes of it."""
    for sentence, slot, steps in itertools.product(shuffle.SENTENCES, range(3), range(-4, 5)):
        words = list(sentence)
        words.insert(min(max(slot + steps, 0), 2), words.pop(slot))
        state = {"sentence": sentence, "rule": "back"}
        yield [str(slot), 90 * steps, state], {"sentence": "".join(words), "rule": "back"}


def all_numbers(rng):  # noqa: ARG001
    """Yield every place in every way to write it, and what it adds to a word."""
    for place, written in itertools.product(range(drowning.N_PLACES), drowning.WRITTEN):
        yield [place, written], drowning.added(place, written)


def all_shares(rng):  # noqa: ARG001
    """Yield the words, a place and a way to write it, and how much of a bar the words are."""
    words = drowning.words()
    for place, written in itertools.product(range(0, 255, 7), drowning.WRITTEN):
        largest = np.abs(words).max()
        tallest = max(np.abs(words + drowning.added(place, written)).max(), largest)
        yield [words.tolist(), place, written], largest / tallest


def all_pulls_of_the_place(rng):  # noqa: ARG001
    """Yield how far the mark is dragged, and the place at which it then stands."""
    for place, by in itertools.product((0, 20, 254), (-400, -25, 0, 3, 25, 400)):
        state = {"place": place, "written": "bits"}
        there = int(np.clip(place + round(by / 1.25), 0, 254))
        yield ["page", by, state], state | {"place": there}


def some_angles(rng):
    """Yield places and periods, and the degrees by which the program's clocks have turned."""
    for place, period in itertools.product(rng.uniform(0, 16, size=20).tolist(), clocks.PERIODS):
        sine, cosine = program.encode([place], [2 * np.pi / period])[0]
        yield [place, period], np.degrees(np.arctan2(sine, cosine)) % 360


def some_halves(rng):
    """Yield places and periods, and the bit of the library."""
    for place in [*range(16), *rng.uniform(0, 16, size=20).tolist()]:
        row = tables.binary(16)[int(place)]
        yield from (([place, p], bit) for p, bit in zip(clocks.PERIODS, row, strict=True))


def all_dial_turns(rng):  # noqa: ARG001
    """Yield drags of the line and of each dial, and the place that follows."""
    yield ["line", 41, {"place": 5}], {"place": 7.1}
    yield ["line", 900, {"place": 5}], {"place": 15.9}
    for i, period in enumerate(clocks.PERIODS):
        quarter = 2 * np.pi * 36 / 4
        yield [f"{i}", quarter, {"place": 5}], {"place": 5 + period / 4}
        yield [f"{i}", -4 * quarter, {"place": 1}], {"place": 0}


def some_bits(rng):
    """Yield arguments of `bit` and the library's bits, the last first."""
    for _ in range(50):
        position, k = int(rng.integers(0, 32)), int(rng.integers(0, 5))
        yield [position, k], tables.binary(32)[position, 4 - k]


def some_waves(rng):
    """Yield arguments of `wave` and Python's."""
    for _ in range(50):
        t, period = float(rng.uniform(0, 64)), float(2 ** rng.integers(1, 6))
        yield [t, period], digits_bits_waves.wave(t, period)


def some_grids(rng):
    """Yield widths and bases and all frequencies of the library."""
    for _ in range(20):
        d_model, base = int(2 * rng.integers(1, 33)), float(rng.uniform(2, 1e5))
        yield [d_model, base], frequencies.geometric(d_model, base)


def some_densities(rng):
    """Yield arguments of `density` and the library's."""
    for _ in range(20):
        d, sigma = int(2 * rng.integers(2, 40)), float(rng.uniform(0.02, 0.5))
        omega = frequencies.geometric(int(2 * rng.integers(1, 33)), float(rng.uniform(2, 1e4)))
        yield [omega.tolist(), d, sigma], fourier.frequency_density(omega, d, sigma)


def some_spreads(rng):
    """Yield arguments of `spread` and what Python makes of them."""
    for _ in range(10):
        even, base = int(rng.integers(0, 101)), float(rng.uniform(2, 1e4))
        yield [even, base], density.spread(even, base)


def some_spikes(rng):
    """Yield densities and what the library's Algorithm 1 makes of the spike at 0."""
    for _ in range(10):
        shares = rng.dirichlet(np.ones(density.D // 2 + 1))
        yield [shares.tolist()], fourier.reconstruct(np.eye(density.D)[0], shares)


def all_noises(rng):  # noqa: ARG001
    """Yield codes, noises and tries, with the data of the page, and the bars of Python."""
    data = explorables.make("noise").data()
    for code, draw in itertools.product(noise.CODES, range(1, noise.TRIES + 1)):
        for loud in (0.0, 0.65, 3.0):
            yield [code, loud, draw, data], noise.scores(code, loud, draw)


def some_louder(rng):
    """Yield how far the noise is dragged, and what the controls must become."""
    for _ in range(40):
        loud, steps = int(rng.integers(0, 61)), int(rng.integers(-70, 70))
        state = {"noise": loud / 20, "draw": 3}
        reached = {"noise": min(max(loud + steps, 0), 60) / 20, "draw": 3}
        yield ["noise", 320 / 60 * steps, state], reached


def some_turns(rng):
    """Yield queries and what the library's rotation makes of them."""
    for _ in range(10):
        rows = rng.normal(size=(6, int(2 * rng.integers(1, 9))))
        turned = rotation.rotate(rows, np.arange(6), frequencies.geometric(rows.shape[1]))
        yield [rows.tolist()], turned


def some_maps(rng):
    """Yield queries, keys and open doors, and the weights that NumPy gives."""
    for _ in range(20):
        q, k = rng.normal(size=(2, 6, 8))
        rope, alibi, erpe = (bool(one) for one in rng.integers(0, 2, size=3))
        weights = doors.attention_weights(q, k, rope=rope, alibi=alibi, erpe=erpe)
        yield [q.tolist(), k.tolist(), rope, alibi, erpe], weights


def some_formulas(rng):
    """Yield encodings and sizes, and the scores that the library's tables and turns give."""
    for name in kernels.FORMULAS:
        for _ in range(8):
            length, width = int(rng.integers(2, 40)), int(4 * rng.integers(1, 17))
            yield [name, length, width], kernels.by_formula(name, length, width)


def some_omega(rng):
    """Yield a grid of frequencies, a factor and a trained length."""
    for _ in range(20):
        d_head, base = int(2 * rng.integers(2, 65)), float(rng.uniform(100, 1e6))
        omega = frequencies.geometric(d_head, base)
        yield omega, float(rng.uniform(1, 40)), int(rng.integers(64, 20_000))


def some_linear(rng):
    """Yield arguments of `linear` and the library's."""
    for omega, factor, _ in some_omega(rng):
        yield [omega.tolist(), factor], schedules.linear(omega, factor)


def some_ntk(rng):
    """Yield arguments of `ntk` and the library's."""
    for omega, factor, _ in some_omega(rng):
        yield [omega.tolist(), factor], schedules.ntk(omega, factor)


def some_dynamic(rng):
    """Yield arguments of `dynamicNtk`, inputs shorter than in training too, and the library's."""
    for omega, factor, original in some_omega(rng):
        length = int(rng.integers(1, 3 * original))
        expected = schedules.dynamic_ntk(omega, factor, length, original)
        yield [omega.tolist(), factor, length, original], expected


def some_yarn(rng):
    """Yield arguments of `yarn` and the library's."""
    for omega, factor, original in some_omega(rng):
        yield [omega.tolist(), factor, original], schedules.yarn(omega, factor, original)


def some_llama3(rng):
    """Yield arguments of `llama3` and the library's."""
    for omega, factor, original in some_omega(rng):
        yield [omega.tolist(), factor, original], schedules.llama3(omega, factor, original)


def some_longrope(rng):
    """Yield arguments of `longrope` with drawn divisors, and the library's."""
    for omega, _, original in some_omega(rng):
        short, long = rng.uniform(1, 60, size=(2, omega.size))
        length = int(rng.integers(1, 2 * original))
        expected = schedules.longrope(omega, length, original, short_factor=short, long_factor=long)
        yield [omega.tolist(), length, original, short.tolist(), long.tolist()], expected


def all_schedules(rng):
    """Yield each schedule with several numbers, and what Python makes of its frequencies."""
    data = explorables.make("rope-schedules").data()
    for name in rope_schedules.SCHEDULES:
        for original in (512, 4096, 8192):
            numbers = [int(rng.integers(1, 33)), original, float(rng.choice([1e4, 5e5]))]
            yield [name, *numbers, data], rope_schedules.frequencies(name, *numbers)


def all_gains(rng):  # noqa: ARG001
    """Yield the rows of the benchmark and the gain on each set."""
    for rows in explorables.make("benchmark").rows.values():
        yield [rows], benchmark.gains(rows)


def all_standings(rng):  # noqa: ARG001
    """Yield rows and an encoding's place, and on how many sets it is among the first and last."""
    for rows in explorables.make("benchmark").rows.values():
        for place in range(len(benchmark.FOLLOWED)):
            yield [rows, place], benchmark.standing(rows, place)


def all_advice(rng):  # noqa: ARG001
    """Yield every answer and the case to which it leads Python."""
    figure = explorables.make("chooser")
    for answers in itertools.product(*(control.options for control in figure.controls)):
        yield [*answers], figure.case(*answers).key


def all_orders(rng):  # noqa: ARG001
    """Yield how many pairs have changed places, and which piece then lies where."""
    data = explorables.make("drawers").data()
    for swaps in range(len(drawers.SWAPS) + 1):
        yield [swaps, data], drawers.order(swaps)


def all_forecasts(asked):
    """Yield heads and shuffles, and the forecast or its error, as `asked` names the method."""
    figure = explorables.make("drawers")
    for head, swaps in itertools.product(drawers.HEADS, range(len(drawers.SWAPS) + 1)):
        yield [head, swaps, figure.data()], getattr(figure, asked)(head, swaps)


def all_sentences(rng):  # noqa: ARG001
    """Yield the data of the two sentences, an order and a switch, and the numbers of Python."""
    figure = explorables.make("two-sentences")
    for order, positions in itertools.product(figure.controls[0].options, Switch.options):
        yield [figure.data(), order, positions], figure.pooled(order, positions)


def all_rulers(rng):  # noqa: ARG001
    """Yield rulers and places, and the weights that attention with such a bias gives."""
    text = torch.zeros(1, 1, len(rulers.TEXT), 8)
    table = program.ALiBi(1)
    table.slopes = rulers.SLOPE
    for name, place in itertools.product(rulers.RULERS, range(8, 24)):
        steps = program.offsets(text, text)[place]
        wanted = -1 - (ord(rulers.TEXT[place]) - ord("A")) % 4
        marked = steps == wanted if name == "own" else (steps >= -4) & (steps < 0)
        bias = table.bias(None, text, text)[place] if name == "slope" else 5.0 * marked
        yield [name, place], bias.double().softmax(-1).numpy()


def all_kinds_of_layers(function):
    """Yield the arguments that `speeds` or `turned` gets for each kind of layer and length."""
    for model in released_models.models().values():
        for kind in model["kinds"]:
            for power in released_models.POWERS:
                yield [kind, 2**power], function(kind, 2**power)


def all_new_hands(rng):  # noqa: ARG001
    """Yield what `fresh` gets for each kind of layer and length, and which hands are new."""
    for model in released_models.models().values():
        for kind in model["kinds"]:
            for power in released_models.POWERS:
                arguments = [kind, model["made"], 2**power]
                yield arguments, released_models.fresh(*arguments)


def some_queries(rng):  # noqa: ARG001
    """Yield how far a query is dragged and from where, and what the controls become."""
    for by, place, expected in ((30, 16, 19), (-34, 16, 13), (200, 16, 23), (-99, 9, 8)):
        state = {"place": place, "ruler": "own"}
        yield ["query", by, state], state | {"place": expected}


def each_pull():
    """Yield every length and mend of the text that is pulled longer."""
    return itertools.product(range(pulled.TRAINED, len(pulled.TEXT) + 1), pulled.MENDS)


def all_hits(rng):  # noqa: ARG001
    """Yield lengths, what a model says and who speaks, and how many answers are right."""
    for length, mend in each_pull():
        said, spoken = pulled.SAID[mend], pulled.speakers(pulled.TEXT)
        yield [length, said, spoken], pulled.right(length, mend)


def all_turned(rng):  # noqa: ARG001
    """Yield the speeds of a hand and a length, and the angles of training and of the text."""
    for (length, mend), hand in itertools.product(each_pull(), range(4)):
        speeds = pulled.OMEGA[hand], pulled.HANDS[mend][hand]
        yield [*map(float, speeds), length], pulled.turned(hand, length, mend)


def all_frames(rng):  # noqa: ARG001
    """Yield lengths, what a model says and who speaks, and the paths around its answers."""
    spoken = pulled.speakers(pulled.TEXT)
    for (length, mend), hit in itertools.product(each_pull(), (True, False)):
        yield [length, pulled.SAID[mend], spoken, hit], pulled.frames(length, mend, hit)


def all_arcs(rng):  # noqa: ARG001
    """Yield where an arc starts and ends, and its path."""
    for start, end in ((0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (0.5, 4.0), (3.2, 6.4), (0.0, 6.4)):
        yield [start, end], pulled.arc(start, end)


def all_pulled(rng):  # noqa: ARG001
    """Yield how far the text is dragged and from where, and what the controls become."""
    for by, length in itertools.product((-400, -10, 0, 5, 50, 400), (32, 60, 128)):
        expected = min(max(length + math.floor(0.3 * by + 0.5), 32), 128)
        yield ["text", by, {"length": length, "mend": "all"}], {"length": expected, "mend": "all"}


def all_learned_turns(rng):  # noqa: ARG001
    """Yield the angles of a learned hand at every place and some place, and its last turn."""
    for i, place in itertools.product(range(5), range(2, 511, 37)):
        yield (
            [learned_hands.LearnedHands().data()["angles"][i], place],
            learned_hands.turn(i, place),
        )


def all_drags_of_places(rng):  # noqa: ARG001
    """Yield how far the line of places is dragged and from where, and what the place becomes."""
    for by, place in itertools.product((-400, -10, 0, 5, 50, 400), (2, 200, 510)):
        expected = min(max(place + math.floor(by / 320 * 509 + 0.5), 2), 510)
        yield ["line", by, {"place": place}], {"place": expected}


REFERENCES = {
    ("learned-hands", "turn"): all_learned_turns,
    ("learned-hands", "dragged"): all_drags_of_places,
    ("two-sentences", "numbers"): all_sentences,
    ("clock-hands", "hand"): some_hands,
    ("clock-hands", "frequency"): some_frequencies,
    ("clock-hands", "dialled"): some_dials,
    ("two-hands", "angles"): all_hands,
    ("two-hands", "score"): all_scores,
    ("two-hands", "dragged"): all_drags,
    ("two-patches", "angles"): all_angles_of_patches,
    ("two-patches", "turned"): all_turned_patches,
    ("two-patches", "added"): all_added_patches,
    ("two-patches", "dragged"): all_drags_of_patches,
    ("ruler", "weights"): all_rulers,
    ("ruler", "dragged"): some_queries,
    ("roses", "arrows"): all_arrows_of_roses,
    ("roses", "mean"): all_roses,
    ("roses", "dragged"): all_pulls_of_roses,
    ("luck", "drawn"): some_draws,
    ("luck", "dragged"): all_pulls,
    ("one-more-split", "judged"): some_differences,
    ("one-more-split", "dragged"): all_pulls_of_splits,
    ("patches", "both"): all_cuts,
    ("patches", "dragged"): all_knobs,
    ("shuffle", "attention"): some_sentences,
    ("shuffle", "dragged"): all_shuffles,
    ("at-birth", "top"): lambda rng: (
        ([share], at_birth.top(share)) for share in rng.uniform(0.3, 300, 20).tolist()
    ),
    ("at-birth", "said"): lambda rng: (
        ([share], at_birth.share_text(share)) for share in rng.uniform(0.3, 40, 20).tolist()
    ),
    ("drowning", "added"): all_numbers,
    ("drowning", "share"): all_shares,
    ("drowning", "dragged"): all_pulls_of_the_place,
    ("clocks", "angle"): some_angles,
    ("clocks", "half"): some_halves,
    ("clocks", "dragged"): all_dial_turns,
    ("digits-bits-waves", "bit"): some_bits,
    ("digits-bits-waves", "wave"): some_waves,
    ("wave-bank", "frequencies"): some_grids,
    ("chooser", "decided"): all_advice,
    ("doors", "turned"): some_turns,
    ("doors", "weights"): some_maps,
    ("kernels", "byFormula"): some_formulas,
    ("pulled", "arc"): all_arcs,
    ("pulled", "frames"): all_frames,
    ("pulled", "right"): all_hits,
    ("pulled", "turned"): all_turned,
    ("pulled", "dragged"): all_pulled,
    ("released-models", "speeds"): lambda _: all_kinds_of_layers(released_models.speeds),
    ("released-models", "turned"): lambda _: all_kinds_of_layers(released_models.turned),
    ("released-models", "fresh"): all_new_hands,
    ("rope-schedules", "linear"): some_linear,
    ("rope-schedules", "ntk"): some_ntk,
    ("rope-schedules", "dynamicNtk"): some_dynamic,
    ("rope-schedules", "yarn"): some_yarn,
    ("rope-schedules", "llama3"): some_llama3,
    ("rope-schedules", "longrope"): some_longrope,
    ("rope-schedules", "frequencies"): all_schedules,
    ("benchmark", "gains"): all_gains,
    ("benchmark", "standing"): all_standings,
    ("drawers", "order"): all_orders,
    ("drawers", "forecast"): lambda _: all_forecasts("forecast"),
    ("drawers", "off"): lambda _: all_forecasts("off"),
    ("density", "geometric"): some_grids,
    ("density", "density"): some_densities,
    ("density", "spread"): some_spreads,
    ("density", "kernel"): some_spikes,
    ("noise", "scores"): all_noises,
    ("noise", "dragged"): some_louder,
}

every_figure = pytest.mark.parametrize("name", explorables.names())


@pytest.fixture(scope="module")
def all_figures(browser, site):
    """The page with all figures, opened once."""
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
    """Return a random state of a figure."""
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
    """Set a figure's controls, and return its summary."""
    return entered(page, name, [state])[0][0]


@pytest.mark.parametrize(("name", "function"), REFERENCES)
def test_its_mathematics_is_the_librarys(gallery, name, function):
    asked = [*REFERENCES[name, function](np.random.default_rng(0))]
    call = "([name, f, all]) => all.map((a) => posencExplorables.known[name].functions[f](...a))"
    given = gallery.evaluate(call, [name, function, [arguments for arguments, _ in asked]])
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
        settled(page, lambda: drawing.inner_html() != first)
        assert drawing.inner_html() != first, control.key
        root.get_by_role("button", name="Reset").press("Enter")
        summary = root.locator(".explorable-summary")
        settled(page, lambda: summary.inner_text() == figure.summary(figure.first()))  # noqa: B023
        assert summary.inner_text() == figure.summary(figure.first())


def settled(page, condition, seconds=60):
    """Wait until a redraw has come, at most so long: on a busy machine it takes its time."""
    for _ in range(20 * seconds):
        if condition():
            return
        page.wait_for_timeout(50)


def test_a_page_opens_with_the_first_setting_of_every_figure(opened):
    page = opened.goto(GALLERY)
    for name in explorables.names():
        figure = explorables.make(name)
        shown = page.locator(f'.explorable[data-name="{name}"] .explorable-summary')
        settled(page, lambda: shown.inner_text() == figure.summary(figure.first()))  # noqa: B023
        assert shown.inner_text() == figure.summary(figure.first())


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
    settled(page, lambda: shown.inner_text() == figure.summary(state))
    assert shown.inner_text() == figure.summary(state)


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
    """Return all states of a figure's controls."""
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


def drag(page: Page, x: float, y: float, by: float) -> None:
    """Press the mouse, move it sideways, and let it go."""
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=6)
    page.mouse.up()


@pytest.mark.parametrize(("turns", "position"), [(0.25, 6.5), (2, 17.5), (-0.5, 1.75)])
def test_a_hand_that_is_turned_takes_all_clocks_along(gallery, turns, position):
    page, figure = gallery, explorables.make("clock-hands")
    enter(page, "clock-hands", figure.first())
    root = page.locator('.explorable[data-name="clock-hands"]')
    root.scroll_into_view_if_needed()
    box = root.locator('[data-grip="0"]').bounding_box()
    x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 3
    page.mouse.move(x + r, y)
    page.mouse.down()
    for angle in np.linspace(0, 2 * np.pi * turns, 1 + int(24 * abs(turns)))[1:]:
        page.mouse.move(x + r * np.cos(angle), y - r * np.sin(angle))
    page.mouse.up()
    summary = root.locator(".explorable-summary")
    expected = figure.summary({"position": position, "offset": 2})
    settled(page, lambda: summary.inner_text() == expected, seconds=5)
    assert summary.inner_text() == expected


@pytest.mark.parametrize(
    ("grip", "expected"),
    [
        ("both", {"place": 15, "offset": -5}),
        ("key", {"place": 12, "offset": -2}),
        ("query", {"place": 15, "offset": -8}),
    ],
)
def test_two_tokens_are_dragged_along_their_text(gallery, grip, expected):
    page, figure = gallery, explorables.make("two-hands")
    enter(page, "two-hands", figure.first())
    root = page.locator('.explorable[data-name="two-hands"]')
    root.scroll_into_view_if_needed()
    bar = root.locator('[data-part="bar"]').get_attribute("d")
    box = root.locator(f'[data-grip="{grip}"]').bounding_box()
    x, y, place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] / 36
    drag(page, x, y, 3 * place)
    summary = root.locator(".explorable-summary")
    settled(page, lambda: summary.inner_text() == figure.summary(expected))
    assert summary.inner_text() == figure.summary(expected)
    assert (root.locator('[data-part="bar"]').get_attribute("d") == bar) == (grip == "both")


def test_pieces_are_pulled_longer_by_hand(gallery):
    page, figure = gallery, explorables.make("patches")
    enter(page, "patches", figure.first())
    root = page.locator('.explorable[data-name="patches"]')
    root.scroll_into_view_if_needed()
    box = root.locator('[data-grip="patch"]').bounding_box()
    x, y, step = box["x"] + box["width"] / 4, box["y"] + box["height"] / 2, box["width"] / 360 * 6.4
    drag(page, x, y, 3 * step)
    summary, expected = root.locator(".explorable-summary"), {"patch": 8, "cut": 25}
    settled(page, lambda: summary.inner_text() == figure.summary(expected))
    assert summary.inner_text() == figure.summary(expected)


def test_a_finger_drags_sideways_and_the_page_does_not_take_it_away(gallery):
    page, figure = gallery, explorables.make("two-hands")
    enter(page, "two-hands", figure.first())
    root = page.locator('.explorable[data-name="two-hands"]')
    root.scroll_into_view_if_needed()
    box = root.locator('[data-grip="both"]').bounding_box()
    x, y, place = box["x"] + box["width"] / 3, box["y"] + box["height"] / 2, box["width"] / 36
    finger = page.context.new_cdp_session(page)

    def touch(kind, *at):
        points = [{"x": x, "y": y} for x in at]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(30)

    touch("touchStart", x)
    for step in range(1, 17):
        touch("touchMove", x + step / 2 * place)
    touch("touchEnd")
    summary, expected = root.locator(".explorable-summary"), {"place": 20, "offset": -5}
    settled(page, lambda: summary.inner_text() == figure.summary(expected), seconds=5)
    assert summary.inner_text() == figure.summary(expected)


def test_noise_is_turned_up_by_dragging_the_picture(gallery):
    page, figure = gallery, explorables.make("noise")
    enter(page, "noise", figure.first())
    root = page.locator('.explorable[data-name="noise"]')
    root.scroll_into_view_if_needed()
    box = root.locator('[data-grip="noise"]').bounding_box()
    x, y = box["x"] + box["width"] / 4, box["y"] + box["height"] / 2
    drag(page, x, y, 1.3 / 3 * 320 / 360 * box["width"])
    summary, expected = root.locator(".explorable-summary"), {"noise": 2.5, "draw": 12}
    settled(page, lambda: summary.inner_text() == figure.summary(expected))
    assert summary.inner_text() == figure.summary(expected)


@pytest.mark.parametrize(
    ("grip", "expected"),
    [("both", {"both": "5,4", "key": "0,3"}), ("key", {"both": "3,2", "key": "1,4"})],
)
@pytest.mark.parametrize("by", ["mouse", "finger"])
def test_two_patches_are_dragged_over_their_picture(gallery, grip, expected, by):
    page, figure = gallery, explorables.make("two-patches")
    enter(page, "two-patches", figure.first())
    root = page.locator('.explorable[data-name="two-patches"]')
    root.scroll_into_view_if_needed()
    bars = [root.locator(f'[data-part="{name}-bar"]') for name in ("turned", "added")]
    before = [bar.get_attribute("d") for bar in bars]
    box = root.locator(f'[data-grip="{grip}"]').bounding_box()
    tile = root.locator("svg").bounding_box()["width"] * 22 / 360
    x, y = box["x"] + box["width"] / 2, box["y"] + 0.9 * box["height"]
    scrolled = page.evaluate("scrollY")
    finger = page.context.new_cdp_session(page)

    def act(kind, x, y):
        if by == "mouse":
            {"Start": page.mouse.down, "End": page.mouse.up}.get(kind, lambda: None)()
            page.mouse.move(x, y)
        else:
            points = [] if kind == "End" else [{"x": x, "y": y}]
            finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
        page.wait_for_timeout(30)

    page.mouse.move(x, y)
    act("Start", x, y)
    for step in range(1, 9):
        act("Move", x + step / 4 * tile, y + step / 4 * tile)
    act("End", x + 2 * tile, y + 2 * tile)
    summary = root.locator(".explorable-summary")
    settled(page, lambda: summary.inner_text() == figure.summary(expected), seconds=5)
    assert summary.inner_text() == figure.summary(expected)
    after = [bar.get_attribute("d") for bar in bars]
    assert [new == old for new, old in zip(after, before, strict=True)] == [grip == "both", False]
    assert page.evaluate("scrollY") == scrolled


def test_arrow_keys_lead_the_face_and_stop_at_its_edges(gallery):
    page, figure = gallery, explorables.make("two-patches")
    enter(page, "two-patches", figure.first())
    root = page.locator('.explorable[data-name="two-patches"]')
    button = root.get_by_role("button", name="Move both left")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter", "Enter", "Enter"):
        button.press(key)
    summary, expected = root.locator(".explorable-summary"), {"both": "5,1", "key": "0,3"}
    settled(page, lambda: summary.inner_text() == figure.summary(expected), seconds=5)
    assert summary.inner_text() == figure.summary(expected)


def test_a_word_is_dragged_and_its_bars_ride_along(gallery):
    page, figure = gallery, explorables.make("shuffle")
    enter(page, "shuffle", figure.first())
    root = page.locator('.explorable[data-name="shuffle"]')
    root.scroll_into_view_if_needed()

    def bars(slot):
        return [
            root.locator(f'[data-part="now-{slot}-{i}"]').get_attribute("height")
            for i in range(shuffle.D_MODEL)
        ]

    alice, mean = bars(0), bars(3)
    first, last = (root.locator(f'[data-grip="{slot}"]').bounding_box() for slot in (0, 2))
    y = first["y"] + first["height"] / 2
    page.mouse.move(first["x"] + first["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] / 2, y, steps=4)
    page.mouse.up()
    summary = root.locator(".explorable-summary")
    expected = figure.summary({"sentence": "120", "rule": "all"})
    settled(page, lambda: summary.inner_text() == expected)
    assert summary.inner_text() == expected
    assert np.allclose([*map(float, bars(2))], [*map(float, alice)], atol=0.01)
    assert np.allclose([*map(float, bars(3))], [*map(float, mean)], atol=0.01)


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
    settled(page, lambda: figure.sentence("First") == "Alice helped Bob")
    yield figure
    assert opened.messages == []


class Words:
    """What a reader sees of the figure with the two sentences."""

    def __init__(self, page, root):
        self.page, self.root = page, root

    def word(self, row, word):
        """Return the button with a word of a sentence."""
        return self.root.get_by_label(f"{row} sentence").get_by_role("button", name=word)

    def sentence(self, row):
        """Return a sentence as it stands."""
        return " ".join(
            self.root.get_by_label(f"{row} sentence").get_by_role("button").all_inner_texts()
        )

    def bars(self):
        """Return the heights of all bars, once they have come to rest."""
        for _ in range(2):  # what is asked is drawn with the next picture
            self.page.evaluate("new Promise((done) => requestAnimationFrame(done))")
        return self.root.locator("rect").evaluate_all(
            "all => all.map((bar) => bar.getAttribute('y') + bar.getAttribute('height'))"
        )

    def says(self, sentence):
        """Wait until the first sentence is this one, in the row and below the bars."""
        settled(self.page, lambda: self.sentence("First").casefold() == sentence.casefold())
        assert self.sentence("First").casefold() == sentence.casefold()
        told = self.root.locator(".explorable-summary")
        settled(self.page, lambda: told.inner_text().startswith(f"“{sentence}"))
        assert told.inner_text().startswith(f"“{sentence}")

    def centre(self, row, word):
        box = self.word(row, word).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_dragged_word_moves_no_bar_until_positions_are_on(words):
    before = words.bars()
    words.word("First", "Alice").scroll_into_view_if_needed()
    words.page.mouse.move(*words.centre("First", "Alice"))
    words.page.mouse.down()
    words.page.mouse.move(*words.centre("First", "Bob"), steps=8)
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
    settled(words.page, lambda: words.bars() != before)
    on = words.bars()
    assert on != before
    words.word("First", "Alice").press("ArrowRight")
    words.says("Bob Alice helped")
    assert words.bars() != on


def test_a_finger_drags_a_word_on_a_phone(words):
    words.word("First", "Alice").scroll_into_view_if_needed()
    (x, y), (end, _) = words.centre("First", "Alice"), words.centre("First", "Bob")
    touch = words.page.context.new_cdp_session(words.page)
    points = [[{"x": x + (end - x) * step / 8, "y": y}] for step in range(9)]
    for kind, at in [
        ("touchStart", points[0]),
        *(("touchMove", at) for at in points),
        ("touchEnd", []),
    ]:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    words.says("Bob helped Alice")


def test_a_drag_that_is_broken_off_leaves_the_words_as_they_were(words):
    words.word("Second", "Bob").scroll_into_view_if_needed()
    words.page.mouse.move(*words.centre("Second", "Bob"))
    words.page.mouse.down()
    words.page.mouse.move(*words.centre("Second", "Alice"), steps=4)
    words.word("Second", "Bob").dispatch_event("pointercancel")
    settled(words.page, lambda: words.sentence("Second") == "Bob helped Alice")
    assert words.sentence("Second") == "Bob helped Alice"
