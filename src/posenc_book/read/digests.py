"""All results are locked: a changed line of scores is refused when it is read, and a test asks all.

    python -m posenc_book.read.digests                     # which files are not what was locked
    python -m posenc_book.read.digests --lock peers.json   # what its command has made anew

`edition.json` holds, for each file of scores in its folder, how many lines it had and a digest of
them. A file may grow behind these lines, as new trainings are appended; what was there stays.
Editions 2 and 3 and forecasting have such a file each, written by the command that it names.

`lock.json` holds the same for every file that no edition locks, the editions among them, with the
command that makes it and the commit that stored it.
"""

import argparse
import datetime
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from posenc._wall import behind
from posenc_book import _files

FILE = "edition.json"
LOCK = "lock.json"
COMMAND = "python -m posenc_book.read.classification.edition"
LOCKING = "python -m posenc_book.read.digests --lock"


def of_folder(folder: Path) -> dict[str, str]:
    """Return the digest of every file of scores in a folder of results, by name."""
    files = sorted((*folder.glob("*.jsonl"), *folder.glob("baselines/*.jsonl")))
    return {_name(path, folder): digest(path) for path in files}


def digest(path: Path, n_lines: int | None = None) -> str:
    """Return the number of lines of a file and a hash of them, such as "220 lines, 9f86d081..."."""
    lines = _whole(path).replace(b"\r\n", b"\n").splitlines()[:n_lines]
    hashed = hashlib.sha256(b"\n".join(lines)).hexdigest()
    return f"{len(lines)} lines, {hashed[:16]}"


def lock(folder: Path, name: str, command: str, **hashes: str) -> Path:
    """Write the digests of all files of a folder, and return where they stand.

    `command` is what writes them; `hashes` are of the protocol.
    """
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    scores = of_folder(folder)
    stored = {"name": name, "date": today, "command": command, **hashes, "scores": scores}
    path = folder / FILE
    _files.replace(path, json.dumps(stored, indent=2) + "\n")
    return path


def check(path: Path, folder: Path) -> None:
    """Raise ValueError if lines of a file of results are not those that the edition was made of."""
    edition = folder / FILE
    if not edition.is_file():
        return
    name, command, locked = _locked(edition, edition.stat().st_mtime_ns)
    wanted = locked.get(_name(path, folder))
    if wanted is None:
        return
    there = digest(path, int(wanted.split()[0]))
    if there != wanted:
        raise ValueError(
            f"{path} must begin with the scores that edition {name} was made of ({wanted}), got "
            f"{there}: a line was changed or taken away. Take the file back from version control; "
            f"if the change is meant, run {command}"
        )


def check_all(folder: Path) -> list[str]:
    """Return what is wrong with the files of a folder of results, a sentence for each."""
    whole, faults = locks(folder), []
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json*")}
    for name in sorted((there | whole.keys()) - {LOCK}):
        try:
            if name in whole:
                _check_whole(folder / name, name, whole[name])
            else:
                _check_scores(folder / name, folder)
        except ValueError as error:
            faults.append(str(error))
    return faults


def locks(folder: Path) -> dict[str, dict[str, str]]:
    """Return what is locked as a whole, by name: `digest`, `command` and `commit`."""
    return json.loads(_files.text(folder / LOCK))


def _check_whole(path: Path, name: str, lock: dict[str, str]) -> None:
    there = digest(path) if path.is_file() else "no file"
    if there != lock.get("digest"):
        raise ValueError(
            f"{path} must hold what was locked ({lock.get('digest', 'nothing yet')}), got {there}. "
            f"Take it back from version control; if `{lock['command']}` has made it anew, run "
            f"{LOCKING} {name}"
        )


def _check_scores(path: Path, folder: Path) -> None:
    """Raise ValueError unless an edition locks a file, which is as it was."""
    own = path.parent if (path.parent / FILE).is_file() else folder
    _, _, locked = _locked(own / FILE, (own / FILE).stat().st_mtime_ns)
    n_locked = int(locked.get(_name(path, own), "0").split()[0])
    if path.suffix != ".jsonl" or _whole(path).count(b"\n") > n_locked:  # none, or not all lines
        name = path.relative_to(folder).as_posix()
        raise ValueError(
            f'{path} must be locked: write "{name}": {{"command": "what makes it"}} into '
            f"{folder / LOCK}, and run {LOCKING} {name}"
        )
    check(path, own)


def lock_again(names: Sequence[str], folder: Path) -> None:
    """Lock files of a folder of results as they are now, and say at which commit."""
    whole = locks(folder)
    for name in names:
        if name not in whole or not (folder / name).is_file():
            known = ", ".join(whole)
            raise ValueError(
                f"--lock must name files that {folder / LOCK} has ({known}), got {name!r}"
            )
        whole[name] |= {"digest": digest(folder / name), "commit": _commit(folder)}
    lines = (f"{json.dumps(name)}: {json.dumps(lock)}" for name, lock in sorted(whole.items()))
    _files.replace(folder / LOCK, "{\n  " + ",\n  ".join(lines) + "\n}\n")


def _commit(folder: Path) -> str:
    """Return the commit that is checked out, or that none is known."""
    command = ["git", "-C", str(folder), "rev-parse", "--short=8", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "not known"


@cache
def _locked(edition: Path, _changed: int) -> tuple[str, str, dict[str, str]]:
    stored = json.loads(_files.text(edition))
    name = stored["name"]
    return name, stored.get("command", f"{COMMAND} {name}"), stored.get("scores", {})


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _whole(path: Path) -> bytes:
    with _files.opened(path, unpack=False) as file:
        return file.read()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print which files are not what was locked; return how many, at most 1."""
    parser = argparse.ArgumentParser(prog="python -m posenc_book.read.digests")
    parser.add_argument("--folder", type=Path, default=Path("results"), help="the results")
    parser.add_argument("--lock", nargs="+", metavar="FILE", default=(), help="lock these anew")
    options = parser.parse_args(arguments)
    try:
        lock_again(options.lock, options.folder)
        faults = check_all(options.folder)
    except (ValueError, OSError) as error:
        print(f"posenc_book.read.digests: {error}", file=sys.stderr)
        return 2
    print("\n".join(faults) or "all files are what was locked")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(behind(main))
