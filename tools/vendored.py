"""What slides and PDF take from others: reveal.js and three families of type, fetched once.

The archives are those of the npm registry, but npm is not needed. They are kept in `.vendored/`
and held against their checksums at each use, so slides and PDF are the same everywhere, and nothing
of others is part of the repository. Without a network, put the archives into that folder by hand.

Licences: reveal.js MIT; Source Serif, Source Sans and Source Code Pro SIL Open Font License. The
text of each is written beside the files.
"""

import hashlib
import io
import os
import sys
import tarfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from repository import ROOT

ARCHIVES = ROOT / ".vendored"
REGISTRY = "https://registry.npmjs.org/"


class MissingError(SystemExit):
    """An archive that neither the folder nor the registry gives; ends a command with the reason."""


def keep(path: Path, content: bytes) -> None:
    """Write a file at once, so that who reads beside us finds all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


@dataclass(frozen=True)
class Package:
    """One archive of the registry, and which of its files are kept under which names."""

    name: str
    version: str
    sha256: str
    kept: dict[str, str]

    @property
    def file(self) -> str:
        """The archive's name."""
        return f"{self.name.rpartition('/')[2]}-{self.version}.tgz"

    @property
    def address(self) -> str:
        """Where the registry has it."""
        return f"{REGISTRY}{self.name}/-/{self.file}"

    def fetch(self, folder: Path = ARCHIVES) -> bytes:
        """Return the archive from the folder or, the first time, from the registry.

        The command ends with what to do where neither gives it, or where it is another one.
        """
        path = folder / self.file
        try:
            content = path.read_bytes() if path.is_file() else _download(self.address)
        except OSError as error:
            raise MissingError(
                f"{self.file} is missing ({error}). Put {self.address} at {path} by hand."
            ) from error
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            sys.exit(f"{path} is not {self.name} {self.version}: its SHA-256 is {found}")
        if not path.is_file():
            keep(path, content)
        return content

    def unpack(self, target: Path) -> None:
        """Write the kept files into a folder."""
        target.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(self.fetch())) as archive:
            for member, name in self.kept.items():
                (target / name).write_bytes(archive.extractfile(f"package/{member}").read())


def _download(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read()


REVEAL = Package(
    "reveal.js",
    "6.0.2",
    "2f0c20bfb02447a198a1ebe8a8c097a5437d035caa38f2820bf4ba887a3eac91",
    {
        "LICENSE": "LICENSE",
        "dist/reset.css": "reset.css",
        "dist/reveal.css": "reveal.css",
        "dist/reveal.js": "reveal.js",
        "dist/plugin/notes.js": "notes.js",
    },
)
FACES = [
    (subset, weight, style)
    for subset in ("latin", "greek")
    for weight in (400, 600)
    for style in ("normal", "italic")
]
RANGES = {"latin": "U+0000-036F, U+1E00-1EFF, U+2000-21FF", "greek": "U+0370-03FF"}


def _type(name: str, sha256: str) -> Package:
    files = [f"{name}-{subset}-{weight}-{style}.woff2" for subset, weight, style in FACES]
    kept = {"LICENSE": f"{name}-LICENSE", **{f"files/{file}": file for file in files}}
    return Package(f"@fontsource/{name}", "5.3.1", sha256, kept)


TYPE = {
    "Source Serif": _type(
        "source-serif-4", "54b7898afa20cf4b2d807bbf2b5a2f865e28a83db8a5fcc563dafce5ecb5e7c8"
    ),
    "Source Sans": _type(
        "source-sans-3", "b598201d980b3512805bbea186aab8ef91590d59990e6a13c90e030b6ff37881"
    ),
    "Source Code": _type(
        "source-code-pro", "52ff8925aa275d3d28b745760ab78e9ac11276a477c909f1a8e703e0902afcc4"
    ),
}


def missing() -> str:
    """Return why reveal.js or a family of type cannot be had; empty if all are there."""
    try:
        for package in (REVEAL, *TYPE.values()):
            package.fetch()
    except MissingError as error:
        return str(error)
    return ""


def write_type(target: Path) -> None:
    """Write the families of type into a folder, with a style sheet `type.css` that names them."""
    rules = []
    for family, package in TYPE.items():
        package.unpack(target)
        name = package.name.rpartition("/")[2]
        for subset, weight, style in FACES:
            rules.append(
                f'@font-face {{ font-family: "{family}"; font-weight: {weight}; '
                f"font-style: {style}; unicode-range: {RANGES[subset]}; "
                f"src: url({name}-{subset}-{weight}-{style}.woff2); }}\n"
            )
    (target / "type.css").write_text("".join(rules), encoding="utf-8")
