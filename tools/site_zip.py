"""Pack the built site into one archive, _build/positional-encoding-book.zip, for a memory stick.

The same site gives the same bytes: files stand in order and bear no time of their own. Inside is
one folder; open `index.html` in it. Nothing is loaded from the network; search works too, only
without the lines of text around what it finds, because a browser does not let pages read files.
"""

import sys
import zipfile
from pathlib import Path

import built_site
from build_lock import alone

TARGET = built_site.ROOT / "_build" / "positional-encoding-book.zip"
FOLDER = "positional-encoding-book"
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that an archive can name
# For machines that build, publish or search: a memory stick has no addresses to be lost or shared.
LEFT_OUT = {".buildinfo", "objects.inv", ".nojekyll", "404.html", "robots.txt", "sitemap.xml"}
APART = {"_cards", "taken"}  # what is shown elsewhere, and what is taken apart from the site


def files(site: Path) -> list[Path]:
    """Return the files of a site that a reader needs, in order."""
    found = (
        path
        for path in site.rglob("*")
        if path.is_file() and path.name not in LEFT_OUT and not APART & set(path.parts)
    )
    return sorted(found, key=lambda path: path.relative_to(site).as_posix())


def pack(site: Path, target: Path) -> Path:
    """Write the archive of a site and return its path."""
    if not (site / "index.html").is_file():
        raise ValueError(
            f"site must be a folder with index.html, got {site}: run `make book` first"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files(site):
            name = f"{FOLDER}/{path.relative_to(site).as_posix()}"
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return target


def main() -> None:
    """Pack the site that is there."""
    try:
        pack(built_site.SITE, TARGET)
    except ValueError as error:
        sys.exit(str(error))
    print(f"{TARGET.stat().st_size / 1e6:.1f} MB: {TARGET}")


if __name__ == "__main__":
    with alone():
        main()
