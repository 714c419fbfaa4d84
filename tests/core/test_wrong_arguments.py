"""Whatever is given to a public function, a wrong argument is named, with what would be right.

Every function of the mathematics and of the statistics is called with each of its arguments in
turn replaced by something that it may not want. It takes it only where `TAKEN` says so; otherwise
it says ValueError or TypeError and names the argument. Nothing else may come out: no error of
NumPy's, no hang, and no warning but that numbers near the largest float overflow when they are
squared or summed.
"""

import importlib
import inspect
import re
from itertools import product

import numpy as np
import pytest
import torch

import api
from posenc import faithfulness, fourier, frequencies, rotation, schedules, tables

MODULES = (
    *(f"posenc.{name}" for name in (*api.ROOMS["mathematics"].modules, "schedules")),
    "posenc_book.statistics.summary",
    "posenc_book.statistics.friedman",
    "posenc_book.statistics.equality",
)
RNG = np.random.default_rng(0)
OMEGA = [1.0, 0.1, 0.01, 0.001]
TABLE = RNG.normal(size=(6, 4))
SCORES = RNG.normal(0.7, 0.1, size=(8, 3))
PAIRS = RNG.normal(0.1, 1, size=(8, 5))
P_VALUES = [0.01, 0.2, 0.03]

# What each argument may be, by its name; `CALLS` says where a function wants another one.
RIGHT = {
    "frequencies": OMEGA, "omega": OMEGA, "density": np.ones(5) / 5, "kept": [0.5] * 4,
    "short_factor": [1.0] * 4, "long_factor": [2.0] * 4, "factor": 2.0, "bandwidth": 0.1,
    "table": TABLE, "noisy_rows": TABLE, "vectors": TABLE, "x": TABLE, "positions": np.arange(6),
    "f": np.arange(8.0), "c": np.arange(8.0), "adjacency": np.ones((4, 4)), "offset": 2,
    "d_model": 8, "d": 8, "n_heads": 2, "n_positions": 6, "length": 12, "original_length": 8,
    "base": 100.0, "n_digits": 4, "k": 2, "dtype": np.float64, "precision": "float16",
    "noise": 0.1, "sigma": 0.1, "value": 2.0, "weights": np.array([1, 2, 3]),
    "scores": SCORES, "first": SCORES[:, 0], "second": SCORES[:, 1], "differences": PAIRS,
    "cells": PAIRS, "p_values": P_VALUES, "n_datasets": 8, "n_methods": 3, "n_resamples": 5,
    "test_share": 0.3, "rope": 0.01, "margin": 0.01,
}  # fmt: skip
CALLS: dict[str, dict[str, object]] = {
    "frequencies.length_scaled": {"length": 12},
    "summary.interval": {"scores": SCORES[:, 0]},
    "summary.t_interval": {"scores": SCORES[:, 0]},
    "friedman.wilcoxon": {"differences": PAIRS[:, 0]},
    "tables.digits": {"base": 2},
    "rotation.rotate": {"frequencies": [1.0, 0.1]},
    "equality.correlated_t": {"differences": PAIRS[0]},
    "equality.resampled_p": {"differences": PAIRS[0]},
}
SHAPED = {
    "f", "omega", "frequencies", "table", "noisy_rows", "kept", "positions", "vectors", "scores",
}  # fmt: skip
WRONG = {
    "None": None,
    "a text": "text",
    "an object": object(),
    "a list": [],
    "a dict": {},
    "NaN": np.nan,
    "infinity": np.inf,
    "minus infinity": -np.inf,
    "minus one": -1,
    "zero": 0,
    "a half": 0.5,
    "a truth": True,
    "a complex": 1j,
    "huge": 10**400,
    "an array with NaN": [1.0, np.nan, 2.0],
    "an array with infinity": [[1.0, np.inf]],
    "an empty array": np.empty((0, 4)),
    "ragged": [[1], [1, 2]],
    "four axes": np.ones((2, 2, 2, 2)),
    "texts": ["a", "b"],
    "objects": np.array([None, 1], object),
    "huge floats": [[1e308, -1e308], [1e308, 1e308]],
    "a tensor that wants gradients": torch.tensor(0.5, requires_grad=True),
}
# Which arguments some function takes such a thing for, by their names.
ZERO = {"n_positions", "offset", "kept", "length", "noise", "seed", "after", "table"}
HALF = {"offset", "kept", "low_freq_factor", "beta_slow", "bandwidth", "noise", "rtol", "table"}
PARTS = {"alpha", "level", "margin", "prior", "rope", "test_share"}
EMPTY = {"frequencies", "omega", "positions", "p_values", "table", "test_share"}
TAKEN = {
    "None": {"dtype", "n_digits", "n_bits", "rtol"},
    "a list": EMPTY,
    "minus one": {"offset", "kept", "table"},
    "zero": ZERO | PARTS,
    "a half": HALF | PARTS,
    "a tensor that wants gradients": HALF | PARTS,
    "a truth": {"normalized", "truncate"},
    "an empty array": EMPTY | {"f", "c", "noisy_rows"},
    "four axes": {"f", "c", "table"},
    "huge floats": {"f", "c", "table", "scores", "differences"},
}
UNUSED = set(product(("friedman.effect", "friedman.friedman"), ("n_draws", "seed")))  # all counted


