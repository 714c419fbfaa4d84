"""Fetch MathJax from the npm registry and keep the few files that the site needs.

    python tools/vendor_mathjax.py            # write book/_assets/mathjax/ anew and check it
    python tools/vendor_mathjax.py --check    # check the files that are there

The list of checksums makes the result the same everywhere. `npm` is needed only for fetching.
"""

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "3.2.2"
TARGET = Path(__file__).resolve().parent.parent / "book" / "_assets" / "mathjax"
CHECKSUMS = Path(__file__).with_name("mathjax.sha256")
EXTENSIONS = ("boldsymbol", "cancel", "color")


def wanted(member: str) -> str | None:
    """Return where a file of the package is kept, or None if the site does not need it."""
    if member == "package/LICENSE":
        return "LICENSE"
    path = member.removeprefix("package/es5/")
    extensions = [f"input/tex/extensions/{name}.js" for name in EXTENSIONS]
    fonts = path.startswith("output/chtml/fonts/woff-v2/")
    return path if fonts or path == "tex-chtml.js" or path in extensions else None


def fetch() -> dict[str, bytes]:
    """Return the wanted files of the npm package."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", f"mathjax@{VERSION}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        archive = next(Path(folder).glob("*.tgz")).read_bytes()
    with tarfile.open(fileobj=io.BytesIO(archive)) as package:
        kept = {wanted(member.name): member for member in package if wanted(member.name)}
        return {path: package.extractfile(member).read() for path, member in sorted(kept.items())}


def differences() -> list[str]:
    """Return what the folder and the list of checksums disagree about; empty if nothing."""
    lines = CHECKSUMS.read_text().splitlines()
    listed = {path: digest for digest, path in (line.split("  ", 1) for line in lines)}
    present = {p.relative_to(TARGET).as_posix(): p for p in TARGET.rglob("*") if p.is_file()}
    wrong = [f"missing: {path}" for path in listed.keys() - present.keys()]
    wrong += [f"not in the list: {path}" for path in present.keys() - listed.keys()]
    for path in listed.keys() & present.keys():
        if hashlib.sha256(present[path].read_bytes()).hexdigest() != listed[path]:
            wrong.append(f"changed: {path}")
    return sorted(wrong)


def main() -> None:
    """Fetch unless asked to check only; end with an error if a file is not as listed."""
    if "--check" not in sys.argv[1:]:
        for path, content in fetch().items():
            destination = TARGET / path
            destination.parent.mkdir(parents=True, exist_ok=True)
            destination.write_bytes(content)
    wrong = differences()
    if wrong:
        sys.exit("MathJax is not as tools/mathjax.sha256 lists it:\n" + "\n".join(wrong))
    print(f"MathJax {VERSION}: every file as listed")


if __name__ == "__main__":
    main()
