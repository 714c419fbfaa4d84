"""Where data sets lie on this machine."""

import importlib.util
import os
import sys
from pathlib import Path


def cache() -> Path:
    """Return $POSENC_CACHE, or else the folder the platform keeps caches in. It may not exist."""
    given = os.environ.get("POSENC_CACHE")
    if given:
        return Path(given).expanduser()
    # the same folders as pooch.os_cache, which would cost its import at every load
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "posenc"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")
        return Path(local) / "posenc" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "posenc"


def bundled() -> Path | None:
    """Return the folder of the data sets that come with aeon, or None without aeon."""
    # find_spec does not import aeon, which would take seconds
    found = importlib.util.find_spec("aeon")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "datasets" / "data"


def search() -> list[tuple[str, Path]]:
    """Return (what it is, folder) in the order in which data sets are looked for."""
    places = []
    if os.environ.get("POSENC_DATA"):
        places.append(("$POSENC_DATA", Path(os.environ["POSENC_DATA"]).expanduser()))
    places.append(("cache", cache() / "sets"))
    if (own := bundled()) is not None:
        places.append(("aeon", own))
    return places
