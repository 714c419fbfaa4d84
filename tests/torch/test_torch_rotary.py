"""Options of rotary encoding: partial turning, dropped frequencies, longer inputs."""

import numpy as np
import pytest
import torch
from layers import close, in_parts
from torch.func import grad, vmap

from posenc import encodings, frequencies, rotation, schedules
from posenc.attention import Cache, Places, SelfAttention
from posenc.attention.places import Steps

TRAINED = 20
LISTS = {"short_factor": [1.0, 1.1, 1.3, 1.4], "long_factor": [1.0, 2.0, 3.0, 4.0]}
SCALED = [
    ("linear", {"factor": 4.0}),
    ("ntk", {"factor": 4.0}),
    ("dynamic_ntk", {"original_length": TRAINED}),
    ("yarn", {"factor": 4.0, "original_length": TRAINED}),
    ("llama3", {"factor": 4.0, "original_length": TRAINED}),
    ("longrope", {"original_length": TRAINED, "scaling_options": LISTS}),
]
each_scaling = pytest.mark.parametrize(("scaling", "options"), SCALED)


growing = pytest.mark.parametrize("scaling", ["dynamic_ntk", "longrope"])


def rotary(max_length=4 * TRAINED, **options):
    return encodings.make("rotary", 16, 2, max_length, **options)


def layer(position):
    torch.manual_seed(1)
    return SelfAttention(16, 2, position, causal=True).double().eval()


def turned(position, length):
    x = torch.ones(1, 2, length, 8, dtype=torch.float64)
    return position.double().rotate(x, x)[0][0, 0]


@each_scaling
@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_scaled_frequencies_turn_queries_and_keys(scaling, options, pairing):
    position = rotary(scaling=scaling, pairing=pairing, **options)
    length = position.max_length
    expected = rotation.rotate(
        np.ones((length, 8)), np.arange(length), position.omega, pairing=pairing
    )
    np.testing.assert_allclose(
        turned(position, length), position.attention_factor * expected, atol=1e-12
    )
    assert (position.omega <= frequencies.geometric(8)).all()
    assert position.omega[-1] < frequencies.geometric(8)[-1]


@each_scaling
def test_omega_is_that_of_the_schedule_at_max_length(scaling, options):
    omega, given = frequencies.geometric(8), rotary(scaling=scaling, **options).omega
    expected = {
        "linear": lambda: schedules.linear(omega, 4),
        "ntk": lambda: schedules.ntk(omega, 4),
        "dynamic_ntk": lambda: schedules.dynamic_ntk(omega, 1, 80, TRAINED),
        "yarn": lambda: schedules.yarn(omega, 4, TRAINED),
        "llama3": lambda: schedules.llama3(omega, 4, TRAINED),
        "longrope": lambda: schedules.longrope(omega, 80, TRAINED, **LISTS),
    }
    np.testing.assert_array_equal(given, expected[scaling]())


@each_scaling
def test_positions_that_are_given_turn_like_those_that_are_counted(scaling, options):
    attention, x = layer(rotary(scaling=scaling, **options)), torch.randn(2, 70, 16).double()
    close(attention(x), attention(x, positions=torch.arange(70)), 1e-10)


@each_scaling
def test_beyond_max_length_angles_are_computed_on_the_spot(scaling, options):
    short, long = (rotary(n, scaling=scaling, **options) for n in (30, 80))
    if scaling in ("linear", "ntk", "yarn", "llama3"):
        close(turned(short, 80), turned(long, 80), 1e-12)
    else:  # the length at hand decides, not that of the table
        ratio = short.attention_factor / long.attention_factor
        close(turned(short, 80), ratio * turned(long, 80), 1e-12)


@growing
def test_up_to_the_trained_length_growing_schedules_are_those_of_training(scaling):
    options = dict(SCALED)[scaling]
    omega = frequencies.geometric(8)
    if scaling == "longrope":
        omega = omega / LISTS["short_factor"]
    position = rotary(scaling=scaling, **options)
    expected = rotation.rotate(np.ones((TRAINED, 8)), np.arange(TRAINED), omega)
    got = turned(position, TRAINED) / position.attention_factor
    np.testing.assert_allclose(got, expected, atol=1e-12)
    longer = turned(position, TRAINED + 20)[:TRAINED] / position.attention_factor
    assert np.abs(longer.numpy() - expected).max() > 0.01


