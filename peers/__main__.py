"""Run the comparisons and store their table.

python -m peers --out results/peers.json --checkouts FOLDER
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import warnings
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from peers import (
    added,
    biases,
    graphs,
    layers,
    libraries,
    message,
    modern,
    profiles,
    published,
    relative,
    rotary,
    stochastic,
    today,
)
from peers.compare import CASES, Case, measure
from peers.references import CHECKOUTS, REFERENCES, Missing, version

ROOT = Path(__file__).parents[1]
FAMILIES = (
    added, graphs, rotary, message, biases, relative, profiles, stochastic, modern, layers,
    published, today, libraries,
)  # fmt: skip

NOT_COMPARED = {
    "rove, with the program of RoVE's authors (AGarciaCast/RoVE)": (
        "no checkout of it could be had; the formula of the paper is computed pair by pair in "
        "tests/torch/test_torch_rove.py, and RoPER's program, which is the same, is compared"
    ),
    "relative, with keys looked up by query and key (BERT's relative_key_query)": (
        "transformers 5 dropped it, and posenc has Shaw et al.'s form only, which is relative_key"
    ),
    "window_statistics, with the authors' program (ari-dasci/S-WinStat)": (
        "no checkout of it could be had; a program whose classes have the paper's names was read "
        "in a public index of code that names no repository; its statistics are compared with "
        "pandas instead"
    ),
    "published.RescaledSinusoidal, ConfiguredTAPE, TiedTUPE": (
        "they re-enact a setting or a combination of parts; the parts are compared"
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if every difference is as small as rounding allows or is explained."""
    parser = argparse.ArgumentParser(prog="python -m peers", description=__doc__)
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "results" / "peers.json",
        help="file of what was compared",
    )
    parser.add_argument("--checkouts", type=Path, help="folder with the repositories")
    parser.add_argument(
        "--only", nargs="+", choices=REFERENCES, default=REFERENCES, help="these references only"
    )
    options = parser.parse_args(arguments)
    if options.checkouts:
        os.environ["POSENC_CHECKOUTS"] = str(options.checkouts.resolve())
    found, missing, broken = compare(options.only)
    stored = json.loads(options.out.read_text()) if options.out.exists() else {"comparisons": []}
    table = merge(stored["comparisons"], found, missing)
    options.out.write_text(dump(table), encoding="utf-8")
    for reference, reason in missing.items():
        print(f"skipped: {reference}: {reason}")
    bad = broken + [text for one in found for text in faults(one)]
    print("\n".join(bad) or f"{len(found)} comparisons, none differs beyond rounding unexplained")
    return 1 if bad else 0


def compare(references: list[str]) -> tuple[list[dict], dict[str, str], list[str]]:
    """Return the comparisons, why references were skipped, and which comparisons do not run."""
    found, missing, broken = [], {}, []
    for reference in references:
        try:
            known = version(reference)
        except Missing as reason:
            missing[reference] = str(reason)
            continue
        for one in CASES:
            if one.reference != reference:
                continue
            try:
                found.append(entry(one, known))
            except Exception as error:
                broken.append(f"{reference}, {one.part}: {type(error).__name__}: {error}")
            else:
                print(summary(found[-1]), flush=True)
    return found, missing, broken


def entry(one: Case, known: str) -> dict:
    """Return one comparison as it is stored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = measure(one)
    return {
        "encoding": one.encoding,
        "reference": one.reference,
        "part": one.part,
        "version": known,
        "note": one.note,
        "precision": one.precision,
        "explanation": one.explanation,
        "unit": one.unit,
        "date": datetime.now(UTC).date().isoformat(),
        "posenc": posenc_commit(),
        "torch": metadata.version("torch"),
        "python": platform.python_version(),
        "measured": rows,
    }


def merge(stored: list[dict], found: list[dict], missing: dict[str, str]) -> dict:
    """Return the table: what was found now, and what is stored of references not at hand now."""
    now = {one["reference"] for one in found}
    kept = [one for one in stored if one["reference"] not in now]
    order = {(one.encoding, one.reference, one.part): i for i, one in enumerate(CASES)}
    rows = [one for one in [*found, *kept] if key(one) in order]
    rows.sort(key=lambda one: order[key(one)])
    present = {one["reference"] for one in rows}
    return {
        "repositories": {name: CHECKOUTS[name] for name in CHECKOUTS if name in present},
        "skipped": {name: why for name, why in missing.items() if name not in present},
        "not_compared": NOT_COMPARED,
        "comparisons": rows,
    }


def key(one: dict) -> tuple[str, str, str]:
    return one["encoding"], one["reference"], one["part"]


def faults(one: dict) -> list[str]:
    """Return a sentence for each difference that neither rounding nor an explanation covers."""
    label = ", ".join(key(one))
    over = [row for row in one["measured"] if not row["difference"] <= row["tolerance"]]
    if one["explanation"]:
        return [] if over else [f"{label}: explained, but there is no difference"]
    return [
        f"{label}: {row['quantity']} in {row['dtype']} differs by "
        f"{row['difference']:.2g}, rounding allows {row['tolerance']:.2g}"
        for row in over
    ]


def summary(one: dict) -> str:
    differences = " ".join(f"{row['difference']:8.1e}" for row in one["measured"])
    return f"{one['encoding']:28} {one['reference']:30} {one['part'][:48]:48} {differences}"


def dump(table: dict) -> str:
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def posenc_commit() -> str:
    """Return the commit of this checkout, marked if the package was changed since."""
    git = ["git", "-C", str(ROOT)]
    commit = [*git, "rev-parse", "--short=12", "HEAD"]
    changed = [*git, "status", "--porcelain", "--", "src", "peers"]
    read = {"check": True, "capture_output": True, "text": True}
    text = subprocess.run(commit, **read).stdout.strip()
    return f"{text} + changes" if subprocess.run(changed, **read).stdout.strip() else text


if __name__ == "__main__":
    sys.exit(main())
