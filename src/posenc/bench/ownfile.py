"""A JSON file that says which command made it: replaced whole, and only by that command."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

MAKER = "made_by"


def read(path: Path, maker: str) -> dict[str, object]:
    """Return what a file of a command's own holds.

    Parameters
    ----------
    path : pathlib.Path
    maker : str
        The command.

    Returns
    -------
    dict
        Empty if there is no file.

    Raises
    ------
    ValueError
        If the file is somebody else's.

    Examples
    --------
    >>> read(Path("nowhere.json"), "python -m posenc.bench agree")
    {}
    """
    if not path.exists():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (ValueError, RecursionError):
        stored = None
    if not isinstance(stored, dict) or stored.get(MAKER) != maker:
        raise ValueError(
            f"{path} was not written by {maker}: name another --out; it was left as it is"
        )
    return stored


def write(path: Path, maker: str, content: Mapping[str, object]) -> None:
    """Put a file in its place in one step; at any moment there is the old one or the new one.

    Parameters
    ----------
    path : pathlib.Path
        Made with its folder if need be.
    maker : str
        The command.
    content : mapping
        JSON values.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If there is a file that is somebody else's, or a number is not finite.
    OSError
        If the file cannot be written; an old one is then as it was.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "mine.json", "me", {"n": 1})
    ...     read(Path(folder) / "mine.json", "me")
    {'made_by': 'me', 'n': 1}
    """
    read(path, maker)
    text = json.dumps({MAKER: maker, **content}, indent=1, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # of temporary files it is 0o600
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
