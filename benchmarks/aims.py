"""Every aim that the book has set itself for speed and size, and how far each is met.

    python benchmarks/aims.py                      # the stored table
    python benchmarks/aims.py --measure            # measure all, store, and show the table
    python benchmarks/aims.py --measure pages      # these only
    python benchmarks/aims.py --measure --resume   # go on: leave out what was measured today

Peers run in the same rounds as ours. They are no dependencies, so they may stand in environments of
their own: `--peers PYTHON` names the interpreter of one with transformers, x-transformers and
torchtune, `--tsai PYTHON` that of one with tsai.

What is stored in `results/aims.json` is a ratio for each aim, measured over aimed at, with the day
and the machine. Sizes are the same everywhere. Times are measured on a machine that does nothing
else, or not at all: `--busy` measures them in spite of other work, and the table says so. A test
never times anything.
"""

import argparse
import datetime
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import unquote

from aim_limits import (
    AIM_OF_NONE,
    ATTENTION,
    BUILD_ALL,
    BUILD_ONE,
    CHECK,
    CLUSTER,
    COLD,
    DECODED,
    DRAWN,
    ENGINE,
    FIGURE_LIMIT,
    FIRST_OUTPUT,
    FRAME,
    HALVES,
    IMPORT,
    KEY,
    LENGTHS,
    LETTER,
    LINEAR,
    OF_HAND,
    OF_NONE,
    PAGE_LIMIT,
    PEERS,
    RUNTIME_LIMIT,
    TEST,
)
from timing import BUSY, busy

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"
STORED = RESULTS / "aims.json"
SITE = ROOT / "_build" / "html"


@dataclass(frozen=True)
class Aim:
    """What is aimed at.

    Parameters
    ----------
    key : str
        What the stored file calls it.
    group : str
        What measures it, a key of `MEASURES`.
    what, limit : str
        What is measured, and the aim, in words for readers.
    at_least : bool
        Whether more is better.
    timed : bool
        Whether other work on the machine disturbs it.
    why : function, optional
        Returns why it was given up, or cannot be met or measured here, from what is stored.
    missed : function, optional
        Returns what a measurement that misses it says, by default `why`.
    """

    key: str
    group: str
    what: str
    limit: str
    at_least: bool = False
    timed: bool = True
    why: Callable[[], str] | None = None
    missed: Callable[[], str] | None = None


def _bound(*parts: str) -> Callable[[], str]:
    """Return what says how long PyTorch's kernel takes by itself for parts of an encoding."""

    def why() -> str:
        stored = json.loads((RESULTS / "bounds.json").read_text(encoding="utf-8"))
        least = (f"{sum(of['ratios'][p] for p in parts):.2f}" for of in stored.values())
        return f"PyTorch's kernel by itself takes {' and '.join(sorted(least))}"

    return why


def _products_outside() -> str:
    """Return what products of a step's shapes reach if their numbers lie outside the cache."""
    stored = json.loads((RESULTS / "steps.json").read_text(encoding="utf-8"))["rows"]
    reached = [round(100 * row["alone, outside"]) for row in stored]
    return (
        f"given up: from outside the cache, such products reach {min(reached)} to {max(reached)} %"
    )


def _no_transformer() -> str:
    return "given up: aeon has no transformer; its networks are convolutions, in TensorFlow"


def _shared_by_cores() -> str:
    return "several cores share it, so one waits as long as the row above says"


def _three_in_one() -> str:
    return "*The evidence behind the benchmark* holds what were three pages, with their pictures"


def _grown() -> str:
    """Return how the book has grown since the aim of a build was set."""
    pages = [path for kind in ("ipynb", "md") for path in (ROOT / "book").rglob(f"*.{kind}")]
    size = sum(path.stat().st_size for path in pages) / 1e6
    return f"set for 45 pages of 4.9 MB, and there are {len(pages)} of {size:.1f} MB"


