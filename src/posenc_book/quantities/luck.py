"""How large a mean gain over data sets must be before it is more than luck."""

import numpy as np
from scipy import stats

_SETS, _BETWEEN, _WITHIN = 10, 2.0, 4.0  # points, as *A fair comparison* draws its studies


def _error(runs):
    return np.sqrt((_BETWEEN**2 + _WITHIN**2 / runs) / _SETS)


def assumed():
    """What is supposed: how far sets and runs differ, in points."""
    return {"between": f"{_BETWEEN:g}", "within": f"{_WITHIN:g}"}


def least_gain():
    """The smallest mean gain whose 95 % interval leaves out 0, by runs of each set, in points."""
    t = stats.t.ppf(0.975, _SETS - 1)
    return {str(runs): f"{t * _error(runs):.1f}" for runs in (1, 5)}
