"""What is fetched from others is what the checksums say, and errors say what to do."""

import hashlib
import io
import tarfile

import pytest

import vendored


def package(content: bytes) -> vendored.Package:
    digest = hashlib.sha256(content).hexdigest()
    return vendored.Package("@some/thing", "1.0", digest, {"LICENSE": "thing-LICENSE"})


@pytest.fixture
def archive():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        entry = tarfile.TarInfo("package/LICENSE")
        entry.size = 4
        packed.addfile(entry, io.BytesIO(b"Free"))
    return buffer.getvalue()


def test_an_archive_is_fetched_once(monkeypatch, tmp_path, archive):
    asked = []
    monkeypatch.setattr(vendored, "_download", lambda address: asked.append(address) or archive)
    one = package(archive)
    assert one.fetch(tmp_path) == one.fetch(tmp_path) == archive
    assert asked == ["https://registry.npmjs.org/@some/thing/-/thing-1.0.tgz"]


def test_only_the_kept_files_are_unpacked(monkeypatch, tmp_path, archive):
    monkeypatch.setattr(vendored.Package, "fetch", lambda self: archive)
    package(archive).unpack(tmp_path)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        ("thing-LICENSE", b"Free")
    ]


def test_what_cannot_be_fetched_is_named_and_another_archive_stays_an_error(monkeypatch, tmp_path):
    def down(address):
        raise OSError(f"no way to {address}")

    monkeypatch.setattr(vendored, "_download", down)
    monkeypatch.setattr(vendored.Package.fetch, "__defaults__", (tmp_path,))
    assert vendored.missing().startswith(f"{vendored.REVEAL.file} is missing (no way to https:")
    (tmp_path / vendored.REVEAL.file).write_bytes(b"another")
    with pytest.raises(SystemExit, match="is not reveal"):
        vendored.missing()