def _all_cells() -> str:
    """Return how many cells `make test` runs."""
    notebooks = [path.read_text(encoding="utf-8") for path in (ROOT / "book").rglob("*.ipynb")]
    cells = [cell for text in notebooks for cell in json.loads(text)["cells"]]
    n_code = sum(cell["cell_type"] == "code" for cell in cells)
    return f"{n_code:,} cells run anew each time, and some of them train; every page is opened"


def _three_passes() -> str:
    return "a complex product turns pairs in one pass; halves take three, of short rows"


def _mostly_fixed() -> str:
    return "most of it goes by where nothing has changed, too, as a row below shows"


def _at(cases: list[tuple[int, str]]) -> str:
    """Return lengths and kinds of steps in words."""
    return " and ".join(f"at {length:,} tokens in {what}" for length, what in cases)


def _where_slower(name: str) -> Callable[[], str]:
    """Return what says at which lengths somebody else's step with an encoding is quicker."""

    def why() -> str:
        stored = json.loads((RESULTS / "attention.json").read_text(encoding="utf-8"))
        beside = {at: ratio for at, ratio in _beside_peers(stored).items() if at[0] == name}
        slower = _at([(length, what) for (_, length, what), ratio in beside.items() if ratio > 1])
        return f"only {slower}, of {len(beside)} cases"

    return why


def _where_over(name: str) -> Callable[[], str]:
    """Return what says at which lengths a step is over its aim, and how the quickest rounds are."""

    def why() -> str:
        stored = json.loads((RESULTS / "attention.json").read_text(encoding="utf-8"))
        rows = [row for row in stored if row["encoding"] == name and row["aim"] is not None]
        over = [row for row in rows if row["time_ratio"] > row["aim"]]
        where = _at([(row["length"], row["what"]) for row in over])
        quick = max(row["quartile_ratio"] / row["aim"] for row in over)
        return f"only {where}, of {len(rows)} cases; the quickest quarter of rounds, {quick:.2f}"

    return why


def _on_a_gpu(column: str) -> Callable[[], str]:
    """Return what says whose attention on a GPU is the slowest."""

    def why() -> str:
        import gpu_tables as script

        slowest = script.worst(script.read(), column)
        return f"{slowest[0]:.3g} with {slowest[1]}" if slowest else script.MISSING

    return why


WHY = {
    "t5": _bound("line", "gradient"),
    "kerple": _bound("line", "gradient"),
    "tupe": _bound("wide"),
    "relative": _bound("short"),
}
"""Encodings whose aim the kernel alone may exceed."""

