"""The five wishes behind every door, against formulas and loops."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from posenc import encodings, rotation, tables
from posenc.models.transfer import transfer
from posenc_book.teaching import scorecard, scorecard_torch
from posenc_book.teaching.scorecard_torch import contribution, measure, order_distance

D_MODEL, N_HEADS, LENGTH = 16, 2, 24
SIZES = {"d_model": D_MODEL, "n_heads": N_HEADS, "n_positions": LENGTH}
D_HEAD = D_MODEL // N_HEADS
TABLES = {
    "sinusoidal": lambda n: tables.sinusoidal(n, D_MODEL),
    "tape": lambda n: tables.tape(n, D_MODEL),
    "dft": lambda n: tables.dft(n, D_MODEL, overflow="stretch"),
    "tpe": lambda n: tables.sinusoidal(n, D_MODEL),
}


def make(name, length=LENGTH, **options):
    torch.manual_seed(0)
    return encodings.make(name, D_MODEL, N_HEADS, length, **options).double().eval()


def tokens(n=3):
    return torch.tensor(np.random.default_rng(1).normal(size=(n, D_MODEL)))


def per_head(content):
    return content.numpy().reshape(N_HEADS, D_HEAD)


@pytest.mark.parametrize("name", TABLES)
def test_an_added_table_is_measured_as_numpy_measures_it(name):
    expected = scorecard.measure(TABLES[name], LENGTH)
    found = measure(name, **SIZES)
    for field in vars(expected):
        assert getattr(found, field) == pytest.approx(getattr(expected, field), abs=1e-12), field


def test_alibi_contributes_minus_slope_times_distance():
    slopes = 2.0 ** (-8 * np.arange(1, N_HEADS + 1) / N_HEADS)
    t = np.arange(LENGTH)
    expected = -slopes[:, None, None] * np.abs(t[:, None] - t)
    found = contribution(make("alibi"), LENGTH, tokens())
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-12)
    centred = expected - expected.mean(-1, keepdims=True)
    assert measure("alibi", **SIZES).largest_value == pytest.approx(np.abs(centred).max())


def test_rotary_contributes_the_turned_product_minus_the_plain_one():
    position, contents = make("rotary"), tokens()
    found = contribution(position, LENGTH, contents).numpy()
    for one, content in zip(found, contents, strict=True):
        for head, q in enumerate(per_head(content)):
            turned = rotation.rotate(np.tile(q, (LENGTH, 1)), np.arange(LENGTH), position.omega)
            expected = (turned @ turned.T - q @ q) / np.sqrt(D_HEAD)
            np.testing.assert_allclose(one[head], expected, atol=1e-12)


def test_relative_contributes_a_product_with_the_vector_of_the_offset():
    position, contents = make("relative", max_distance=4), tokens()
    found = contribution(position, LENGTH, contents).numpy()
    a = position.keys[0].detach().numpy()
    for (n, head, i, j), value in np.ndenumerate(found[..., ::5, ::3]):
        q = per_head(contents[n])[head]
        vector = a[np.clip(3 * j - 5 * i, -4, 4) + 4]
        assert value == pytest.approx(q @ vector / np.sqrt(D_HEAD), abs=1e-12)


def test_erpe_is_measured_by_what_it_adds_to_the_weights():
    w = make("erpe").values.detach().numpy()
    rows = [np.abs(w[:, LENGTH - 1 - i : 2 * LENGTH - 1 - i]).sum(-1) for i in range(LENGTH)]
    card = measure("erpe", n_draws=1, **SIZES)
    assert card.largest_value == pytest.approx(np.max(rows))
    assert np.isinf(card.row_change)


MODERN = [*encodings.names("modern"), *encodings.names("signal"), *encodings.names("axes")]


@pytest.mark.parametrize("name", MODERN)
def test_the_later_encodings_are_measured_by_name(name):
    card = measure(name, **SIZES)
    numbers = [value for field, value in vars(card).items() if field != "row_change"]
    assert np.isfinite(numbers).all()
    assert (card.largest_value > 0) == (name != "cope")  # CoPE's vectors are 0 at the start
    assert card == measure(name, **SIZES)


@pytest.mark.parametrize("axes", ["axial", "mixed"])
def test_an_encoding_of_several_axes_is_measured_along_the_last_one(axes):
    card, contents = measure("axial_rotary", axes=axes, **SIZES), tokens()
    assert card.wishes["relative"]
    assert card.wishes["extendable"]
    position = make("axial_rotary", axes=axes)
    found = contribution(position, LENGTH, contents).numpy()
    t = np.arange(LENGTH)
    for head in range(N_HEADS):
        if axes == "mixed":
            omega = position.omega[head, :, 1].detach().numpy()
        else:  # the first half of the pairs belongs to the axis that stands still
            omega = np.concatenate(([0, 0], 100.0 ** -np.array([0, 0.5])))
        for one, content in zip(found, contents, strict=True):
            q = per_head(content)[head]
            turned = rotation.rotate(np.tile(q, (LENGTH, 1)), t, omega)
            expected = (turned @ turned.T - q @ q) / np.sqrt(D_HEAD)
            np.testing.assert_allclose(one[head], expected, atol=1e-6)


@pytest.mark.parametrize("name", encodings.names("signal"))
def test_an_encoding_from_the_signal_is_measured_on_a_series(name):
    noise = np.random.default_rng(0).normal(size=(1, LENGTH, D_MODEL))
    added = make(name).embed(torch.tensor(noise)).detach().numpy() - noise
    card = measure(name, n_draws=1, **SIZES)
    assert card.largest_value == pytest.approx(np.abs(added).max())
    assert card.separation > 1e-3
    assert not card.wishes["relative"]


def test_diagonal_variation_equals_a_loop():
    c = np.random.default_rng(0).normal(size=(2, 3, LENGTH, LENGTH))
    worst = 0.0
    for k in scorecard.OFFSETS:
        for n, h in np.ndindex(2, 3):
            for offset in (-k, k):
                along = [c[n, h, i, i + offset] for i in range(LENGTH) if 0 <= i + offset < LENGTH]
                worst = max(worst, max(along) - min(along))
    expected = worst / np.sqrt(np.mean(c**2))
    assert scorecard_torch._diagonal_variation(c) == pytest.approx(expected)


def test_the_step_equals_a_loop_over_keys():
    c = np.random.default_rng(0).normal(size=(2, 3, 6, 6))
    keys = [c[..., j].ravel() for j in range(6)]
    pairs = [
        np.linalg.norm(a - b) for i, a in enumerate(keys) for j, b in enumerate(keys) if i != j
    ]
    steps = [np.linalg.norm(keys[j + 1] - keys[j]) for j in range(5)]
    assert scorecard_torch._largest_step(c) == pytest.approx(max(steps) / np.mean(pairs))


@pytest.mark.parametrize(
    ("names", "relative", "grow"),
    [
        (["rotary", "relative", "t5", "alibi", "sinusoidal", "tpe"], True, "unchanged"),
        (["erpe"], True, "refuse"),
        (["sine_spe", "conv_spe"], False, "unchanged"),
        (["tape"], False, "change"),
        (["learnable", "tupe"], False, "refuse"),
    ],
)
def test_encodings_depend_on_offsets_only_or_on_places_and_grow_or_refuse_to(names, relative, grow):
    for name in names:
        found = measure(name, **SIZES)
        assert found.wishes["relative"] == relative, name
        assert found.wishes["extendable"] == (grow == "unchanged"), name
        assert np.isinf(found.row_change) == (grow == "refuse"), name


def test_the_options_of_the_dft_differ_in_how_they_grow():
    sizes = {"d_model": 32, "n_heads": 4, "n_positions": 24}  # twice that is more than d_model
    cards = {o: measure("dft", overflow=o, **sizes) for o in ("stretch", "alias", "error")}
    assert cards["stretch"].row_change > 0.1
    assert cards["alias"].wishes["extendable"]
    assert np.isinf(cards["error"].row_change)


@pytest.mark.parametrize("name", encodings.names("series"))
def test_order_is_seen_in_all_directions_but_by_the_symmetric(name):
    distance = order_distance(make(name))
    assert (distance < 1e-12) == (name in ("none", "alibi", "kerple", "fire", "cope", "pope"))


def test_measuring_repeats_and_leaves_the_global_generator_alone():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    assert measure("tupe", **SIZES) == measure("tupe", **SIZES)
    assert torch.equal(torch.rand(4), expected)


def test_options_reach_the_encoding_and_bad_sizes_are_named():
    assert measure("sinusoidal", scale="unit", **SIZES).largest_value < 0.5
    with pytest.raises(ValueError, match="n_positions must be an integer of at least 21, got 20"):
        measure("rotary", n_positions=20)


def test_a_class_of_ones_own_is_measured_like_the_registered_ones():
    assert measure(encodings.ALiBi, **SIZES) == measure("alibi", **SIZES)
    assert measure(encodings.Sinusoidal, scale="unit", **SIZES) == measure(
        "sinusoidal", scale="unit", **SIZES
    )


def test_the_numpy_scorecard_needs_no_torch():
    code = "import posenc_book.teaching.scorecard, sys; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_transfer_copies_weights_and_leaves_tables_of_their_own_length():
    short, long = make("tpe", learn_sigma=True), make("tpe", 40, learn_sigma=True)
    with torch.no_grad():
        short.log_sigma.fill_(3.0)
    assert transfer(short, long) is long
    assert long.log_sigma.item() == 3.0
    assert long.rows(40).shape == (40, D_MODEL)


def test_transfer_names_what_does_not_fit():
    with pytest.raises(ValueError, match=r"vectors has shape \(24, 16\) in the fitted module"):
        transfer(make("learnable"), make("learnable", 40))
    constants = [torch.nn.BatchNorm1d(n) for n in (2, 3)]
    for module in constants:
        del module.weight, module.bias
    with pytest.raises(ValueError, match=r"running_mean has .* constant, .* register_exact"):
        transfer(*constants)
    with pytest.raises(ValueError, match="they differ in vectors"):
        transfer(make("sinusoidal"), make("learnable"))