def functions() -> dict[str, object]:
    """Return every public function of the modules by a short name."""
    return {
        f"{module.rpartition('.')[2]}.{name}": value
        for module in MODULES
        for name, value in api.public(importlib.import_module(module)).items()
        if inspect.isfunction(value)
    }


FUNCTIONS = functions()


def right(name: str) -> dict[str, object]:
    """Return arguments with which a function works: those without a default."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    own = CALLS.get(name, {})
    needed = [p for p, one in parameters.items() if one.default is one.empty or p in own]
    return {p: own.get(p, RIGHT.get(p)) for p in needed}


def spoilt(value: object) -> dict[str, object]:
    """Return an argument that is right but for one number, or but for its kind."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "if":
        return {}
    nan, infinite = numbers.astype(float), numbers.astype(float)
    nan.flat[-1], infinite.flat[0] = np.nan, np.inf
    return {
        "its own with NaN": nan,
        "its own with infinity": infinite,
        "its own as complex": numbers + 1j,
        "its own in text": numbers.astype(str),
        "its own masked": np.ma.array(numbers),
        "its own in a list, masked": [np.ma.array(numbers)],
        "its own, sparse": torch.tensor(numbers).to_sparse(),
        "its own on no device": torch.empty(numbers.shape, device="meta"),
    }


CASES = [(name, p) for name in FUNCTIONS for p in inspect.signature(FUNCTIONS[name]).parameters]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_arguments_are_taken(name):
    FUNCTIONS[name](**right(name))


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_a_wrong_argument_is_named(name, argument):
    # where two do not fit together, either may be named; a check has the caller's names
    names = argument if "factor" not in name else "factor"
    names = "|".join({names, *right(name)}) if argument in SHAPED else names
    faults = {}
    own = spoilt(right(name).get(argument))
    for what, value in (WRONG | own).items():
        try:
            FUNCTIONS[name](**{**right(name), argument: value})
            if argument not in TAKEN.get(what, ()) and (name, argument) not in UNUSED:
                faults[what] = "taken"
        except (ValueError, TypeError) as error:
            if not re.search(rf"\b({names})\b", str(error)):
                faults[what] = f"{type(error).__name__}: {error}"
        except RuntimeWarning as warning:
            if "overflow" not in str(warning) or "huge" not in what:
                faults[what] = str(warning)
        except Exception as error:
            faults[what] = f"{type(error).__name__}: {error}"
    assert faults == {}