AIMS = [
    Aim(
        "page",
        "pages",
        "the heaviest page with its pictures",
        "600 KB",
        timed=False,
        missed=_three_in_one,
    ),
    Aim("runtime", "figures", "what all interactive figures share", "15 KB", timed=False),
    Aim("figure", "figures", "the heaviest interactive figure", "40 KB", timed=False),
    Aim("redraw", "redraws", "a redraw of the slowest figure, 95 of 100", "one frame of 60"),
    Aim("build-all", "build", "the site, built anew", "20 s", missed=_grown),
    Aim(
        "build-all-processor",
        "build",
        "the same, the time of all cores together",
        "20 s",
        missed=_shared_by_cores,
    ),
    Aim(
        "build-one",
        "build",
        "the site after a change of one page",
        f"{BUILD_ONE:g} s",
        missed=_mostly_fixed,
    ),
    Aim(
        "build-one-processor",
        "build",
        "the same, the time of all cores together",
        f"{BUILD_ONE:g} s",
        missed=_shared_by_cores,
    ),
    Aim(
        "build-nothing",
        "build",
        "the site, where nothing has changed",
        f"{BUILD_ONE:g} s",
        missed=_grown,
    ),
    Aim("command-site", "commands", "`make site` in a clean clone", f"{COLD:g} s"),
    Aim("command-check", "commands", "`make check`, the same", f"{CHECK:g} s"),
    Aim("command-test", "tests", "`make test`, the same", f"{TEST:g} s", missed=_all_cells),
    Aim("loaded", "site", "bytes that the pages most visited load", "half of what they did"),
    Aim("drawn", "site", "their first drawing", f"{DRAWN:g} ms"),
    Aim("key", "site", "a key of the search, on twice the text, 95 of 100", f"{KEY:g} ms"),
    Aim("letter", "site", "a letter for the living model, behind 255", f"{LETTER:g} ms"),
    Aim(
        "halves",
        "halves",
        "RoPE in halves, next to neighbouring pairs",
        f"{HALVES:g}",
        missed=_three_passes,
    ),
    Aim("engine", "engine", "store and driver, next to a training", "1 %"),
    Aim(
        "linear",
        "steps",
        "linear maps, next to the machine's rate",
        "85 %",
        at_least=True,
        why=_products_outside,
    ),
    Aim(
        "attention-none",
        "attention",
        "a long step of `none`, next to PyTorch's encoder",
        f"{AIM_OF_NONE:g}",
        missed=_where_over("none"),
    ),
    *(
        Aim(
            f"attention-{name}",
            "attention",
            f"a step of `{name}`, next to `none`",
            f"{most:g}",
            why=WHY.get(name),
            missed=WHY.get(name, _where_over(name)),
        )
        for name, most in ATTENTION.items()
    ),
    *(
        Aim(
            f"peers-{name}",
            "attention",
            f"a step of `{name}`, next to the quickest elsewhere",
            "1",
            missed=_where_slower(name),
        )
        for name in PEERS
    ),
    Aim("import", "imports", "`import posenc`, beside Python's own start", "0.3 s"),
    Aim("first-output", "colab", "a notebook's first output with Colab's versions", "10 s"),
    Aim(
        "cluster",
        "cluster",
        "trainings an hour on a Dask cluster, next to the local engine",
        "0.95",
        at_least=True,
    ),
    Aim("trainings-tsai", "trainings", "trainings an hour, next to tsai", "1", at_least=True),
    Aim("trainings-aeon", "trainings", "the same, next to aeon", "1", True, why=_no_transformer),
    Aim(
        "gpu-none",
        "gpu",
        "attention on a GPU, next to `none`",
        f"{OF_NONE:g}",
        why=_on_a_gpu("of none"),
    ),
    Aim(
        "gpu-hand",
        "gpu",
        "the same, next to FlexAttention by hand",
        f"{OF_HAND:g}",
        why=_on_a_gpu("of hand"),
    ),
    *(
        Aim(
            f"decoding-{name}",
            "decoding",
            f"one token with a cache, `{name}`, next to the quickest layer elsewhere",
            "1",
        )
        for name in DECODED
    ),
]


def pages() -> dict[str, float]:
    """Measure the built site's heaviest page, as the pages' test weighs it."""
    weights = {}
    for path in sorted((SITE / "book").rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        if (found := re.search(r"<article\b.*</article>", text, re.DOTALL)) is None:
            continue  # an old address that leads on
        sources = {unquote(s) for s in re.findall(r'<img\b[^>]*?\bsrc="([^"]+)"', found[0])}
        pictures = [path.parent / source for source in sources if "_images" in source]
        weights[path] = len(found[0].encode()) + sum(p.stat().st_size for p in pictures)
    return {"page": max(weights.values()) / PAGE_LIMIT}


def figures() -> dict[str, float]:
    """Measure the weight of the interactive figures."""
    from posenc_book.explorables import bundle
    from posenc_book.guide import explorables

    def weight(name: str) -> int:
        html = explorables.make(name).html()
        return len(html.encode()) + len(bundle.script(f"{name}.js").encode())

    return {
        "runtime": len(bundle.script("explorables.js").encode()) / RUNTIME_LIMIT,
        "figure": max(map(weight, explorables.names())) / FIGURE_LIMIT,
    }


def redraws() -> dict[str, float]:
    """Measure redraws of every interactive figure in Chromium."""
    import explorables as drawing
    from playwright.sync_api import sync_playwright

    slow = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=drawing.chromium(), args=drawing.FLAGS)
        for name in drawing.explorables.names():
            times, _ = drawing.measure(browser, Path(folder), name, 1000)
            slow.append(quantiles(times, n=20)[-1])
        browser.close()
    return {"redraw": max(slow) / FRAME}


