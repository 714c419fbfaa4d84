"""What people hand over as tables and positions: tensors of any kind, and clock times.

The functions of the mathematics take tensors that want gradients, or have a type that NumPy lacks.
Positions that rounding must have changed are refused, those that it may have joined are warned of.
"""

import re
import warnings

import numpy as np
import pytest
import torch
from test_wrong_arguments import FUNCTIONS, SHAPED, right

from posenc import frequencies, rotation, tables

STATISTICS = "summary", "friedman", "equality"
TAKES = [
    (name, argument)
    for name in FUNCTIONS
    for argument in right(name)
    if argument in SHAPED | {"c", "x", "density", "short_factor", "long_factor", "offset"}
    and not name.startswith(STATISTICS)
]
KINDS = {
    "wants gradients": lambda a: torch.tensor(a, dtype=torch.float64, requires_grad=True),
    "parameter": lambda a: torch.nn.Parameter(torch.tensor(a, dtype=torch.float32)),
    "conjugate view": lambda a: torch.tensor(a + 0j).conj().real,
    "in a list": lambda a: [KINDS["wants gradients"](one) for one in a] if a.ndim else a.item(),
}
ROUGH = {"bfloat16": torch.bfloat16, "float8": torch.float8_e4m3fn}
CLOCK = 1.7e9 + 60 * np.arange(8)  # eight minutes of November 2023, in seconds since 1970


def same(one, other):
    return np.array_equal(np.asarray(one, object), np.asarray(other, object))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "argument"), TAKES)
def test_a_tensor_is_taken_for_its_numbers(name, argument, kind):
    arguments = right(name)
    tensor = KINDS[kind](np.asarray(arguments[argument], float))
    plain = np.asarray(arguments[argument], np.float32 if kind == "parameter" else float)
    wanted = FUNCTIONS[name](**{**arguments, argument: plain})
    assert same(FUNCTIONS[name](**{**arguments, argument: tensor}), wanted)


@pytest.mark.parametrize("dtype", ROUGH)
@pytest.mark.parametrize(("name", "argument"), TAKES)
def test_a_type_that_numpy_lacks_is_taken_where_it_has_not_rounded_positions(name, argument, dtype):
    arguments = right(name)
    rough = torch.tensor(np.asarray(arguments[argument], float)).to(ROUGH[dtype])
    if argument in ("positions", "offset"):
        with pytest.raises(ValueError, match=rf"^{argument} must be integers, float32 or float64"):
            FUNCTIONS[name](**{**arguments, argument: rough})
        return
    wanted = FUNCTIONS[name](**{**arguments, argument: rough.double().numpy()})
    assert same(FUNCTIONS[name](**{**arguments, argument: rough}), wanted)


PLACED = {
    "encode": lambda t: tables.encode(t, [1.0]),
    "rotate": lambda t: rotation.rotate(np.ones((len(t), 2)), t, [1.0]),
}


@pytest.mark.parametrize("call", PLACED.values(), ids=PLACED)
def test_clock_times_in_float32_are_warned_of(call):
    rounded = CLOCK.astype(np.float32)
    assert set(np.diff(rounded)) == {0, 128}
    ways = (rounded, rounded.astype(float), rounded.tolist(), rounded.astype(np.int64))
    for given in (*ways, torch.tensor(rounded), [0.0, 2023.4567, 2023.4567]):
        with pytest.warns(UserWarning, match=r"^positions have equal neighbours.*subtract") as seen:
            call(given)
        assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="numbers of their size are 128 apart"):
        call(rounded)


@pytest.mark.parametrize("call", PLACED.values(), ids=PLACED)
def test_places_that_are_equal_on_purpose_are_not_warned_of(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fine in (CLOCK, CLOCK.astype(np.int64), (CLOCK - CLOCK[0]).astype(np.float32), []):
            call(np.asarray(fine))
        for fine in ([3, 3, 4], [3.0, 3.0], np.arange(8) // 4, [0.5, 1.5, 0.5], [2**24, 2**24]):
            call(np.asarray(fine))


@pytest.mark.parametrize("call", PLACED.values(), ids=PLACED)
@pytest.mark.parametrize("given", [[0, 2**53 + 2], [-(2**53) - 2, 0], [1e18, 2e18], [2**63]])
def test_positions_that_float64_rounds_are_refused(call, given):
    with pytest.raises(ValueError, match=re.escape("positions must be at most 2**53 = 9,007,199")):
        call(np.asarray(given))
    call(np.asarray([-(2**53), 2**53]))


def test_steps_of_a_few_roundings_are_warned_of():
    clock = np.float32([1.7e9, 1.7e9 + 300, 1.7e9 + 600, 1.7e9 + 900])
    assert np.diff(clock).tolist() != [300, 300, 300]
    with pytest.warns(UserWarning, match="steps between them are rounded"):
        tables.encode(clock, frequencies.geometric(8))


@pytest.mark.parametrize("times", [np.arange(2000.0), np.arange(5000) * 0.1, 1e6 + np.arange(9.0)])
def test_steps_that_float32_holds_are_not(times):
    tables.encode(times.astype(np.float32), frequencies.geometric(8))