@each_scaling
def test_one_token_at_a_time_gives_the_whole_sequence_or_says_why_not(scaling, options):
    attention, kept = layer(rotary(scaling=scaling, **options)), Cache()
    refuses = scaling in ("dynamic_ntk", "longrope")
    n = TRAINED if refuses else 30
    x = torch.randn(1, n + 1, 16, dtype=torch.float64)
    close(in_parts(attention, x[:, :n], range(1, n), kept), attention(x[:, :n]), 1e-10)
    if refuses:
        with pytest.raises(ValueError, match=f"{scaling}.* a cache holds turned ones, .* 20;"):
            attention(x[:, [n]], cache=kept)


@growing
def test_a_row_with_positions_of_its_own_does_not_depend_on_the_others(scaling):
    attention = layer(rotary(scaling=scaling, **dict(SCALED)[scaling]))
    x = torch.randn(3, 12, 16, dtype=torch.float64)
    t = torch.arange(12)
    positions = torch.stack([t, t + 100, t / 2.0 + 30])
    together = attention(x, positions=positions)
    for row in range(3):
        close(together[[row]], attention(x[[row]], positions=positions[[row]]), 1e-12)
    shared = attention(x, positions=t + 100)  # what rows have in common is theirs as well
    close(shared[[1]], together[[1]], 1e-12)
    assert (shared[[0]] - together[[0]]).abs().max() > 1e-3


@growing
def test_keys_that_are_counted_meet_queries_with_places_of_their_own(scaling):
    position = rotary(scaling=scaling, **dict(SCALED)[scaling]).double()
    q, k = torch.randn(2, 2, 5, 8).double(), torch.randn(2, 2, 30, 8).double()
    rows = torch.stack([torch.arange(5), torch.arange(5) + 60])
    counted = Steps(30, q.device)
    both = position.rotate(q, k, Places(Steps(5, q.device, given=rows), counted, crossed=True))
    for row in range(2):
        own = Steps(5, q.device, given=rows[[row]])
        alone = position.rotate(q[[row]], k[[row]], Places(own, counted, crossed=True))
        for one, other in zip(both, alone, strict=True):
            close(one[[row]], other, 1e-12)


@growing
@pytest.mark.parametrize(("first", "got"), [(-50, "-39"), (-12, "-1"), (1e30, "1")])
def test_positions_that_say_no_length_are_named(scaling, first, got):
    position = rotary(scaling=scaling, **dict(SCALED)[scaling]).double()
    at = Steps(12, torch.device("cpu"), given=first + torch.arange(12, dtype=torch.float64)[None])
    message = f"positions must reach from 0 .* as scaling='{scaling}' takes .*, got {got}"
    with pytest.raises(ValueError, match=message):
        position.rotate(*torch.randn(2, 1, 2, 12, 8).double(), Places(at, at))
    with pytest.raises(ValueError, match=message if first < 0 else "at most 2..53"):
        layer(position)(torch.randn(1, 12, 16).double(), positions=at.given)


def compiled(run, x):
    torch._dynamo.reset()
    with torch.no_grad():
        return torch.compile(run, backend="eager")(x)


TRANSFORMED = {
    "vmap": lambda run, x: vmap(run)(x[:, None])[:, 0],
    "grad": lambda run, x: grad(lambda rows: run(rows).square().sum())(x),
    "compile": compiled,
}


@pytest.mark.parametrize("how", ["vmap", "grad"])
@growing
def test_lengths_that_a_transform_keeps_from_view_are_refused(scaling, how):
    attention = layer(rotary(scaling=scaling, **dict(SCALED)[scaling]))
    x, t = torch.randn(2, 12, 16, dtype=torch.float64), torch.arange(12)
    message = f"^positions must be None in a transformed program, as scaling='{scaling}' takes"
    with pytest.raises(ValueError, match=message):
        TRANSFORMED[how](lambda rows: attention(rows, positions=t), x)