def build() -> dict[str, float]:
    """Measure a build anew, one after a change of one page, and one after none, in a copy.

    By the clock, which is what one waits for, and in time of the processor, which other work on the
    machine changes less.
    """
    sys.path.append(str(ROOT / "tools"))
    import repository

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        repository.copy_to(copy, ROOT)
        command = [sys.executable, "tools/build.py"]
        all_clock, all_processor = _seconds([*command, "--clean"], copy)
        page = copy / "book" / "rotary.ipynb"
        page.write_bytes(changed(page.read_bytes()))
        one_clock, one_processor = _seconds(command, copy)
        nothing, _ = _seconds(command, copy)
    return {
        "build-all": all_clock / BUILD_ALL,
        "build-all-processor": all_processor / BUILD_ALL,
        "build-one": one_clock / BUILD_ONE,
        "build-one-processor": one_processor / BUILD_ONE,
        "build-nothing": nothing / BUILD_ONE,
    }


def changed(page: bytes) -> bytes:
    """Return a notebook with one more sentence in its first cell of prose."""
    content = json.loads(page)
    prose = next(cell for cell in content["cells"] if cell["cell_type"] == "markdown")
    prose["source"] = "".join([*prose["source"], "\n\nOne more sentence."])
    return json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n"


def _seconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Run a command; return its seconds by the clock, and those of all its processes together."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ours = os.environ | {"PYTHONPATH": str(folder / "src")}
    subprocess.run(command, cwd=folder, env=ours, check=True, stdout=subprocess.DEVNULL)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def site() -> dict[str, float]:
    """Measure what the most visited pages load, their first drawing, a key and a letter."""
    import site_speed

    return site_speed.measured()


def halves() -> dict[str, float]:
    """Measure RoPE's turn of queries and keys with both pairings; the worst length counts."""
    import libraries

    return {"halves": libraries.halves_over_pairs() / HALVES}


def commands() -> dict[str, float]:
    """Measure `make check` and `make site`."""
    return _made({"check": CHECK, "site": COLD})


def tests() -> dict[str, float]:
    """Measure `make test`."""
    return _made({"test": TEST})


def _made(limits: dict[str, float]) -> dict[str, float]:
    """Return what commands take, over their limits, in a clean clone with this environment."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(copy)], check=True)
        (copy / ".venv").symlink_to(ROOT / ".venv")
        # older than what is installed, which belongs to this folder and stays as it is
        for name in ("requirements.txt", "pyproject.toml", "src/pyproject.toml"):
            os.utime(copy / name, (0, 0))
        seconds = {name: _seconds(["make", name], copy)[0] for name in limits}
    return {f"command-{name}": seconds[name] / limit for name, limit in limits.items()}


def engine() -> dict[str, float]:
    """Measure what a cell of the laptop profile costs beside its training."""
    from engine import overhead_seconds

    training, each = overhead_seconds(2000)
    return {"engine": each / training / ENGINE}


def steps() -> dict[str, float]:
    """Measure the rate of the linear maps in a training step, next to the machine's."""
    import steps as parts

    reached = []
    for length in parts.LENGTHS:
        step = parts.training("none", length, 32).take_step
        limit = parts.peak_rate(100)
        reached.append(parts.measure(step, 100).rate / limit)
    return {"linear": min(reached) / LINEAR}


def attention() -> dict[str, float]:
    """Measure steps with every encoding, beside `none` and beside peers; the worst of them counts.

    Of several peers with the same encoding the quickest counts.
    """
    out = RESULTS / "attention.json"
    command = [PYTHON["peers"], str(ROOT / "benchmarks" / "attention.py"), "--no-peak"]
    lengths = map(str, LENGTHS)
    subprocess.run([*command, "--lengths", *lengths, "--out", str(out)], check=True)
    return of_steps(json.loads(out.read_text(encoding="utf-8")))


