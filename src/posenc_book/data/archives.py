"""Unpack zip archives that may be hostile."""

import errno
import lzma
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from posenc_book import _files
from posenc_book.data.errors import ArchiveError

# the largest set in the registry unpacks to under 4 GB; more than this is an accident or an attack
MAX_BYTES = 16 * 2**30
MAX_MEMBERS = 100_000
MAX_DEPTH = 32  # folders inside folders
MAX_NAME = 255  # bytes of one part of a path: what file systems take
MAX_PATH = 1000  # bytes of all parts: with the folder in front, what operating systems take


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the zip file `archive` into `folder`.

    Raises ArchiveError, before anything is written, if a member has an absolute path, climbs out
    with `..`, is a link, is encrypted, or has a name that no file can have; if there are too many
    members, or together they exceed MAX_BYTES; and for damaged archives.
    """
    try:
        _files.check_regular(archive, _error)
        with zipfile.ZipFile(archive) as content:
            members = content.infolist()
            _check_size(archive, members)
            for member in members:
                _check_member(archive, member)
            for member in members:
                _unpack_member(content, member, folder)
    except ArchiveError:
        raise
    except _DAMAGE as error:
        raise ArchiveError(f"{archive.name}: not a usable zip archive ({error})") from error
    except OSError as error:
        # None and EINVAL are what bz2, and wrong offsets, make of damage
        if error.errno in (None, errno.EINVAL, errno.ENAMETOOLONG):
            raise ArchiveError(f"{archive.name}: not a usable zip archive ({error})") from error
        raise


def _error(archive: Path, _: int | None, problem: str) -> ArchiveError:
    return ArchiveError(f"{archive.name}: {problem}")


# FileExistsError and its kin: one member wants as a folder what another wants as a file
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError),
    *(UnicodeError, ValueError, FileExistsError, IsADirectoryError, NotADirectoryError),
)


def _check_size(archive: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_MEMBERS:
        raise ArchiveError(f"{archive.name}: has {len(members):,} members, over {MAX_MEMBERS:,}")
    total = sum(member.file_size for member in members)
    if total > MAX_BYTES:
        raise ArchiveError(f"{archive.name}: would unpack to {total / 2**30:.0f} GiB")


def _check_member(archive: Path, member: zipfile.ZipInfo) -> None:
    name = member.filename.replace("\\", "/")
    said = repr(name if len(name) < 80 else name[:77] + "...")
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ":" in name or ".." in parts:
        raise ArchiveError(f"{archive.name}: member {said} would leave the data folder")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ArchiveError(f"{archive.name}: member {said} is a link")
    if member.flag_bits & 1:
        raise ArchiveError(f"{archive.name}: member {said} is encrypted")
    sizes = [len(part.encode(errors="replace")) for part in parts]
    if not parts or max(sizes) > MAX_NAME:
        raise ArchiveError(f"{archive.name}: member {said} has a name that no file can have")
    if len(parts) > MAX_DEPTH:
        raise ArchiveError(f"{archive.name}: member {said} lies {len(parts)} folders deep")
    if sum(sizes) + len(sizes) > MAX_PATH:
        raise ArchiveError(f"{archive.name}: member {said} has a path that no file can have")


def _unpack_member(content: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    target = folder / member.filename.replace("\\", "/")
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with content.open(member) as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
