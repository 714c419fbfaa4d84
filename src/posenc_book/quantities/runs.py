"""How the training runs of the benchmark were made, and how far they scatter."""

import json

from posenc_book.quantities import _read
from posenc_book.read import results
from posenc_book.read.classification import edition, fair
from posenc_book.read.classification import protocol as protocols


def scatter():
    """Of one training over all sets, in points."""
    kinds = {"steps": "time_series", "patches": "patch"}
    return {tokens: _read.points(fair.scatter_over_sets(model)) for tokens, model in kinds.items()}


def all_bars_reach_two_points():
    return min(fair.points_from_nothing().values()) > 2


def devices_agree_to_the_seventh_digit():
    (gpu,) = json.loads((results.folder() / "agreement.json").read_text())["devices"].values()
    precise = gpu["settings"]["precision"] == "float32"
    return precise and max(one["losses"] for one in gpu["encodings"].values()) < 5e-7


def longer_series_from_adiac_on_a_gpu():
    """With steps, and the shorter ones on processors."""
    late = protocols.UP_TO_275[len(protocols.UP_TO_180) - 1 :]
    kinds = {}
    for name in protocols.UP_TO_275:
        for one in edition.plain(results.load_records(f"second-{name}"), "time_series"):
            kinds.setdefault(name, set()).add(one["device"].split(" ")[0])
    expected = {name: {"cuda" if name in late else "cpu"} for name in protocols.UP_TO_275}
    return late[0] == "Adiac" and kinds == expected


def nearly_five_hundred_and_four_hundred():
    """Runs and trials on the GPU."""
    runs, trials = (
        sum(one["device"].startswith("cuda") for one in results.load_records(kind))
        for kind in ("second-*", "tuning-*")
    )
    return 480 <= runs < 500 and 380 <= trials <= 400
