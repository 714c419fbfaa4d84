"""A report of a results file: Markdown with tables and figures, and the scores as CSV."""

import csv
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from posenc_book import _files
from posenc_book.bench import failures, ownfolder
from posenc_book.data.units import unit_of
from posenc_book.records import changes, paired, tables, values
from posenc_book.records.changes import Change
from posenc_book.records.settings import complete
from posenc_book.records.store import unique
from posenc_book.records.tables import Scores
from posenc_book.statistics import friedman
from posenc_book.statistics import summary as statistics

MAKER, LISTING = "posenc bench report", "report.json"

SEEDS = (
    "In brackets: a percentile bootstrap over seeds, which is too narrow where these are few. Two "
    "give no more than their range, and five cover the true mean about 85 times in a hundred where "
    "95 are asked for."
)


COSTS = (
    "Times are of one training, with whatever else the machine was doing, other workers above all; "
    "memory is of all seeds that were trained together, – where it was measured before PyTorch had "
    "warmed up. Both are medians."
)
ONE_SET = " Average ranks are not given: over fewer than two data sets there is nothing to average."


def write_report(records: Iterable[dict], folder: str | Path, metric: str = "accuracy") -> Path:
    """Write `report.md`, `scores.csv` and figures into `folder`, and return the Markdown's path."""
    stored = list(records)
    finished = tables.finished(stored)
    done = tables.latest(finished)
    if not done:
        n = len(unique(iter(stored)))
        raise ValueError(f"no finished record among {n}: nothing to report")
    _check_numbers(done, metric)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["# Benchmark of positional encodings", overview(stored), design(done)]
    parts += left_out(finished, done)
    with tempfile.TemporaryDirectory(prefix=".report-", dir=folder) as name:
        made = Path(name)
        for model in dict.fromkeys(record["model"] for record in done):
            scores = tables.scores(done, model, metric)
            parts += [f"## Model `{model}`", *_model(scores, done, made)]
        write_csv(done, made / "scores.csv")
        (made / "report.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        ownfolder.put(made, folder, LISTING, MAKER)
    return folder / "report.md"


def overview(records: list[dict]) -> str:
    """Return a sentence or two on what the records hold, and a list of failed cells."""
    cells, (failed, n_mended) = unique(iter(records)), failures.standing(records)
    done = [r for r in cells if "error" not in r]
    hours = sum(r["seconds"] for r in cells) / 3600
    devices = ", ".join(sorted({r["device"] for r in done}))
    profiles = ", ".join(sorted({r["profile"] for r in done}))
    lines = [
        f"{len(done)} finished training run{'s' * (len(done) != 1)}, "
        f"{len(failed)} failed{failures.again(n_mended)}; "
        f"profile {profiles}; {devices}; {hours:.2f} hours of training.",
        tables.short_trainings(done),
    ]
    reasons = Counter((r["encoding"], r["model"], r["dataset"], r["error"]) for r in failed)
    for (encoding, model, dataset, error), n in reasons.items():
        lines.append(f"- failed {n}×: {encoding}, {model}, {dataset}: {error}")
    return "\n".join(filter(None, lines))


def design(done: list[dict]) -> str:
    """Return a sentence on the splits and seeds of finished records, and on their tuning."""
    by_set: dict[str, list[dict]] = {}
    for r in done:
        by_set.setdefault(tables.label(r, "dataset"), []).append(r)
    kinds: dict[str, list[str]] = {}
    for name in sorted(by_set):
        kinds.setdefault(_splits(by_set[name]), []).append(name)
    told = [f"{', '.join(names)}: {splits}" for splits, names in kinds.items()]
    told = told if len(kinds) > 1 else list(kinds)
    tuned = sorted({complete(r["settings"])["tuned"] for r in done})
    how = " or ".join(f"tuned by {trials}" if trials else "not tuned" for trials in tuned)
    return f"{'; '.join(told)}, {how}."


def _splits(done: list[dict]) -> str:
    """Return how many resamples the records of one data set have, or how many seeds."""
    resamples = {complete(r["settings"])["resample"] for r in done}
    n_seeds, n_drawn = len({r["seed"] for r in done}), len(resamples - {0})
    if not n_drawn:
        return f"{n_seeds} seed{'s' * (n_seeds > 1)} on the official split"
    if 0 in resamples:
        others = f"{n_drawn} other{'s' * (n_drawn > 1)}"
        return f"{n_drawn + 1} resamples (official split and {others})"
    return f"{n_drawn} resample{'s' * (n_drawn > 1)} (without the official split)"


def left_out(finished: list[dict], latest: list[dict]) -> list[str]:
    """Return sentences on the records that `tables.latest` leaves out, and what changed since."""
    # what is kept says the versions; series that only left-out records have are as their last one
    now = {
        (kind, tables.label(r, kind)): r["settings"].get(source, "")
        for some in (finished, latest)
        for r in some
        for kind, source in changes.SOURCES.items()
    }
    found = []
    for r in finished:
        named = {kind: tables.label(r, kind) for kind in changes.SOURCES}
        changed = {
            kind: name * (r["settings"].get(changes.SOURCES[kind], "") != now[kind, name])
            for kind, name in named.items()
        }
        found.append(Change(**changed))
    return changes.change_sentences(
        found, "training run", "training runs", ("is left out", "are left out")
    )


def score_table(scores: Scores) -> str:
    """Return a Markdown table: mean and bootstrap interval over seeds, average ranks below."""
    rows = []
    for dataset in scores.datasets:
        cells = [scores.interval(dataset, encoding) for encoding in scores.encodings]
        rows.append([dataset, *(str(cell) if cell else "–" for cell in cells)])
    complete = scores.complete()
    if len(complete.datasets) > 1 and len(complete.encodings) > 1:
        means = statistics.average_ranks(complete.mean())
        rows.append([f"average rank ({len(complete.datasets)})", *(f"{m:.3f}" for m in means)])
    return markdown([scores.metric, *scores.encodings], rows)


def significance(scores: Scores, alpha: float = 0.05) -> str:
    """Return Markdown on Friedman's test, the smallest p-values, and every pair of encodings."""
    complete = scores.complete()
    n_datasets, n_encodings = len(complete.datasets), len(complete.encodings)
    if n_datasets < 2 or n_encodings < 3:
        return (
            f"Tests over data sets need at least 2 complete data sets and 3 encodings; here are "
            f"{n_datasets} and {n_encodings}.{ONE_SET * (n_datasets < 2)}"
        )
    means = complete.mean()
    test, n_pairs = friedman.friedman(means), n_encodings * (n_encodings - 1) // 2
    least = min(1.0, n_pairs * 2 / 2**n_datasets)
    end = f", so no pair can be shown to differ (α = {alpha:g})" if least > alpha else ""
    text = (
        f"Friedman's test: p = {test.p_value:.3g} over {n_datasets} data sets, "
        f"{'counted' if test.exact else 'from random orders'}; smaller than {test.smallest_p:.2g} "
        f"it could not be. For a pair, by Wilcoxon's signed ranks with Holm's correction for "
        f"{n_pairs}, p cannot be below {least:.2g}{end}."
    )
    return "\n\n".join([text, *_shared(complete.datasets), _pairs(complete, means)])


def _shared(datasets: Sequence[str]) -> list[str]:
    """Return a warning for data sets that hold the same series, if there are such."""
    units = defaultdict(list)
    for name in datasets:
        kept = name.removesuffix(paired.TIMES).removesuffix(paired.NUMBERS)
        units[unit_of(kept)].append(name)
    return [
        f"{' and '.join(names)} hold the same series, and the tests count them as "
        f"{len(names)} data sets."
        for names in units.values()
        if len(names) > 1
    ]


def cost_table(records: Iterable[dict], model: str) -> str:
    """Return a Markdown table of medians: parameters, time per step, peak memory.

    Memory that was measured without a warm-up is not shown.
    """
    rows = []
    mine = [r for r in records if r["model"] == model]
    for name in dict.fromkeys(tables.label(r, "encoding") for r in mine):
        metrics = [r["metrics"] for r in mine if tables.label(r, "encoding") == name]
        rows.append(
            [
                name,
                f"{_median(metrics, 'parameters'):.0f}",
                f"{1e3 * _median(metrics, 'seconds_per_step'):.2f}",
                _mebibytes(_median(metrics, values.WARM_PEAK)),
            ]
        )
    heads = ["encoding", "parameters", "ms per step, as it ran", "peak memory (MiB)"]
    return f"{markdown(heads, rows)}\n\n{COSTS}"


def write_csv(records: Iterable[dict], path: Path) -> None:
    """Write one line per finished training: names, seed, every metric, seconds."""
    _files.check_regular(path)
    records = list(records)
    metrics = dict.fromkeys(name for r in records for name in r["metrics"])
    names = [name for name in metrics if name != values.COLD_PEAK]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        heads = ["key", "dataset", "model", "encoding", "seed", "profile", "device", "seconds"]
        writer.writerow([*heads, *names])
        for r in records:
            named = {**r, **{k: tables.label(r, k) for k in ("encoding", "dataset")}}
            measured = [r["metrics"].get(name, "") for name in names]
            writer.writerow([*(named[head] for head in heads), *measured])


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def _model(scores: Scores, records: list[dict], folder: Path) -> list[str]:
    return [
        score_table(scores),
        SEEDS,
        *paired.section(records, scores.model, scores.metric),
        *_figures(scores, folder),
        significance(scores),
        cost_table(records, scores.model),
    ]


def _figures(scores: Scores, folder: Path) -> list[str]:
    """Save the figures that the scores allow, and return their Markdown with alt text."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    from posenc_book.figures import score_tables
    from posenc_book.teaching import plots

    complete = scores.complete()
    drawn: dict[str, tuple[Callable[[Scores], Figure], str]] = {
        "heatmap": (score_tables.heatmap, _heatmap_alt(scores))
    }
    if len(complete.datasets) > 1 and len(complete.encodings) > 1:
        drawn["ranks"] = (score_tables.rank_bars, _ranks_alt(complete))
    if len(complete.datasets) > 1 and len(complete.encodings) > 2:
        drawn["critical-difference"] = (
            score_tables.critical_differences,
            f"Critical differences. {score_tables.told_apart(complete)}.",
        )
    links = []
    for name, (draw, alt) in drawn.items():
        file = f"{name}-{scores.model}.png"
        figure = draw(scores)
        figure.savefig(folder / file, dpi=plots.DPI, metadata={"Software": None})
        plt.close(figure)
        links.append(f"![{alt}]({file})")
    return links


def _check_numbers(records: list[dict], metric: str) -> None:
    """Raise ValueError if a record has something else than a number for a metric."""
    for r in records:
        value = r["metrics"].get(metric, 0)
        if not values.NUMBER.fits(value):
            raise ValueError(
                f"metric {metric} must be {values.NUMBER.said} in every record, got {value!r:.40} "
                f"in the one with key {r['key']}; take another --metric, or mend that record"
            )


def _heatmap_alt(scores: Scores) -> str:
    means = scores.mean().round(friedman.DECIMALS)
    best = [scores.encodings[int(np.nanargmax(row))] for row in means]
    listed = ", ".join(f"{d}: {e}" for d, e in zip(scores.datasets, best, strict=True))
    return f"Heatmap of {scores.metric}, data sets by encodings. Best on {listed}."


def _ranks_alt(complete: Scores) -> str:
    means = statistics.average_ranks(complete.mean())
    order = np.argsort(means, kind="stable")
    listed = ", ".join(f"{complete.encodings[i]} {means[i]:.2f}" for i in order)
    return f"Average ranks from best to worst: {listed}."


def _pairs(complete: Scores, means: np.ndarray) -> str:
    wilcoxon = statistics.wilcoxon_holm(means)
    rows = []
    for i, j in combinations(np.argsort(statistics.average_ranks(means), kind="stable"), 2):
        c = statistics.compare(means[:, i], means[:, j])
        rows.append(
            [
                f"{complete.encodings[i]} – {complete.encodings[j]}",
                f"{c.difference:+.3f}",
                f"{c.wins}/{c.ties}/{c.losses}",
                f"{c.rank_biserial:+.2f}",
                f"{wilcoxon[i, j]:.3f}",
                f"{c.better:.2f}/{c.equal:.2f}/{c.worse:.2f}",
            ]
        )
    return markdown(
        [
            "pair",
            "difference",
            "wins/ties/losses",
            "rank-biserial",
            "p (Wilcoxon–Holm)",
            "P(better/equal/worse)",
        ],
        rows,
    )


def _mebibytes(n_bytes: float) -> str:
    return "–" if np.isnan(n_bytes) else f"{n_bytes / 2**20:.1f}"


def _median(metrics: list[dict], name: str) -> float:
    values = [m[name] for m in metrics if m.get(name) is not None]
    return float(np.median(values)) if values else np.nan
