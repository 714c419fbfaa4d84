"""A JSON file that says which command made it: replaced whole, and only by that command."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posenc_book import _files

MAKER = "made_by"


def read_own(path: Path, maker: str) -> dict[str, Any]:
    """Return what a file of a command's own holds."""
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


def write_own(path: Path, maker: str, content: Mapping[str, Any]) -> None:
    """Put a file in its place in one step; at any moment there is the old one or the new one."""
    read_own(path, maker)
    text = json.dumps({MAKER: maker, **content}, indent=1, allow_nan=False)
    _files.replace(path, text + "\n")
