"""Run one foreign program where it can harm nothing and read nothing, or do not run it at all.

The program gets its own user, mount, process, network, IPC and host-name namespaces, a read-only
root that holds Python and its libraries only, no `/proc`, no capability, one process with one
thread, and limits of memory, time, files and output. What it can do is think and write to one
pipe. Where the system forbids any of this, `Unprotected` is raised before the program starts.

Two processes stand between the marker and the program. The *warden* (`python sandbox.py`) makes
the namespaces, forks, and kills the whole process namespace when time is up. The *inmate* is
process 1 of that namespace: it builds the root, drops every right and becomes the program.
"""

import contextlib
import ctypes
import errno
import json
import os
import platform
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

MARK = "refused: "
INSIDE = 1000  # user and group in the sandbox
NOBODY = 65534  # who that is outside, where the marker is run by root

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH, AT_RECURSIVE = 2, 0x8000
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
MOUNT_SETATTR = 442  # one number on every architecture

PATIENCE = 5.0  # seconds that a program may take to end once it has closed its output

# What the limits cannot hold is denied: new processes and namespaces, memory that no limit counts,
# sockets, kernel keys, and doors into the kernel that no assignment needs. For each architecture
# its mark, the number of pivot_root, and the numbers of, in order: shmget, shmat, shmctl, socket,
# socketpair, clone, semget, msgget, ptrace, mount, umount2, add_key, request_key, keyctl, unshare,
# perf_event_open, setns, process_vm_readv, process_vm_writev, memfd_create, bpf, userfaultfd
# (and fork, vfork where they exist). COMMON has one number everywhere: io_uring, new mounts,
# pidfd_open, memfd_secret.
# fmt: off
CALLS = {
    "x86_64": (
        0xC000003E,
        155,
        [29, 30, 31, 41, 53, 56, 64, 68, 101, 165, 166, 248, 249, 250, 272, 298, 308, 310, 311,
         319, 321, 323, 57, 58],
    ),
    "aarch64": (
        0xC00000B7,
        41,
        [194, 196, 195, 198, 199, 220, 190, 186, 117, 40, 39, 217, 218, 219, 97, 241, 268, 270,
         271, 279, 280, 282],
    ),
}
# fmt: on
COMMON = [*range(425, 435), MOUNT_SETATTR, 447]
CLONE3, X32 = 435, 0x40000000


class Unprotected(RuntimeError):
    """The system does not permit what the sandbox needs, so nothing was run."""


@dataclass(frozen=True)
class Limits:
    """What one run may use: seconds, bytes and open files."""

    seconds: float = 120.0  # of the whole run
    step_seconds: float = 30.0  # between two lines of output
    memory: int = 2 << 30  # address space
    output: int = 8 << 20  # what it may write to us
    files: int = 64
    file_bytes: int = 16 << 20
    scratch_bytes: int = 32 << 20


@dataclass
class Outcome:
    """What came out: the lines written, and how the run ended."""

    lines: list[bytes]
    ended: str  # "finished", "died", "time", "step", "output"
    seconds: float
    status: int | None = None