EDGES = [[0, 1], [1, 2], [2, 0]]
ROW, EMPTY = [[1.0, 2.0]], np.zeros((2, 0))
ONE_SHORT = {"short_factor": [1], "long_factor": [1, 2]}
ONE_ZERO = {"short_factor": [1, 2], "long_factor": [1, 0]}
GRID, TWO = frequencies.geometric(6), [1.0, 0.1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: frequencies.geometric(7), "d_model must be .* got 7; 6 or 8 would do"),
        (lambda: frequencies.geometric(1), "got 1; 2 would do"),
        (lambda: frequencies.length_scaled(3, 10), "d_model must be a positive even integer"),
        (lambda: frequencies.harmonic(3), "d_model must be a positive even integer"),
        (lambda: frequencies.geometric(8, 0.5), r"base must be at least 1, .* got 0\.5"),
        (lambda: tables.tape(0, 8), "n_positions must be an integer of at least 1, got 0"),
        (lambda: tables.dft(2, 5), "d_model must be a positive even integer .* got 5"),
        (lambda: tables.index(3, dtype=np.int32), "dtype must be a NumPy float type .*int32"),
        (lambda: tables.digits(5, base=1), "base must be an integer of at least 2, got 1"),
        (lambda: tables.digits(101, 2), "n_digits must be at least 3 .* 101 .* got 2"),
        (lambda: tables.binary(9, 3), "n_bits must be at least 4 .* 9 .* got 3"),
        (lambda: tables.dft(9, 8), "n_positions must be at most d_model = 8 .* got 9"),
        (lambda: tables.dft(2, 8, overflow="streth"), "overflow .* did you mean 'stretch'"),
        (lambda: tables.dft(9, 2, overflow="stretch"), "d_model must be at least 4 .* got 2"),
        (lambda: tables.index(70_000, dtype=np.float16), "dtype .* hold 69999, got float16"),
        (lambda: tables.digits(70_000, base=70_000, dtype=np.float16), "dtype .* got float16"),
        (lambda: tables.random_walk(EDGES, 2), r"must be square.*\(3, 2\); for a list of edges"),
        (lambda: tables.laplacian_eigenvectors(EDGES, 2), "adjacency must be square"),
        (lambda: tables.random_walk(-np.eye(2), 2), "must hold no number below 0, got -1"),
        (lambda: tables.laplacian_eigenvectors(-np.eye(2), 2), "must hold no number below 0"),
        (lambda: rotation.shift_matrix([1.0], [1]), r"offset must have 0 axes, got 1 .*\(1,\)"),
        (lambda: rotation.pairing_permutation(5), "d_model must be .* got 5"),
        (lambda: rotation.rotate([[1.0, 2.0, 3.0]], [0], [1.0]), r"vectors .*2\), got \(1, 3\)"),
        (lambda: rotation.rotate([[1.0, 2.0]], [0, 1], [1.0]), r"vectors .*2\), got \(1, 2\)"),
        (lambda: schedules.linear(GRID, 0.5), "factor must be at least 1, .* got 0.5"),
        (lambda: schedules.ntk([1.0], 2), "omega must hold two or more .* 'ntk', got"),
        (lambda: schedules.yarn([0.1, 0.1], 2, 9), "falling frequencies above 0 for 'yarn'"),
        (lambda: schedules.yarn(GRID, 2, 9, beta_slow=33), "beta_fast must be at least beta_"),
        (lambda: schedules.yarn(GRID, 2, 9, ramp="pair"), "ramp .* did you mean 'pairs'"),
        (lambda: schedules.llama3(GRID, 2, 9, low_freq_factor=5), "high_freq_factor .* 5.0, got 4"),
        (lambda: schedules.longrope(TWO, 5, 9, **ONE_SHORT), "short_factor must hold one number"),
        (
            lambda: schedules.longrope(TWO, 5, 9, **ONE_ZERO),
            "long_factor must hold one number abov",
        ),
        (lambda: fourier.analyse([1.0, 2.0, 3.0]), r"f must have a positive even number .* \(3,\)"),
        (lambda: fourier.synthesise([]), r"c must have a positive even number .* got shape \(0,\)"),
        (lambda: fourier.basis(3), "d must be a positive even integer .* got 3"),
        (lambda: fourier.frequency_density([1.0], 5, 1.0), "d must be .* got 5"),
        (lambda: fourier.frequency_density([1.0], 4, 1e-9), "bandwidth must be wide .* got 1e-09"),
        (lambda: fourier.frequency_density([], 4, 1.0), "frequencies must hold at least one"),
        (lambda: fourier.reconstruct([1.0, 2.0], [1.0]), r"density .* \(2,\), got \(1,\)"),
        (lambda: fourier.reconstruct([1.0, 2.0], [1.0, -0.5]), "density .* negative, got -0.5"),
        (lambda: fourier.reconstruct([1.0, 1.0], [0.0, 1.0]), "density must leave some part of f"),
        (lambda: faithfulness.separation(ROW), r"table must have at least 2 rows, got .*\(1, 2\)"),
        (lambda: faithfulness.gram([1.0, 2.0]), r"table must have 2 axes, got 1 \(shape \(2,\)\)"),
        (lambda: faithfulness.gram([[1.0, np.nan]]), r"finite, got nan at index \(0, 1\)"),
        (lambda: faithfulness.condition_number(EMPTY), r"table .* 1 column, .*\(2, 0\)"),
        (lambda: faithfulness.decoding_error(EMPTY, 1.0), r"table .* 1 column, .*\(2, 0\)"),
        (lambda: faithfulness.unit_rows([[1.0], [0.0]]), "table .* no row of zeros .* position 1"),
        (lambda: faithfulness.decode(ROW, [[1.0]]), r"noisy_rows .* table, 2, got .*\(1, 1\)"),
        (lambda: faithfulness.decode(ROW, [ROW]), r"noisy_rows .* got shape \(1, 1, 2\)"),
        (lambda: faithfulness.round_to(ROW, "bfloat"), "precision .* did you mean 'bfloat16'"),
        (lambda: faithfulness.round_to([1e5], "float16"), "table .* float16, at most 65504, got 1"),
        (lambda: faithfulness.round_to([65520.0], "float16"), "table must fit into float16"),
        (lambda: faithfulness.round_to([1e39], "bfloat16"), "table must fit into bfloat16"),
        (lambda: faithfulness.nearest_return([1.0], 5, after=4), "n_positions .* = 6 .* got 5"),
    ],
)
def test_what_does_not_fit_together_is_named_with_its_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
