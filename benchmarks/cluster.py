"""Trainings an hour on a Dask cluster beside the local engine, in one run.

    python benchmarks/cluster.py                              # this machine: one worker a core
    python benchmarks/cluster.py --out results/cluster.json   # and store what was found

Both engines have as many workers, which have imported everything, and take turns. So what differs
is how a job reaches its worker and how its record comes back. The processor's time counts what the
driver, the scheduler and all workers took; work beside it disturbs the clock more.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psutil
from aim_limits import CLUSTER
from distributed import LocalCluster
from engine import cells
from timing import markdown

from posenc_book.bench.cluster import DaskEngine
from posenc_book.bench.jobs import Job
from posenc_book.bench.local import LocalEngine, available_cores
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def processor_seconds() -> float:
    """Return what this process and all that it started have computed."""
    ours = psutil.Process()
    spent = [one.cpu_times() for one in (ours, *ours.children(recursive=True))]
    return sum(one.user + one.system for one in spent)


def train(engine: LocalEngine | DaskEngine, todo: list[Settings]) -> None:
    """Train cells one by one, and store their records."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "cluster.jsonl")
        for _, found in engine.map(iter([Job((cell,), "cpu") for cell in todo])):
            for record in found:
                if "error" in record:
                    raise RuntimeError(record["error"])
                store.append(record)


def took(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds of some work by the clock, and those of the processor."""
    clock, processor = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - clock, processor_seconds() - processor


def compare(todo: list[Settings], n_workers: int, rounds: int) -> dict[str, float]:
    """Return trainings an hour of both engines, and the cluster's share of the local one's."""
    warm = [cell.with_seed(10_000 + cell.seed) for cell in todo]
    found: dict[str, list[tuple[float, float]]] = {"local": [], "dask": []}
    with (
        LocalCluster(n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        DaskEngine(cluster.scheduler_address) as dask,
        LocalEngine(n_workers) as local,
    ):
        engines = {"local": local, "dask": dask}
        for engine in engines.values():
            train(engine, warm)
        for _ in range(rounds):
            for name, engine in engines.items():
                found[name].append(took(lambda engine=engine: train(engine, todo)))
    pairs = list(zip(found["local"], found["dask"], strict=True))
    hourly = {name: 3600 * len(todo) / median(c for c, _ in one) for name, one in found.items()}
    return {
        "local_an_hour": round(hourly["local"]),
        "dask_an_hour": round(hourly["dask"]),
        "ratio": round(median(local[0] / dask[0] for local, dask in pairs), 4),
        "processor_ratio": round(median(local[1] / dask[1] for local, dask in pairs), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="laptop", help="size of the model: laptop or full")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[30, 100], help="steps of a series"
    )
    parser.add_argument("--rounds", type=int, default=5, help="turns that each engine takes")
    parser.add_argument("--epochs", type=int, default=5, help="of each training")
    parser.add_argument("--out", type=Path, help="file for what is found")
    options = parser.parse_args()
    options.series, options.device = 256, "cpu"
    rows = []
    for length in options.lengths:
        row = compare(cells(options, length), available_cores(), options.rounds)
        rows.append({"length": length, **row})
    head = ["L", "local, trainings an hour", "Dask", "ratio", "ratio by processor", "aim"]
    shown = [[*map(str, row.values()), f"{CLUSTER}"] for row in rows]
    print(markdown(head, shown))
    if options.out:
        machine = f"{platform.machine()}, {available_cores()} cores"
        versions = {name: version(name) for name in ("torch", "distributed")}
        stored = {"machine": machine, "versions": versions, options.profile: rows}
        options.out.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
