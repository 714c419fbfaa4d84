"""Run a command whose notebooks find their libraries imported: kernels are forks of one process.

    python tools/warm_kernels.py python -m pytest --nbval book/rotary.ipynb

A kernel by itself imports torch and all else for some four seconds, and there are fifty notebooks.
A fork is as fresh as a kernel: nothing has run in it but the imports, and none of the book's.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SOCKET = "kernels.sock"
IMPORTED = (
    "torch._dynamo",  # brought by the first optimizer of a process
    "scipy.signal",
    "scipy.stats",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "PIL.PngImagePlugin",
)
BACKEND = "module://matplotlib_inline.backend_inline"  # what a kernel gives its matplotlib
LAUNCH = """\
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
asked = {"argv": sys.argv[2:], "cwd": os.getcwd(), "environ": dict(os.environ)}
server.sendall(json.dumps(asked).encode() + b"\\n")
pid = int(server.makefile().readline())
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda got, _: os.kill(pid, got))
server.recv(1)  # nothing comes before the kernel has ended
"""


def serve(path: Path) -> None:
    """Import what kernels need, then fork a kernel for each connection."""
    from ipykernel.kernelapp import IPKernelApp

    os.environ.setdefault("MPLBACKEND", BACKEND)  # read at the import
    for name in IMPORTED:
        __import__(name)
    gc.collect()
    gc.freeze()  # else each fork looks through all of this, and copies it by doing so
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kernels that end leave nothing behind
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"{path}.new")
    server.listen()
    os.rename(f"{path}.new", path)  # it is there once it answers
    while True:
        connection, _ = server.accept()
        asked = json.loads(connection.makefile().readline())
        pid = os.fork()
        if pid == 0:
            server.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection.sendall(f"{os.getpid()}\n".encode())
            os.environ.clear()
            os.environ.update(asked["environ"])
            os.chdir(asked["cwd"])
            threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
            IPKernelApp.launch_instance(asked["argv"])
            os._exit(0)
        connection.close()


def _end_with(connection: socket.socket) -> None:
    """End the kernel when the process that stands for it is killed."""
    connection.recv(1)
    os._exit(1)


def spec(folder: Path) -> None:
    """Write the kernel `python3` that asks the server instead of starting by itself."""
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-S", "-c", LAUNCH, str(folder / SOCKET), "-f", "{connection_file}"]
    known = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(known), encoding="utf-8")


def main(command: list[str]) -> int:
    """Run a command beside a server of kernels, and return its exit status."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec(folder)
        server = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(folder / SOCKET)], stdout=subprocess.DEVNULL
        )
        while not (folder / SOCKET).exists():
            try:
                server.wait(0.1)
                return server.returncode or 1
            except subprocess.TimeoutExpired:
                pass
        where = os.pathsep.join([name, *filter(None, [os.environ.get("JUPYTER_PATH")])])
        try:
            return subprocess.call(command, env=os.environ | {"JUPYTER_PATH": where})
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
