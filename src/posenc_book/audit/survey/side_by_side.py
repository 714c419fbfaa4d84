"""The sources' own tables with our numbers in the same cells: "printed | measured".

Rows and columns stand as in the sources. A cross marks a cell where the two disagree: words that
differ, counts that differ, or a printed score that lies outside of what our trainings gave. A cell
without a second number was not measured here.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book import data
from posenc_book.audit import printed
from posenc_book.audit.survey import summaries
from posenc_book.read.classification import edition2, families
from posenc_book.read.classification.baselines import load_baselines
from posenc_book.read.windows import read as windows
from posenc_book.statistics.summary import average_ranks
from posenc_book.teaching.table import Table

CROSS = "\u00a0✗"
BAR = "\u00a0| "  # a narrow cell breaks behind it, and nowhere else
NAMES = {  # as Table 2 calls them
    "sinusoidal": "Sinusoidal PE",
    "learnable": "Learnable PE",
    "relative": "RPE",
    "tape": "tAPE",
    "erpe": "eRPE",
    "tupe": "TUPE",
    "conv_spe": "ConvSPE",
    "tpe": "T-PE",
}
SIZES = {"length": 100, "width": 128, "heads": 8, "layers": 4, "taps": 32}
OPTIONS: dict[str, dict[str, Any]] = {  # as Table 2 counts them
    "conv_spe": {"kernel_size": SIZES["taps"]},
    "relative": {"max_distance": None, "values": True, "per_head": True},
}
QUANTITIES = {
    "train": "train size",
    "test": "test size",
    "length": "length",
    "n_classes": "classes",
    "n_channels": "channels",
}
OURS = {
    "none": "no encoding",
    "largest_class": "largest class",
    "nearest": "nearest neighbour",
    "minirocket": "MiniRocket",
}
# The DFT paper's Table 1: (precision, recall, F1) with the sinusoid, then with DFT rows.
ANOMALIES = {
    "Elevator": ((0.977, 0.917, 0.946), (0.979, 0.955, 0.967)),
    "SMD": ((1.0, 0.943, 0.970), (1.0, 0.961, 0.980)),
    "MSL": ((0.822, 0.855, 0.838), (0.894, 0.821, 0.856)),
}


def cell(said: object, found: object, *, agree: bool) -> str:
    """Return "printed | measured", with a cross where they disagree."""
    theirs, ours = (str(one).replace(" ", "\u00a0") for one in (said, found))
    return f"{theirs}{BAR}{ours}{'' if agree else CROSS}"


def kinds() -> Table:
    """Return Table 1: what kind each method is, where it enters, whether it learns."""
    from posenc_book.audit.survey import techniques  # needs torch

    columns = ("technique type", "injection technique", "learnable/fixed")
    rows = {}
    for name, said in summaries.TABLE_1.items():
        found = techniques.row(name)
        pairs = zip(columns, said, found, strict=True)
        rows[NAMES[name]] = {c: cell(a, b, agree=a == b) for c, a, b in pairs}
    return Table(rows, head="Table 1: method", caption="printed | read off our code")


def costs() -> Table:
    """Return Table 2: numbers to learn, counted at one size, and how work grows with length."""
    said, found = summaries.parameters(**SIZES), parameters()
    rows = {}
    for name in summaries.TABLE_1:
        power, grown = summaries.POWER_OF_LENGTH[name], powers(name)[0]
        formula, time = summaries.TABLE_2[name]
        equal = "" if formula == "0" else f" = {said[name]:,}"
        rows[NAMES[name]] = {
            "number of parameters": cell(
                f"{formula}{equal}", f"{found[name]:,}", agree=said[name] == found[name]
            ),
            "time complexity": cell(time, f"L^{grown:.1f}", agree=round(grown) == power),
        }
    sizes = ", ".join(f"{letter} = {n}" for letter, n in zip("LdhlK", SIZES.values(), strict=True))
    caption = f"printed | counted at {sizes}, and the power of L by which work grows"
    return Table(rows, head="Table 2: method", caption=caption, wide=True)


def parameters() -> dict[str, int]:
    """Return what each method adds to a model without one, at `SIZES`."""
    nothing = n_learned("none")
    found = {n: n_learned(n, **OPTIONS.get(n, {})) - nothing for n in summaries.TABLE_1}
    filters = n_learned("conv_spe", share=True, **OPTIONS["conv_spe"]) - nothing
    plain = n_learned("conv_spe", **OPTIONS["conv_spe"])
    gates = n_learned("conv_spe", gated=True, **OPTIONS["conv_spe"]) - plain
    return {**found, "conv_spe": filters + gates}  # as its authors publish it


def n_learned(name: str, share: bool | None = None, **options: Any) -> int:
    """Return the number of parameters of a whole model with a method, at `SIZES`."""
    from posenc.models import TimeSeriesTransformer  # needs torch

    length, width, heads, layers, _ = SIZES.values()
    model = TimeSeriesTransformer(
        6,
        4,
        length,
        name,
        width,
        heads,
        layers,
        256,
        position_options=options,
        share_position=share,
    )
    return sum(one.numel() for one in model.parameters())


def powers(name: str) -> NDArray[np.float64]:
    """Return the powers of the length by which work and memory of a method grow."""
    from posenc_book.audit.survey import growth  # needs torch

    short, long = (growth.cost(name, n, options=OPTIONS.get(name)) for n in (512, 1024))
    return np.log2(np.divide(long, short))


def sizes() -> Table:
    """Return Table 3: series, length, classes, channels and type of the eleven sets."""
    counted = data.recorded()["sets"]
    rows = {}
    for name in printed.DATASETS:
        said = printed.facts(name)
        if name in counted:
            found = {q: (p, c, ok) for q, p, c, ok in data.recorded_facts(name).table()}
            rows[name] = {
                shown: cell(f"{found[q][0]:,}", f"{found[q][1]:,}", agree=bool(found[q][2]))
                for q, shown in QUANTITIES.items()
            }
        else:
            rows[name] = {shown: f"{getattr(said, q):,}" for q, shown in QUANTITIES.items()}
        rows[name]["type"] = printed.TYPES[name]
    return Table(rows, head="Table 3: set", caption="printed | counted here")


def accuracies(model: str) -> Table:
    """Return Table 4 (steps) or 5 (patches), with what needs no encoding on the right."""
    ours, beside = _trained(model), _without_a_transformer()
    said = printed.printed_scores(model).cells
    rows: dict[str, dict[str, str]] = {}
    for name in printed.DATASETS:
        row = {}
        for column in printed.COLUMNS:
            shown = f"{np.mean(said[name, column]):.3f}"
            row[column] = _beside_scores(shown, ours.get((name, printed.OURS[column][0])))
        for method, label in OURS.items():
            scores = ours.get((name, method)) if method == "none" else beside.get((name, method))
            row[label] = "" if scores is None else f"{np.mean(scores):.3f}"
        rows[name] = row
    rows["average rank"] = _average_ranks(model, ours)
    head = f"Table {printed.TABLES[model]}: set"
    return Table(rows, head=head, caption="accuracy, printed | mean of five resamples", wide=True)


def _average_ranks(model: str, ours: Mapping[tuple[str, str], NDArray]) -> dict[str, str]:
    """Return the last row: ranks as printed, and ours over the sets that were measured."""
    names = [one for one in printed.DATASETS if (one, "none") in ours]
    means = [[ours[n, printed.OURS[c][0]].mean() for c in printed.COLUMNS] for n in names]
    said = printed.average_ranks(model)
    pairs = zip(printed.COLUMNS, said, average_ranks(means), strict=True)
    row = {column: cell(f"{a:.3f}", f"{b:.3f}", agree=True) for column, a, b in pairs}
    return row | dict.fromkeys(OURS.values(), "")


def _beside_scores(said: str, scores: NDArray[np.float64] | None) -> str:
    """Return a printed score beside the mean of ours, crossed where it lies outside their range."""
    if scores is None:
        return said
    inside = scores.min() - 0.0005 <= float(said) <= scores.max() + 0.0005
    return cell(said, f"{scores.mean():.3f}", agree=bool(inside))


def _trained(model: str) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Return the accuracies of a model by (set, encoding), one a resample."""
    found = {}
    for grid in (edition2.load_grid(model), families.load_family("others", model)):
        if grid is not None:
            found |= {
                (name, encoding): grid.scores[i, j]
                for i, name in enumerate(grid.datasets)
                for j, encoding in enumerate(grid.encodings)
            }
    return found


