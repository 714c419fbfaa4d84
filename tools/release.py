"""Let notebooks and links ask for the tag of a release, or for the main branch again.

    python tools/release.py v0.2.0    # in the commit that becomes the tag
    python tools/release.py main      # in the next one

The first cell of a notebook fetches the package from `repository.branch` in `_config.yml`, and
links of README, of pages and of notebooks open files there. With the tag in its place, a notebook
of a release gets the package of that release, however old it is when somebody opens it.
"""

import re
import sys
import tomllib
from pathlib import Path

import repository
from repository import ROOT


def stamp(new: str, root: Path = ROOT) -> list[Path]:
    """Write a tag or a branch wherever the present one stands; return the files changed."""
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    if not re.fullmatch(r"\w[\w./-]*", new, re.ASCII):
        raise ValueError(f"name must be that of a tag or branch, got {new!r}")
    if re.match(r"v?\d", new) and new != f"v{version}":
        raise ValueError(
            f"tag must be v{version}, since pyproject.toml has version {version}, got {new!r}"
        )
    config = root / "_config.yml"
    old, slug = repository.branch(config), repository.slug(repository.address(config))
    places = (f"{slug}/blob/%s/", f"{slug}/tree/%s/", f"{slug}/%s/", f"{slug}/%s?", f"{slug}@%s")
    swaps = {place % old: place % new for place in (*places, "\n  branch: %s\n")}
    return repository.replace(swaps, root)


def main(new: str) -> None:
    """Write the name, and print the files changed."""
    try:
        changed = stamp(new)
    except ValueError as error:
        sys.exit(str(error))
    for path in changed:
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name a tag, or main: python tools/release.py v0.2.0")
    main(sys.argv[1])
