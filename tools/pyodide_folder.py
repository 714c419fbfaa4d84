"""Put all that runs code in the page into one folder: Python for the browser and its packages.

    python tools/pyodide_folder.py FOLDER    # a mirror, for `run_source` in _config.yml and tests
    python tools/pyodide_folder.py --pin     # write tools/pyodide.json anew, for another version

The site does not need it: a reader's browser takes the same files from the address in
`_config.yml`. The runtime is npm's package `pyodide`. The packages are those that its lock file
names: each comes from the official distribution or, where that cannot be reached, out of a wheel on
PyPI that carries the same files; whatever has another SHA-256 than the lock file says is refused.
What was fetched once lies in `.vendored/`. `tools/pyodide.json` holds the checksums and sizes that
pages are given.

Licences: Pyodide MPL-2.0; each package carries its own.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from functools import cache
from pathlib import Path

import vendored

PINS = Path(__file__).with_name("pyodide.json")
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
PACKAGES = ("numpy", "matplotlib", "scipy")  # what the pages may ask for
PACKAGE = vendored.Package(
    "pyodide",
    "314.0.3",
    "d7f7d24f8db486c7eda7280f3b0f7517524c8e43e8b086c6ee6ae8016658b484",
    {name: name for name in RUNTIME},
)
OFFICIAL = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
CARRIER = "open-webui==0.12.4"  # its wheel carries those of this version of Pyodide
CACHE = vendored.ARCHIVES / "pyodide"


@cache
def pins() -> dict:
    """Return version, runtime and wheels with the checksum and the size of each file."""
    return json.loads(PINS.read_text(encoding="utf-8"))


def closure(lock: dict, names: tuple[str, ...] | list[str]) -> dict[str, dict]:
    """Return the entries of a lock file for packages and all that they need, in order."""
    found, left = {}, list(names)
    while left:
        name = left.pop()
        if name not in lock["packages"]:
            raise ValueError(f"names must stand in Pyodide's lock file, got {name!r}")
        if name not in found:
            found[name] = lock["packages"][name]
            left += found[name]["depends"]
    return dict(sorted(found.items()))


def wheel(file: str, sha256: str) -> bytes:
    """Return a wheel from `.vendored/`, the official distribution, or the one that carries it.

    The command ends with the reason where none of them gives it.
    """
    kept = CACHE / file
    if not kept.is_file() or _sha256(kept.read_bytes()) != sha256:
        try:
            vendored.keep(kept, _official(file))
        except OSError:
            _unpack_carrier()
    if not kept.is_file():
        raise vendored.MissingError(f"{file} is missing: neither {_address()} nor PyPI gives it")
    content = kept.read_bytes()
    if (found := _sha256(content)) != sha256:
        sys.exit(f"{kept} is not what Pyodide's lock file names: its SHA-256 is {found}")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _address() -> str:
    return OFFICIAL.format(version=PACKAGE.version)


@cache
def _reachable() -> bool:
    """Return whether the official distribution answers, asked once."""
    try:
        with urllib.request.urlopen(f"{_address()}pyodide-lock.json", timeout=10):
            return True
    except OSError:
        return False


def _official(file: str) -> bytes:
    if not _reachable():
        raise OSError("not reachable")
    with urllib.request.urlopen(_address() + file, timeout=120) as answer:
        return answer.read()


@cache
def _unpack_carrier() -> None:
    """Take the wheels out of the wheel that carries them; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--retries=1",
            "-d",
            folder,
            CARRIER,
        ]
        subprocess.run([sys.executable, "-m", "pip", *command], check=False, capture_output=True)
        for path in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if "/pyodide/" in name and name.endswith(".whl"):
                        vendored.keep(CACHE / Path(name).name, archive.read(name))


def write(target: Path) -> Path:
    """Write runtime and wheels into a folder, each held against its checksum."""
    PACKAGE.unpack(target)
    lock = json.loads((target / "pyodide-lock.json").read_text(encoding="utf-8"))
    for entry in closure(lock, PACKAGES).values():
        path = target / entry["file_name"]
        path.write_bytes(wheel(entry["file_name"], entry["sha256"]))
    return target


def missing(target: Path) -> str:
    """Write the folder and return why it cannot be had; empty if it is there."""
    try:
        write(target)
    except vendored.MissingError as error:
        return str(error)
    return ""


def described(folder: Path) -> dict:
    """Return what `tools/pyodide.json` holds of a folder that `write` made."""
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    wheels = {
        name: {
            "file": entry["file_name"],
            "needs": list(closure(lock, [name])),
            **_of(folder / entry["file_name"]),
        }
        for name, entry in closure(lock, PACKAGES).items()
    }
    runtime = {name: _of(folder / name) for name in RUNTIME}
    return {"version": PACKAGE.version, "runtime": runtime, "wheels": wheels}


def _of(path: Path) -> dict:
    content = path.read_bytes()
    return {"sha256": _sha256(content), "bytes": len(content)}


def main() -> None:
    """Write the folder, or the checksums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where the files go")
    parser.add_argument("--pin", action="store_true", help="write tools/pyodide.json anew")
    options = parser.parse_args()
    if options.pin:
        with tempfile.TemporaryDirectory() as folder:
            text = json.dumps(described(write(Path(folder))), indent=1)
        PINS.write_text(f"{text}\n", encoding="utf-8")
    elif options.folder:
        found = list(write(options.folder).iterdir())
        size = sum(path.stat().st_size for path in found) / 1e6
        print(f"{len(found)} files, {size:.1f} MB: {options.folder}")
    else:
        parser.error("name a folder")


if __name__ == "__main__":
    main()
