"""A JSON file that says which command made it: replaced whole, and only by that command."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posenc import _files

MAKER = "made_by"


def read(path: Path, maker: str) -> dict[str, Any]:
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
        stored = json.loads(_files.text(path))
    except (ValueError, RecursionError):
        stored = None
    if not isinstance(stored, dict) or stored.get(MAKER) != maker:
        raise ValueError(
            f"{path} was not written by {maker}: name another --out; it was left as it is"
        )
    return stored


def write(path: Path, maker: str, content: Mapping[str, Any]) -> None:
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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "mine.json", "me", {"n": 1})
    ...     read(Path(folder) / "mine.json", "me")
    {'made_by': 'me', 'n': 1}
    """
    read(path, maker)
    text = json.dumps({MAKER: maker, **content}, indent=1, allow_nan=False)
    _files.replace(path, text + "\n")