def _without_a_transformer() -> dict[tuple[str, str], NDArray[np.float64]]:
    """Return the accuracies of the baselines by (set, name), one a resample."""
    found = defaultdict(list)
    for one in load_baselines():
        found[one["dataset"], one["baseline"]].append(one["metrics"]["accuracy"])
    return {key: np.array(scores) for key, scores in found.items()}


def missing() -> tuple[str, ...]:
    """Return the sets of Tables 4 and 5 that could not be had here."""
    return tuple(name for name in printed.DATASETS if name not in data.recorded()["sets"])


def commands(names: Sequence[str] | None = None) -> str:
    """Return what fetches and trains the sets that are missing, as typed into a shell."""
    names = missing() if names is None else names
    return "\n".join(
        line
        for name in names
        for line in (
            f"posenc data fetch {name}",
            f"posenc bench run --profile protocol --datasets {name}",
        )
    )


def anomalies() -> Table:
    """Return the DFT paper's Table 1, with our means over seeds and their intervals."""
    runs, halves = windows.anomalies(), ("original PE", "DFT PE")
    rows: dict[str, dict[str, str]] = {}
    for name, pair in ANOMALIES.items():
        rows[name] = {
            f"{half}: {metric}": _beside_interval(score, runs, variant, name, metric.lower())
            for half, variant, said in zip(halves, (windows.SINES, windows.DFT), pair, strict=True)
            for metric, score in zip(("precision", "recall", "F1"), said, strict=True)
        }
    caption = "printed | mean over seeds with its 95 % interval"
    return Table(rows, head="Table 1: set", caption=caption, wide=True)


def _beside_interval(said: float, runs: windows.Runs, variant: str, name: str, metric: str) -> str:
    scores = np.array([*runs.scores(variant, name, metric).values()])
    if not len(scores):
        return f"{said:.3f}"
    found = windows.statistics.t_interval(scores)
    return cell(f"{said:.3f}", found, agree=found.low <= said <= found.high)


def levels() -> Mapping[str, Mapping[str, float]]:
    """Return print and measurement on the sets that tell most: the range of the eight, and none."""
    found = {}
    for model, number in printed.TABLES.items():
        ours = _trained(model)
        said = printed.printed_scores(model).cells
        for name in ("MelbournePedestrian", "LSST"):
            every = [float(np.mean(said[name, column])) for column in printed.COLUMNS]
            of_ours = [float(ours[name, printed.OURS[c][0]].mean()) for c in printed.COLUMNS]
            found[f"{name}, Table {number}"] = {
                "printed, lowest": min(every),
                "printed, highest": max(every),
                "ours, lowest": min(of_ours),
                "ours, highest": max(of_ours),
                "ours, no encoding": float(ours[name, "none"].mean()),
            }
    return found