def of_steps(rows: list[dict]) -> dict[str, float]:
    """Return for each aim of attention its worst row, measured over aimed at."""
    worst: dict[str, float] = {}
    for row in rows:
        if row["aim"] is not None:
            key = f"attention-{row['encoding']}"
            worst[key] = max(worst.get(key, 0.0), row["time_ratio"] / row["aim"])
    for (name, *_), ratio in _beside_peers(rows).items():
        worst[f"peers-{name}"] = max(worst.get(f"peers-{name}", 0.0), ratio)
    return worst


def _beside_peers(rows: list[dict]) -> dict[tuple[str, int, str], float]:
    """Return (encoding, length, step) -> our time over that of the quickest peer."""
    found: dict[tuple[str, int, str], float] = {}
    for row in rows:
        name = row["encoding"]
        if row["aim"] is None and row["compared_with"] not in ("none", name) and name in PEERS:
            at = name, row["length"], row["what"]  # the largest ratio is to the quickest peer
            found[at] = max(found.get(at, 0.0), row["time_ratio"])
    return found


def decoding() -> dict[str, float]:
    """Measure one token at a time beside `transformers` and `x-transformers`, and store the times.

    Of several lengths, and of a layer alone and one of many, the worst counts. Where one of the two
    is not installed, nothing is measured.
    """
    if not has(PYTHON["peers"], "transformers", "x_transformers"):
        return {}
    import decoding as layers

    out = RESULTS / "decoding.json"
    command = [PYTHON["peers"], str(ROOT / "benchmarks" / "decoding.py"), "--out", str(out)]
    subprocess.run(command, check=True)
    times = json.loads(out.read_text(encoding="utf-8"))["rows"]
    worst: dict[str, float] = {}
    for column in ("alone", "of many"):
        for (_, name), (ratio, _) in layers.ratios(times, column).items():
            worst[f"decoding-{name}"] = max(worst.get(f"decoding-{name}", 0.0), ratio)
    return worst


def trainings() -> dict[str, float]:
    """Measure trainings an hour beside the loop of tsai, where that is installed."""
    if not has(PYTHON["tsai"], "tsai"):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "engine.json"
        command = [PYTHON["tsai"], str(ROOT / "benchmarks" / "engine.py"), "--only", "tsai"]
        sizes = ["--quick", "--profile", "laptop", "--lengths", "30", "100"]
        subprocess.run([*command, *sizes, "--out", str(out)], check=True)
        found = json.loads(out.read_text(encoding="utf-8"))["laptop"]
    return {"trainings-tsai": min(row["ratio"] for row in found)}


