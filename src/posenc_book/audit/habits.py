"""What habits of published code do to a score: stored trainings, as the Audit reads them."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from posenc_book.read import results
from posenc_book.records import tables as score_tables

ACROSS, INDEXED = "posenc.audit.published:InputOnlyTPE", "posenc.audit.published:BatchIndexed"
AXES = {"sinusoidal": "right", INDEXED: "batch index", ACROSS: "across the batch"}
SETS = ("RacketSports", "NATOPS", "BasicMotions")
PAIRS = {  # label -> (the encoding of the book, the re-enactment)
    "sinusoidal, by batch index": ("sinusoidal", INDEXED),
    "sinusoidal, deviation 0.10": ("sinusoidal", "posenc.audit.published:RescaledSinusoidal"),
    "DFT, decaying": ("dft", "posenc.audit.published:DecayingDFT"),
    "Shaw, skew without mask": ("relative", "posenc.audit.published:UnmaskedSkew"),
    "TUPE, tied": ("tupe", "posenc.audit.published:TiedTUPE"),
    "ConvSPE, tokens convolved": ("conv_spe", "posenc.audit.published:TokenConvolution"),
    "T-PE, sinusoid at the input": ("tpe", "sinusoidal"),
}
CONFIGURED = {"tAPE, L in steps": ("tape", "posenc.audit.published:ConfiguredTAPE")}
MODELS = {"time_series": "one token a step", "patch": "patches"}
RULES = ("half that chose", "other half", "validation chose", "last epoch")


def across(dataset: str, encoding: str, metric: str) -> list:
    """Return a metric of the trainings that classified one test part in other batches, by seed."""
    runs = results.load_records("published-across")
    found = [r for r in runs if (r["dataset"], r["encoding"]) == (dataset, encoding)]
    return [r["metrics"][metric] for r in sorted(found, key=lambda r: r["seed"])]


def other_answers() -> pd.DataFrame:
    """Return how many test series change their class when the batches are dealt anew, in %."""
    rows = {
        (dataset, name): {
            "another class in a new order (%)": 100 * _mean(dataset, e, "changed_between_orders"),
            "in any of 20 orders (%)": 100 * _mean(dataset, e, "changed_in_any_order"),
            "accuracy (%)": 100 * _mean(dataset, e, "accuracy_by_order"),
        }
        for dataset in SETS
        for e, name in AXES.items()
    }
    return pd.DataFrame(rows).T.round(1)


def _mean(dataset: str, encoding: str, metric: str) -> float:
    return float(np.mean(across(dataset, encoding, metric)))


def by_batch_size(dataset: str, encoding: str) -> tuple[list[int], NDArray[np.float64]]:
    """Return batch sizes and the mean accuracy at each."""
    found = across(dataset, encoding, "accuracy_by_batch_size")
    sizes = [int(size) for size in found[0]]
    return sizes, np.mean([[one[str(size)] for size in sizes] for one in found], axis=0)


def on_probe(name: str) -> NDArray[np.float64]:
    """Return the accuracies of an encoding on the task of order, by seed."""
    scores = score_tables.scores(results.load_records("published-probe"), "time_series")
    return scores.cells[scores.datasets[0], name]


def probe_table() -> pd.DataFrame:
    """Return mean, lowest and highest accuracy on the task of order, as defined and as seen."""
    rows = {
        label: {
            f"{how}, {what}": getattr(on_probe(name), what)()
            for how, name in zip(("as defined", "as seen"), names, strict=True)
            for what in ("mean", "min", "max")
        }
        for label, names in PAIRS.items()
    }
    return pd.DataFrame(rows).T.round(2).rename_axis("accuracy, five seeds", axis="columns")


def accuracies(model: str, encoding: str) -> NDArray[np.float64]:
    """Return the accuracies of an encoding or a re-enactment on RacketSports, by record."""
    records = results.load_records("published-control") + results.load_records(
        "published-RacketSports"
    )
    found = [r for r in records if (r["model"], r["encoding"]) == (model, encoding)]
    return np.array([r["metrics"]["accuracy"] for r in found if "error" not in r])


def racket_table() -> pd.DataFrame:
    """Return mean and deviation of the accuracy on RacketSports, as defined and as seen."""
    rows = {
        label: {
            (words, how): _mean_and_deviation(accuracies(model, name))
            for model, words in MODELS.items()
            for how, name in zip(("as defined", "as seen"), names, strict=True)
        }
        for label, names in (PAIRS | CONFIGURED).items()
    }
    return pd.DataFrame(rows).T


def _mean_and_deviation(a: NDArray[np.float64]) -> str:
    return f"{a.mean():.3f} ±{a.std(ddof=1):.3f}" if len(a) > 1 else "–"


def by_setting() -> pd.Series:
    """Return the mean accuracy of one encoding on RacketSports by setting."""
    rows = []
    for r in results.load_records("published-settings"):
        width, depth, rate = (r["settings"][n] for n in ("d_model", "n_layers", "learning_rate"))
        rows.append((width, depth, rate, r["metrics"]["accuracy"]))
    names = ["width", "layers", "learning rate"]
    return pd.DataFrame(rows, columns=[*names, "accuracy"]).groupby(names)["accuracy"].mean()


def expected_best(p: float, n: int, m: int) -> float:
    """Return the mean share of the best of m models that are right on n series with chance p."""
    k = np.arange(n)
    return float(np.sum(1 - stats.binom.cdf(k, n, p) ** m) / n)


def by_rule() -> dict[str, NDArray[np.float64]]:
    """Return for each set the accuracies by `RULES`, one row for each training."""
    found: dict[str, list] = {}
    for record in results.load_records("published-checkpoints"):
        packed = [np.frombuffer(bytes.fromhex(r), np.uint8) for r in record["metrics"]["correct"]]
        right = np.unpackbits(packed, axis=1)[:, : record["metrics"]["n_test"]].astype(bool)
        halves = np.mean([choose_on_half(right, seed) for seed in range(100)], axis=0)
        validated = right[int(np.argmax(record["metrics"]["validation_curve"]))].mean()
        row = [*halves, validated, right[-1].mean()]
        found.setdefault(record["dataset"], []).append(row)
    return {name: np.array(rows) for name, rows in found.items()}


def choose_on_half(correct: NDArray[np.bool_], seed: int) -> tuple[float, float]:
    """Return the accuracies of the checkpoint that a random half of the test part chooses.

    First on the half that chose, then on the other one.
    """
    order = np.random.default_rng(seed).permutation(correct.shape[1])
    half = correct.shape[1] // 2
    first = correct[:, order[:half]].mean(axis=1)
    second = correct[:, order[half:]].mean(axis=1)
    best = int(first.argmax())
    return float(first[best]), float(second[best])


def possible(value: float, n: int) -> bool:
    """Return whether some k / n is a value after rounding to, or cutting off at, three decimals."""
    share = np.arange(n + 1) / n
    rounded, cut = np.abs(share - value) <= 0.0005, (share >= value) & (share < value + 0.001)
    return bool(np.any(rounded | cut))