def visible(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return place in the sandbox -> place outside of all that the program may read.

    Python, its packages and the system's libraries stand where they stand outside; `extra` adds
    folders or files. Nothing else of this machine exists in the sandbox.
    """
    system = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/dev/null", "/dev/urandom"]
    found = {}
    for place in [*system, sys.base_prefix, sys.base_exec_prefix, sys.prefix]:
        path = os.path.realpath(place)
        if os.path.exists(path):
            found |= {path: path, place: path}
    return found | {inside: os.path.realpath(path) for inside, path in (extra or {}).items()}


def must_stay_hidden(secrets: list[Path], shown: dict[str, str]) -> None:
    """Raise where a secret lies within something that the program could read."""
    for secret in secrets:
        for place in map(Path, shown.values()):
            if Path(os.path.realpath(secret)).is_relative_to(place):
                raise Unprotected(
                    f"{secret} lies within {place}, which a submission can read; move it elsewhere."
                )


def run(
    program: str,
    request: bytes,
    limits: Limits | None = None,
    shown: dict[str, str] | None = None,
) -> Outcome:
    """Run a Python program in the sandbox, give it `request`, and collect the lines it writes.

    Parameters
    ----------
    program
        Python source; it reads its request from standard input and answers on standard output.
    request
        What stands on its standard input, in bytes.
    limits
        What it may use.
    shown
        Place inside -> place outside of what it may read; `visible()` where nothing is said.

    Raises
    ------
    Unprotected
        Where the system forbids a part of the protection. The program was not started.
    """
    limits = limits or Limits()
    if not sys.platform.startswith("linux") or platform.machine() not in CALLS:
        raise Unprotected(
            "marking needs Linux on x86_64 or aarch64, "
            f"this is {sys.platform} on {platform.machine()}"
        )
    with tempfile.TemporaryDirectory(prefix="marking-") as folder:
        path = Path(folder, "request")
        path.write_bytes(request)
        ask = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        plan = {
            "root": folder,
            "program": program,
            "python": sys.executable,
            "shown": visible() if shown is None else shown,
            "limits": asdict(limits),
        }
        warden = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"REQUEST_FD": str(ask)},
            pass_fds=[ask],
            cwd="/",
            start_new_session=True,
        )
        try:
            with contextlib.suppress(BrokenPipeError), warden.stdin as pipe:
                pipe.write(json.dumps(plan).encode())
            outcome = collect(warden, limits)
            stop(warden, patience=PATIENCE if outcome.ended == "finished" else 0.0)
        finally:
            stop(warden)
            os.close(ask)
            complaint = warden.stderr.read(2000).decode(errors="replace")
            warden.stdout.close()
            warden.stderr.close()
    if complaint:  # only the warden can write there, never the program
        raise Unprotected(complaint.strip().splitlines()[-1].removeprefix(MARK))
    outcome.status = warden.returncode
    if outcome.ended == "finished" and outcome.status != 0:
        outcome.ended = "died"
    return outcome


def collect(warden: subprocess.Popen, limits: Limits) -> Outcome:
    """Read what the program writes until it ends or one of its limits is reached."""
    start = last = time.monotonic()
    held, ended, fd = bytearray(), "finished", warden.stdout.fileno()
    while True:
        now = time.monotonic()
        left = min(start + limits.seconds, last + limits.step_seconds) - now
        if left <= 0:
            ended = "time" if now - start >= limits.seconds else "step"
            break
        if not select.select([fd], [], [], left)[0]:
            continue
        piece = os.read(fd, 1 << 16)
        if not piece:
            break
        held += piece
        if len(held) > limits.output:
            ended = "output"
            break
        if b"\n" in piece:
            last = time.monotonic()
    return Outcome(bytes(held[: limits.output]).splitlines(), ended, time.monotonic() - start)


def stop(warden: subprocess.Popen, patience: float = 0.0) -> None:
    """End a run: the warden kills process 1 of the namespace, and with it all others."""
    for end, seconds in ((None, patience), (warden.terminate, 10.0), (warden.kill, None)):
        if warden.poll() is not None:
            return
        if end:
            end()
        try:
            warden.wait(seconds)
        except subprocess.TimeoutExpired:
            continue


# --- the warden and the inmate: all below runs in the process that `run` starts


def _call(name: str, *arguments: object) -> int:
    """Call the C library; raise OSError, naming the call, where the system says no."""
    library = ctypes.CDLL(None, use_errno=True)
    found = [a.encode() if isinstance(a, str) else a for a in arguments]
    result = getattr(library, name)(
        *[ctypes.c_ulong(a) if isinstance(a, int) else a for a in found]
    )
    if result == -1:
        error = ctypes.get_errno()
        told = ", ".join(map(str, arguments[:3]))
        raise OSError(error, f"{name}({told}) failed: {os.strerror(error)}")
    return result


def _warden() -> None:
    plan = json.load(sys.stdin)
    if os.geteuid() == 0:
        os.setgroups([])
    _new_namespaces()
    inmate = os.fork()
    if inmate == 0:
        _inmate(plan)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(inmate, signal.SIGKILL))
    os.closerange(0, 2)
    status = os.waitpid(inmate, 0)[1]
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _new_namespaces() -> None:
    """Leave the system's namespaces; a helper that stays behind says who is who in the new ones."""
    go, done = os.pipe(), os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(go[1])
        os.read(go[0], 1)
        try:
            _write_maps(f"/proc/{os.getppid()}")
        except OSError as error:
            os.write(done[1], f"{error}"[:200].encode())
        os._exit(0)
    kinds = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
    try:
        _call("unshare", kinds)
    finally:
        os.close(done[1])
        os.write(go[1], b"x")
        os.waitpid(helper, 0)
    if answer := os.read(done[0], 200):
        raise OSError(f"the user namespace got no users: {answer.decode(errors='replace')}")


def _write_maps(process: str) -> None:
    """Map the sandbox's user to ourselves or, where we are root, to nobody."""
    if os.geteuid() == 0:
        users = groups = f"0 0 1\n{INSIDE} {NOBODY} 1"
    else:
        users, groups = f"{INSIDE} {os.geteuid()} 1", f"{INSIDE} {os.getegid()} 1"
        Path(process, "setgroups").write_text("deny")
    Path(process, "uid_map").write_text(users)
    Path(process, "gid_map").write_text(groups)


def _inmate(plan: dict) -> None:
    try:
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
        _build_root(plan)
        _limit(plan["limits"])
        _give_up_rights()
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(int(os.environ["REQUEST_FD"]), 0)
        alarm = os.dup2(2, 9, inheritable=False)  # closes as the program starts
        os.dup2(null, 2)
        os.closerange(3, 9)
        os.closerange(10, 256)
    except BaseException as error:  # whatever it is, the program must not start
        _refuse(error)
    try:
        threads = {f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL")}
        places = {"HOME": "/tmp", "TMPDIR": "/tmp", "MPLBACKEND": "Agg", "PATH": "/usr/bin"}
        os.chdir("/tmp")
        os.execve(plan["python"], [plan["python"], "-I", "/program.py"], threads | places)
    except BaseException as error:
        os.dup2(alarm, 2)
        _refuse(error)


def _refuse(error: BaseException) -> None:
    os.write(2, f"{MARK}{error}"[:1000].encode(errors="replace"))
    os._exit(1)


def _build_root(plan: dict) -> None:
    """Put together a read-only root of what may be seen, and let go of the old one."""
    root = Path(plan["root"])
    _call("mount", "none", "/", None, MS_REC | MS_PRIVATE, None)
    _call("mount", "root", str(root), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    # first, for what is shown may lie below /tmp, as the environment of a clone there does
    (root / "tmp").mkdir()
    scratch = f"size={plan['limits']['scratch_bytes']},nr_inodes=1000,mode=1777"
    _call("mount", "scratch", str(root / "tmp"), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, scratch)
    for inside, outside in sorted(plan["shown"].items()):
        target = root / inside.lstrip("/")
        if os.path.isdir(outside):
            target.mkdir(parents=True, exist_ok=True)
        elif not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
        _call("mount", outside, str(target), None, MS_BIND | MS_REC, None)
        device = inside.startswith("/dev/")
        _protect(str(target), MS_RDONLY | MS_NOSUID | (0 if device else MS_NODEV), AT_RECURSIVE)
    (root / "program.py").write_text(plan["program"], encoding="utf-8")
    os.chmod(root / "program.py", 0o444)
    os.chdir(root)
    _call("syscall", CALLS[platform.machine()][1], ".", ".")  # pivot_root
    _call("umount2", ".", MNT_DETACH)
    os.chdir("/")
    _protect("/", MS_RDONLY | MS_NOSUID | MS_NODEV, 0)


def _protect(place: str, attributes: int, depth: int) -> None:
    """Set attributes of a mount, with `AT_RECURSIVE` of all mounts below it too."""
    wanted = struct.pack("=4Q", attributes, 0, 0, 0)
    here = ctypes.c_ulong(-100)
    _call("syscall", MOUNT_SETATTR, here, place, depth, wanted, len(wanted))


def _limit(limits: dict) -> None:
    """Set the limits of one process; it could lower them further, never raise them."""
    seconds = int(limits["seconds"]) + 1
    for kind, most in {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["files"],
        resource.RLIMIT_NPROC: 2,  # where we are no root, the warden counts too
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }.items():
        resource.setrlimit(kind, (most, most))


def _give_up_rights() -> None:
    """Drop capabilities, become nobody, and let no later program win anything back."""
    last = 0
    while last < 64:
        try:
            _call("prctl", PR_CAPBSET_DROP, last, 0, 0, 0)
        except OSError as error:
            if error.errno != errno.EINVAL or last == 0:
                raise
            break
        last += 1
    os.setresgid(INSIDE, INSIDE, INSIDE)
    os.setresuid(INSIDE, INSIDE, INSIDE)
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _call("capset", header, none)
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)  # becoming another user had cleared it
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _deny_calls()


def _deny_calls() -> None:
    """Load the filter of system calls."""
    mark, _, numbers = CALLS[platform.machine()]
    denied = sorted({*numbers, *COMMON})
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    no, unknown, kill, allow = 0x00050001, 0x00050026, 0x80000000, 0x7FFF0000
    n = len(denied)
    code = [(load, 0, 0, 4), (equal, 1, 0, mark), (answer, 0, 0, kill), (load, 0, 0, 0)]
    code += [(at_least, n + 2, 0, X32), (equal, n + 2, 0, CLONE3)]
    code += [(equal, n - i, 0, number) for i, number in enumerate(denied)]
    code += [(answer, 0, 0, allow), (answer, 0, 0, no), (answer, 0, 0, unknown)]
    packed = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
    filter_ = struct.pack("@HP", len(code), ctypes.addressof(packed))
    _call("prctl", PR_SET_SECCOMP, 2, filter_, 0, 0)


if __name__ == "__main__":
    try:
        _warden()
    except BaseException as error:  # no protection, no run
        _refuse(error)