def imports() -> dict[str, float]:
    """Measure how much longer Python takes to start and import the package than to start."""

    def seconds(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    pairs = [(seconds("import posenc"), seconds("")) for _ in range(9)]
    return {"import": median(a - b for a, b in pairs) / IMPORT}


def colab() -> dict[str, float]:
    """Read the longest wait for a first output, from a kernel's start (`tools/colab.py run`)."""
    stored = json.loads((RESULTS / "colab.json").read_text(encoding="utf-8"))["notebooks"]
    return {"first-output": max(one["first_output"] for one in stored.values()) / FIRST_OUTPUT}


def cluster() -> dict[str, float]:
    """Measure trainings an hour on a cluster of this machine's cores, beside the local engine."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "cluster.json"
        command = [sys.executable, str(ROOT / "benchmarks" / "cluster.py"), "--lengths", "30"]
        subprocess.run([*command, "--rounds", "3", "--out", str(out)], check=True)
        found = json.loads(out.read_text(encoding="utf-8"))["laptop"]
    return {"cluster": min(row["ratio"] for row in found) / CLUSTER}


def gpu() -> dict[str, float]:
    """Read what the script for a GPU has stored (`benchmarks/gpu.py`), where it has."""
    import gpu_tables as script

    aims = {"gpu-none": ("of none", OF_NONE), "gpu-hand": ("of hand", OF_HAND)}
    found = {key: script.worst(script.read(), column) for key, (column, _) in aims.items()}
    return {key: one[0] / aims[key][1] for key, one in found.items() if one is not None}


PYTHON = {"peers": sys.executable, "tsai": sys.executable}
"""Interpreters that have peers."""


def has(python: str, *modules: str) -> bool:
    """Return whether an interpreter finds modules."""
    code = f"import importlib.util as u; assert all(map(u.find_spec, {modules}))"
    return subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    one.__name__: one
    for one in (
        pages,
        figures,
        redraws,
        build,
        engine,
        steps,
        attention,
        decoding,
        imports,
        colab,
        cluster,
        trainings,
        gpu,
        site,
        halves,
        commands,
        tests,
    )
}


def read(path: Path = STORED) -> dict[str, dict]:
    """Return what is stored: for each aim its ratio, the day, the machine, and if it was busy."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def met(aim: Aim, ratio: float) -> bool:
    """Return whether a ratio, measured over aimed at, meets an aim."""
    return ratio >= 1 if aim.at_least else ratio <= 1


def rows(stored: dict[str, dict]) -> list[list[str]]:
    """Return a line for each aim: what, aim, measured as a share of the aim, when, and met or not.

    Parameters
    ----------
    stored : dict
        What `read` returns.

    Returns
    -------
    list of five texts for each aim, in the order of `AIMS`.
    """
    lines = []
    for aim in AIMS:
        limit = f"at {'least' if aim.at_least else 'most'} {aim.limit}"
        found = stored.get(aim.key)
        if found is None:
            why = "not measured" if aim.why is None else aim.why()
            lines.append([aim.what, limit, "", "", why])
            continue
        when = found["when"] + (", on a busy machine" if found.get("busy") else "")
        said = "met" if met(aim, found["ratio"]) else "**missed**"
        reason = aim.missed or aim.why
        if not met(aim, found["ratio"]) and reason is not None:
            said += f": {reason()}"
        lines.append([aim.what, limit, f"{found['ratio']:.2f} of the aim", when, said])
    return lines


def table(stored: dict[str, dict]) -> str:
    """Return the rows as a Markdown table."""
    head = ["what", "aim", "measured", "when", "outcome"]
    lines = [head, ["---"] * len(head), *rows(stored)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def measure(groups: list[str], *, although_busy: bool = False) -> list[str]:
    """Measure groups of aims, store what is found, and return the groups that were left out."""
    left_out = []
    at_work = busy()  # before the first group adds to it
    os.environ[BUSY] = str(int(at_work))
    for group in groups:
        timed = any(aim.timed for aim in AIMS if aim.group == group)
        other_work = timed and at_work
        if other_work and not although_busy:
            left_out.append(group)
            continue
        stored = read()
        for key, ratio in MEASURES[group]().items():
            stored[key] = {
                "ratio": round(ratio, 4),
                "when": datetime.date.today().isoformat(),
                "machine": platform.machine(),
                "busy": other_work,
            }
        STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return left_out


def of_today(group: str) -> bool:
    """Return whether something of a group was measured today, on a machine that was idle."""
    found = [read().get(aim.key, {}) for aim in AIMS if aim.group == group]
    today = datetime.date.today().isoformat()
    return any(one.get("when") == today and not one["busy"] for one in found)


def main() -> None:
    """Show the table, measured anew if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--measure", nargs="*", choices=MEASURES, metavar="GROUP", help="measure these, or all"
    )
    parser.add_argument("--busy", action="store_true", help="measure times on a busy machine too")
    parser.add_argument("--resume", action="store_true", help="leave out what is from today")
    for name, python in PYTHON.items():
        parser.add_argument(f"--{name}", default=python, help="an interpreter that has them")
    options = parser.parse_args()
    PYTHON.update({name: getattr(options, name) for name in PYTHON})
    if options.measure is not None:
        groups = options.measure or list(MEASURES)
        if options.resume:
            groups = [group for group in groups if not of_today(group)]
        for group in measure(groups, although_busy=options.busy):
            print(f"left out: {group}; the machine does other work", file=sys.stderr)
    print(table(read()))


if __name__ == "__main__":
    main()
