"""Every test gets its own empty cache, no $POSENC_DATA, and nothing but the loopback network."""

import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from datafiles import TINY_TEST, TINY_TRAIN, Server, make_zip

from posenc_book.data import download, registry

REAL = os.environ.get("POSENC_DATA")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("POSENC_CACHE", str(cache))
    monkeypatch.delenv("POSENC_DATA", raising=False)
    monkeypatch.delenv("POSENC_OFFLINE", raising=False)
    return cache


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch):
    connect = socket.socket.connect

    def guarded(self, address):
        is_network = self.family in (socket.AF_INET, socket.AF_INET6)
        if is_network and address[0] not in ("127.0.0.1", "::1"):
            raise OSError(f"the tests may not connect to {address}")
        return connect(self, address)

    def resolve(host, *arguments, **options):
        if host not in ("127.0.0.1", "localhost", b"127.0.0.1"):
            raise socket.gaierror(f"the tests may not look up {host}")
        return lookup(host, *arguments, **options)

    lookup = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)


@pytest.fixture(scope="session")
def real():
    if not REAL:
        pytest.skip("POSENC_DATA is not set: the tests of the real bytes need it")
    return Path(REAL)


@pytest.fixture(scope="session")
def read_once(tmp_path_factory, worker_id):
    """Return one cache for all processes of a run: a large set is read from its text once."""
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "data-cache"


@pytest.fixture
def tiny_zip():
    return make_zip({"Tiny_TRAIN.ts": TINY_TRAIN, "Tiny_TEST.ts": TINY_TEST})


@pytest.fixture
def tiny_folder(tmp_path):
    folder = tmp_path / "data" / "Tiny"
    folder.mkdir(parents=True)
    (folder / "Tiny_TRAIN.ts").write_text(TINY_TRAIN)
    (folder / "Tiny_TEST.ts").write_text(TINY_TEST)
    return folder


@pytest.fixture
def register(monkeypatch):
    """Return a function that registers the set Tiny with the given sources."""

    def add(*sources, name="Tiny"):
        entry = registry.Entry(name, "archive", tuple((source,) for source in sources))
        monkeypatch.setitem(registry.ENTRIES, name, entry)
        return entry

    monkeypatch.setattr(download, "RETRIES", 0)
    return add


@pytest.fixture
def server():
    one = Server()
    yield one
    one.close()


@pytest.fixture
def zenodo(server, monkeypatch):
    """Return a function that publishes files as a Zenodo record on the local server."""
    monkeypatch.setattr(download, "API", f"{server.url}/records")

    def publish(files, lie=False):
        listed = [
            {
                "key": name,
                "checksum": f"md5:{hashlib.md5(b'lie' if lie else content).hexdigest()}",
                "links": {"self": server.put(name, content)},
            }
            for name, content in files.items()
        ]
        server.files["7"] = json.dumps({"id": 7, "files": listed}).encode()

    return publish


@pytest.fixture
def python(tmp_path):
    """Return a function that starts a Python process with Tiny registered at `url`."""

    def start(url, code):
        program = (
            "from posenc_book.data import download, load, registry\n"
            "from posenc_book.data.download import Url\n"
            "download.RETRIES = 0\n"
            f"entry = registry.Entry('Tiny', 'archive', ((Url({url!r}),),))\n"
            "registry.ENTRIES['Tiny'] = entry\n" + code
        )
        return subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )

    return start