@pytest.mark.slow
@growing
def test_a_compiled_program_never_takes_another_length(scaling):
    """Some versions of torch leave what raises to Python, where numbers are at hand."""
    attention = layer(rotary(scaling=scaling, **dict(SCALED)[scaling]))
    x, t = torch.randn(2, 12, 16, dtype=torch.float64), torch.arange(12)
    refusal = f"positions must be None in a transformed program, as scaling='{scaling}' takes"
    try:
        got, said = compiled(lambda rows: attention(rows, positions=t), x), refusal
    except ValueError as error:
        got, said = attention(x, positions=t), str(error)
    assert said.startswith(refusal)
    close(got, attention(x, positions=t), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("how", TRANSFORMED)
@growing
def test_counted_lengths_are_known_in_a_transform(scaling, how):
    attention = layer(rotary(scaling=scaling, **dict(SCALED)[scaling]))
    x, t = torch.randn(2, 12, 16, dtype=torch.float64, requires_grad=True), torch.arange(12)
    eager = attention(x, positions=t)
    if how == "grad":
        (eager,) = torch.autograd.grad(eager.square().sum(), x)
    close(TRANSFORMED[how](attention, x.detach()), eager, 1e-12)


@growing
def test_on_meta_no_length_is_known_and_shapes_are(scaling):
    attention = layer(rotary(scaling=scaling, **dict(SCALED)[scaling])).to("meta")
    x, t = torch.empty(2, 12, 16, dtype=torch.float64, device="meta"), torch.arange(12)
    assert attention(x, positions=t).shape == x.shape


def test_factors_follow_from_the_lengths():
    for scaling in ("linear", "ntk", "yarn", "llama3"):
        said = rotary(scaling=scaling, factor=4.0, original_length=TRAINED)
        followed = rotary(scaling=scaling, original_length=TRAINED)
        np.testing.assert_array_equal(said.omega, followed.omega)
        assert said.attention_factor == followed.attention_factor


@pytest.mark.parametrize("scaling", ["linear", "ntk"])
def test_beside_a_factor_an_original_length_changes_nothing(scaling):
    """Configurations of models hold both; the benchmark and the peers hand both over."""
    alone = rotary(scaling=scaling, factor=2.0)
    beside = rotary(scaling=scaling, factor=2.0, original_length=8)
    np.testing.assert_array_equal(alone.omega, beside.omega)


@pytest.mark.parametrize("max_length", [10, 80])  # below the trained length, too
def test_beside_a_gain_longrope_has_no_use_for_a_factor(max_length):
    gained = {"scaling_options": {**LISTS, "attention_factor": 1.5}, "original_length": TRAINED}
    alone = rotary(max_length, scaling="longrope", **gained)
    beside = rotary(max_length, scaling="longrope", factor=9.0, **gained)
    np.testing.assert_array_equal(alone.omega, beside.omega)
    assert alone.attention_factor == beside.attention_factor == 1.5


def test_gains_multiply_queries_and_keys():
    assert rotary(scaling="yarn", original_length=20).attention_factor == schedules.yarn_gain(4)
    own = {"attention_factor": 1.5}
    position = rotary(scaling="yarn", original_length=20, scaling_options=own)
    norms = turned(position, 20).norm(dim=-1)
    torch.testing.assert_close(norms, torch.full((20,), 1.5 * 8**0.5).double())


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@pytest.mark.parametrize(("first", "share"), [(4, 0.5), (2, 0.5), (0, 0.5), (6, 0.25)])
def test_a_share_turns_wherever_it_is_said_to_begin(first, share, pairing):
    position = rotary(pairing=pairing, share=share, first=first)
    np.testing.assert_array_equal(position.omega, frequencies.geometric(int(8 * share)))
    got, t, end = turned(position, 9), np.arange(9), first + int(8 * share)
    expected = rotation.rotate(np.ones((9, end - first)), t, position.omega, pairing=pairing)
    np.testing.assert_allclose(got[:, first:end], expected, atol=1e-12)
    assert (got[:, :first] == 1).all()
    assert (got[:, end:] == 1).all()


@pytest.mark.parametrize("options", [{}, {"share": 0.5, "first": 4}, {"pairing": "half"}])
def test_backwards_a_score_is_that_of_the_opposite_offset(options):
    ours, theirs = rotary(direction=-1, **options), rotary(**options)
    np.testing.assert_array_equal(ours.omega, -theirs.omega)
    x = torch.randn(1, 2, 9, 8).double()
    there, back = (p.double().rotate(x, x) for p in (theirs, ours))
    q = torch.randn(8).double().expand_as(x)
    scores = [p.rotate(q, q) for p in (theirs, ours)]
    one, other = (q @ k.mT for q, k in scores)
    close(one, other.mT, 1e-12)
    twice = theirs.rotate(back[0], back[1])  # what turned back, turned on, is as it was
    close(twice[0], x, 1e-12)
    assert not torch.allclose(there[0], back[0])


@pytest.mark.parametrize("keep", [0, 0.5, 0.7, 1])
def test_keep_drops_the_lowest_frequencies(keep):
    omega = rotary(keep=keep, scaling="linear", factor=2.0).omega
    kept = int(4 * keep)
    np.testing.assert_array_equal(omega[:kept], frequencies.geometric(8)[:kept] / 2)
    assert (omega[kept:] == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_scaled_angles_stay_in_float32_in_half_types(dtype):
    position = rotary(3000, scaling="yarn", original_length=1000).to(dtype)
    assert position.cos.dtype == torch.float32
    x = torch.ones(1, 2, 3000, 8, dtype=dtype)
    got, exact = position.rotate(x, x)[0].double(), turned(position.double(), 3000)
    assert (got - exact).abs().max() <= 2 * torch.finfo(dtype).eps


YARN = {"scaling": "yarn", "original_length": 20}
LONG = {"scaling": "longrope", "original_length": 20}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scaling": "yarm"}, "scaling must be one of none, .* did you mean 'yarn'"),
        ({"factor": 2.0}, "factor must be None with scaling='none', .* got 2.0"),
        ({"original_length": 9}, "original_length must be None with scaling='none'"),
        ({"scaling_options": {"beta_fast": 2}}, "scaling_options of 'none' are: none; got beta"),
        ({"scaling": "linear"}, "original_length must be given with scaling='linear'"),
        ({"scaling": "yarn", "factor": 2.0}, "original_length must be given .* got None"),
        ({"scaling": "linear", "factor": 0.5}, "factor must be at least 1"),
        ({"scaling": "linear", "original_length": 100}, "factor must be given where max_length"),
        (
            LONG | {"max_length": 10, "scaling_options": LISTS},
            "factor must be given where max_leng",
        ),
        (YARN | {"scaling_options": {"beta": 1}}, "are: beta_fast, beta_slow, ramp, .*; got beta"),
        (YARN | {"scaling_options": [("beta_fast", 1)]}, "scaling_options must be a mapping"),
        (
            YARN | {"scaling_options": {"beta_fast": 0.5}},
            "beta_fast must be at least beta_slow = 1",
        ),
        (YARN | {"scaling_options": {"attention_factor": 0}}, "attention_factor must be a finite"),
        (LONG, "scaling_options of 'longrope' must hold short_factor and long_factor"),
        (
            LONG | {"scaling_options": {"short_factor": [1], "long_factor": [1]}},
            "short_factor must hold one number above 0 for each of 4 pairs",
        ),
        ({"share": 0.3}, r"share must .* got 0.3, which is 2.4 of 8; share=0.25 turns 2"),
        ({"share": 1.5}, "share must be above 0, at most 1"),
        ({"first": 2}, "first must be at most 0, as 8 of a head's 8 dimensions turn, got 2"),
        ({"share": 0.5, "first": 5}, "first must be at most 4, as 4 of a head's 8 .* got 5"),
        ({"direction": 0}, "direction must be 1 or -1, got 0"),
        ({"keep": 1.5}, "keep must be a share from 0 to 1, got 1.5"),
        ({"share": 0.25, "scaling": "ntk", "factor": 2.0}, "omega must hold two or more"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        rotary(**options)
