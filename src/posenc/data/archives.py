"""Unpack zip archives that may be hostile."""

import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from posenc.data.errors import ArchiveError

# the largest set in the registry unpacks to under 4 GB; more than this is an accident or an attack
MAX_BYTES = 16 * 2**30


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the zip file `archive` into `folder`.

    Raises ArchiveError, before anything is written, if a member has an absolute path, climbs out
    with `..`, is a link, or if all members together exceed MAX_BYTES; and for damaged archives.
    """
    try:
        with zipfile.ZipFile(archive) as content:
            members = content.infolist()
            for member in members:
                _check_member(archive, member)
            total = sum(member.file_size for member in members)
            if total > MAX_BYTES:
                raise ArchiveError(f"{archive.name}: would unpack to {total / 2**30:.0f} GiB")
            for member in members:
                _unpack_member(content, member, folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ArchiveError(f"{archive.name}: not a usable zip archive ({error})") from error


def _check_member(archive: Path, member: zipfile.ZipInfo) -> None:
    name = member.filename.replace("\\", "/")
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ":" in name or ".." in parts:
        raise ArchiveError(f"{archive.name}: member {name!r} would leave the data folder")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ArchiveError(f"{archive.name}: member {name!r} is a link")


def _unpack_member(content: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    target = folder / member.filename.replace("\\", "/")
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with content.open(member) as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
