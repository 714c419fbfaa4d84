"""Fuzz readers with atheris, which keeps a damaged file where it led to lines of code not yet seen.

    export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu  # on Linux: torch without CUDA
    python -m venv _build/fuzz
    _build/fuzz/bin/python -m pip install atheris -c requirements.txt -e ".[test]"
    _build/fuzz/bin/python tools/fuzz.py --list
    _build/fuzz/bin/python tools/fuzz.py ts zip results claims --seconds 300

Each reader gets a process of its own. It must give a value or its own error, which names the file,
and soon. The file that makes it do anything else is kept, and its path printed: it belongs into a
test. Atheris is made for few versions of Python; where it cannot be installed,
`POSENC_FUZZ=5000 python -m pytest tests/data/test_data_fuzz.py tests/site/test_ledger_fuzz.py`
draws damage without looking at the code.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "_build" / "fuzzed"
WATCHED = ["posenc", "ledger", "yaml", "zipfile", "csv", "gzip", "json"]
LARGEST = 4096  # bytes of a damaged file: a fault that needs more is rare, and slow to find
CLAIMS = "- id: B2\n  source: B\n  place: Eq. 1\n  find: two words\n  claim: It is.\n"


def read_claims(path: Path) -> object:
    """Read a file of claims; its error is a value, too."""
    import ledger

    try:
        return ledger.read(path)
    except ledger.LedgerError as error:
        said = str(error)
    assert path.name in said
    assert len(said) < 10_000
    return said


def readers() -> dict[str, tuple[Callable[[Path], object], bytes, str]]:
    """Return, by name, what reads a file and judges the answer, a file in order, and its ending."""
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "data")]
    from readers import READERS, judged

    import ledger  # noqa: F401 - with the others, while atheris looks

    found = {
        name: (lambda path, one=one: judged(one, path), one.good, one.ending)
        for name, one in READERS.items()
    }
    return {**found, "claims": (read_claims, CLAIMS.encode(), ".yml")}


def fuzz(name: str, seconds: int) -> None:
    """Damage files until the time is over or one of them makes the reader fail."""
    import atheris

    with atheris.instrument_imports(include=WATCHED, enable_loader_override=False):
        read, good, ending = readers()[name]
    folder = FOLDER / name.replace(" ", "-")
    kept = folder / "kept"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "in-order").write_bytes(good)
    path = folder / f"Tiny{ending}"

    def once(content: bytes) -> None:
        path.write_bytes(content)
        read(path)

    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LARGEST}",
        "-timeout=60",
        "-rss_limit_mb=0",
    ]
    options += [f"-artifact_prefix={folder}/", "-print_final_stats=1", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, str(kept)], once)
    atheris.Fuzz()


def main() -> int:
    """Fuzz the readers named, one after the other, and return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="readers; all of them if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--list", action="store_true", help="name the readers and end")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.here:
        fuzz(wanted.names[0], wanted.seconds)
        return 0
    known = readers()
    if wanted.list:
        print(*known, sep="\n")
        return 0
    if unknown := [name for name in wanted.names if name not in known]:
        parser.error(f"there is no reader {unknown[0]!r}; there are {', '.join(known)}")
    failed = 0
    for name in wanted.names or known:
        command = [sys.executable, __file__, name, "--here", "--seconds", str(wanted.seconds)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        runs = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
        count = runs[0].split()[-1] if runs else "no"
        print(
            f"{name}: {count} files, {'failed' if done.returncode else 'none failed'}", flush=True
        )
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-3000:], sep="\n", flush=True)
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
