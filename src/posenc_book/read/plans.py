"""The plans of the laboratory's experiments: what is trained, frozen, as a stored file.

A plan stands beside its trainer in `experiments/NAME` and travels with the installed package, so
that readers of results know what was asked without knowing what trains.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import posenc_book
from posenc_book import _files

_PACKAGE = Path(posenc_book.__path__[0]).resolve()


@cache
def load(name: str, plan: str = "plan") -> dict[str, Any]:
    """Return the plan of an experiment; several experiments of one name have several plans."""
    for folder in (_PACKAGE.parents[1] / "experiments", _PACKAGE / "plans"):
        path = folder / name / f"{plan}.json"
        if path.is_file():
            return json.loads(_files.text(path))
    raise ValueError(
        f"the plan {name}/{plan}.json is missing: clone the book's repository, or install its "
        "package anew"
    )
