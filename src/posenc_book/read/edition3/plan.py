"""The plan of the third edition, as it was frozen before any unused set was read."""

from typing import Any

from posenc_book.read import plans
from posenc_book.records.hashes import hashed

_PLAN = plans.load("edition3")
FROZEN: str = _PLAN["frozen"]
TRAINING: dict[str, Any] = _PLAN["training"]
ANALYSIS: dict[str, Any] = _PLAN["analysis"]
HASH, ANALYSIS_HASH = hashed(TRAINING), hashed(ANALYSIS)
PROFILE = "third"  # of trainings that are compared; trials have another one

MODEL: str = TRAINING["model"]  # a token a step
MODELS: dict[str, str] = TRAINING["other models"]
"""Names of encodings that are trained in another model than `MODEL`."""
ENCODINGS: dict[str, tuple[str, dict[str, Any]]] = {
    name: (encoding, options) for name, (encoding, options) in TRAINING["encodings"].items()
}
"""Names to encodings and the options that make a definition what its paper says."""
RATES: list[float] = TRAINING["tuning"]["rates"]
MARGIN: float = ANALYSIS["margin"]

UNUSED, COUNTED, SURVEY = (tuple(TRAINING[name]) for name in ("unused", "counted", "survey"))
LONG = tuple(TRAINING["on a gpu"])
"""Sets above 300 steps, which wait for a GPU; no answer counts them."""
CELLS_ON_GPU: dict[tuple[str, str, int], int] = {
    (dataset, name, layers): n for dataset, name, layers, n in TRAINING["cells on a gpu"]
}
MOST_SETS_SIMULATED: int = _PLAN["most sets simulated"]
