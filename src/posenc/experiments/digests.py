"""The scores that an edition was made of are locked: a changed line is refused when it is read.

`edition.json` holds, for each file of scores in its folder, how many lines it had and a digest of
them. A file may grow behind these lines, as new trainings are appended; what was there stays.
Editions 2 and 3 and forecasting have such a file each, written by the command that it names.
"""

import datetime
import hashlib
import json
from functools import cache
from pathlib import Path

from posenc import _files

FILE = "edition.json"
COMMAND = "python -m posenc.experiments.classification.edition"


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
