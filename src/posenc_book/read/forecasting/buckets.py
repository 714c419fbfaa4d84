"""Does T5's bias fall behind because far distances share a bucket? Asked once the answer was seen.

T5's bias with a bucket for each distance up to two days, at the learning rate that T5's own trials
chose. No answer of the protocol counts these trainings, which `python -m
experiments.forecasting.buckets` made.
"""

import numpy as np
from numpy.typing import NDArray

from posenc_book.read import results

FOLDER = "forecasting-buckets"
UNITS = ("etth1", "m4_hourly")  # both have a day of 24 steps
READERS = ("decoder", "steps_mean")
T5 = "t5"
N_SEEDS = 3

Errors = dict[tuple[str, str], NDArray[np.float64]]  # by reader and unit, (n_seeds,)


def load_enough() -> Errors:
    """Return the stored errors with enough buckets."""
    errors = {
        (record["model"], record["dataset"], record["settings"]["seed"]): record["metrics"]["mase"]
        for record in results.load_records(f"{FOLDER}/*")
    }
    return {
        (reader, unit): np.array([errors[reader, unit, seed] for seed in range(N_SEEDS)])
        for reader in READERS
        for unit in UNITS
    }
