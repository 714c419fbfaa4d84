"""Whatever is given to a public function, a wrong argument is named, with what would be right.

Every function of the mathematics and of the statistics is called with each of its arguments in
turn replaced by something that it may not want. It may take it; otherwise it says ValueError or
TypeError and names the argument. Nothing else may come out: no error of NumPy's, no hang, and no
warning but that numbers near the largest float overflow when they are squared or summed.
"""

import importlib
import inspect
import re

import numpy as np
import pytest

import api

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
    "frequencies": OMEGA,
    "omega": OMEGA,
    "table": TABLE,
    "scores": SCORES,
    "d_model": 8,
    "d": 8,
    "n_positions": 6,
    "length": 12,
    "original_length": 8,
    "factor": 2.0,
    "n_heads": 2,
    "offset": 2,
    "f": np.arange(8.0),
    "c": np.arange(8.0),
    "x": TABLE,
    "positions": np.arange(6),
    "base": 100.0,
    "differences": PAIRS,
    "p_values": P_VALUES,
    "bandwidth": 0.1,
    "density": np.ones(5) / 5,
    "noisy_rows": TABLE,
    "precision": "float16",
    "dtype": np.float64,
    "n_digits": 4,
    "k": 2,
    "adjacency": np.ones((4, 4)),
    "kept": [0.5] * 4,
    "short_factor": [1.0] * 4,
    "long_factor": [2.0] * 4,
    "noise": 0.1,
    "sigma": 0.1,
    "first": SCORES[:, 0],
    "second": SCORES[:, 1],
    "n_datasets": 8,
    "n_methods": 3,
    "n_resamples": 5,
    "test_share": 0.3,
    "cells": PAIRS,
    "value": 2.0,
    "vectors": TABLE,
    "weights": np.array([1, 2, 3]),
    "rope": 0.01,
    "margin": 0.01,
}
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
    "f",
    "omega",
    "frequencies",
    "table",
    "noisy_rows",
    "kept",
    "positions",
    "vectors",
    "scores",
}
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
}


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
    for what, value in WRONG.items():
        try:
            FUNCTIONS[name](**{**right(name), argument: value})
        except (ValueError, TypeError) as error:
            if not re.search(rf"\b({names})\b", str(error)):
                faults[what] = f"{type(error).__name__}: {error}"
        except RuntimeWarning as warning:
            if "overflow" not in str(warning) or "huge" not in what:
                faults[what] = str(warning)
        except Exception as error:
            faults[what] = f"{type(error).__name__}: {error}"
    assert faults == {}
