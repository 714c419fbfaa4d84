"""What a program can do in the sandbox, and that nothing runs where the sandbox cannot be made."""

import contextlib
import json
import os
import platform
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from course import mark, sandbox

ROOT = Path(__file__).parents[2]
PATIENT = sandbox.Limits(seconds=600, step_seconds=300)
# Where a limit of time is the point it is short, and the other one is not reached before.
SHORT = {
    "step": sandbox.Limits(seconds=600, step_seconds=2),
    "time": sandbox.Limits(seconds=3, step_seconds=300),
}
NUMBERS = {  # x86_64, aarch64
    "unshare": (272, 97),
    "mount": (165, 40),
    "pivot_root": (155, 41),
    "umount2": (166, 39),
    "mount_setattr": (442, 442),
    "prctl": (157, 167),
    "capset": (126, 91),
    "setresuid": (117, 147),
    "prlimit64": (302, 261),
}


def usable() -> str:
    """Return why there can be no sandbox here, or nothing."""
    try:
        mark.self_test()
    except sandbox.Unprotected as error:
        return str(error)
    return ""


WHY_NOT = usable()
needs_sandbox = pytest.mark.skipif(
    bool(WHY_NOT) and not os.environ.get("POSENC_REQUIRE_SANDBOX"), reason=f"no sandbox: {WHY_NOT}"
)


def said(program: str, limits: sandbox.Limits = PATIENT) -> object:
    """Return what a program prints, read as JSON."""
    outcome = sandbox.run(f"import json, os, sys\n{program}", b"the request", limits)
    assert outcome.ended == "finished", outcome
    return json.loads(outcome.lines[-1])


@needs_sandbox
def test_nothing_of_this_machine_is_there_but_python(tmp_path):
    (tmp_path / "seed").write_text("secret")
    environment = Path(sys.prefix)  # which may lie within the repository
    ours = [str(path) for path in ROOT.iterdir() if not environment.is_relative_to(path)]
    assert str(ROOT / "course") in ours
    places = [str(tmp_path / "seed"), *ours, "/proc", "/sys", "/home", "/etc/passwd", "/var"]
    there = said(f"print(json.dumps([p for p in {places} if os.path.exists(p)]))")
    assert there == []


@needs_sandbox
def test_what_is_shown_may_lie_below_the_folder_for_scratch(tmp_path):
    """As the environment of a clone in /tmp does; it cannot be written there, either."""
    (tmp_path / "kept").write_text("seen")
    tmp_path.chmod(0o755)
    program = """
import os
print(open("/tmp/below/kept").read(), os.access("/tmp/below", os.W_OK), os.access("/tmp", os.W_OK))
"""
    shown = sandbox.visible({"/tmp/below": str(tmp_path)})
    outcome = sandbox.run(program, b"", PATIENT, shown)
    assert outcome.lines[-1:] == [b"seen False True"], outcome


@needs_sandbox
def test_no_secret_reaches_its_environment(monkeypatch):
    monkeypatch.setenv(mark.SEED, "not to be read by anyone")
    found = said("print(json.dumps(dict(os.environ)))")
    assert "not to be read" not in str(found)
    assert {*found} <= {
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
        "HOME", "TMPDIR", "MPLBACKEND", "PATH", "LC_CTYPE",
    }  # fmt: skip


@needs_sandbox
def test_it_is_nobody_without_rights_and_holds_no_file_of_ours():
    program = """
fds = []
for fd in range(1024):
    try:
        fds.append(os.fstat(fd) and fd)
    except OSError:
        pass
print(json.dumps([os.getuid(), os.getgid(), os.getpid(), fds]))
"""
    assert said(program) == [sandbox.INSIDE, sandbox.INSIDE, 1, [0, 1, 2]]


@needs_sandbox
@pytest.mark.parametrize(
    "what",
    [
        "open('/x', 'w')",
        "open(sys.executable, 'ab')",
        "open(json.__file__, 'a')",
        "os.remove(json.__file__)",
        "os.chmod('/program.py', 0o777)",
        "os.fork()",
        "__import__('subprocess').run(['/bin/true'])",
        "__import__('threading').Thread(target=print).start()",
        "__import__('socket').socket()",
        "__import__('socket').create_connection(('127.0.0.1', 22), 1)",
        "bytes(3 << 30)",
        "open('/tmp/large', 'wb').write(bytes(20 << 20))",
        "[open(f'/tmp/{i}', 'w') for i in range(2000)]",
        "os.setuid(0)",
        "__import__('resource').setrlimit(7, (1 << 20, 1 << 20))",
        "os.mknod('/tmp/disk', 0o60666, os.makedev(254, 0))",
        "os.chroot('/tmp')",
        "os.memfd_create('memory')",
        "os.write(0, b'into a file of the marker')",
        "os.ftruncate(0, 1 << 20)",
    ],
)
def test_it_is_denied(what):
    program = f"""
try:
    kept = {what}
    print("0")
except (OSError, MemoryError, RuntimeError, ValueError):
    print("1")
"""
    assert said(program) == 1, "this must fail with an error"


@needs_sandbox
@pytest.mark.parametrize("name", ["unshare", "mount", "umount2"])
def test_a_system_call_is_denied(name):
    program = f"""
import ctypes
library = ctypes.CDLL(None, use_errno=True)
print(json.dumps([library.{name}(0x10000000, 0, 0, 0, 0), ctypes.get_errno()]))
"""
    assert said(program) == [-1, 1]


@needs_sandbox
def test_scratch_space_is_limited():
    program = """
written = 0
try:
    for i in range(20):
        written += open(f"/tmp/{i}", "wb").write(bytes(8 << 20))
except OSError:
    pass
print(written >> 20)
"""
    assert 0 < said(program) <= PATIENT.scratch_bytes >> 20


@needs_sandbox
def test_the_network_is_another_one():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        program = f"""
try:
    import socket
    socket.create_connection({address}, 0.5)
    print("0")
except OSError:
    print("1")
"""
        assert said(program) == 1
        server.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody waits at the door
            server.accept()


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    ("program", "ended"),
    [
        ("while True: pass", "step"),
        ("import signal\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n"
         "  except OSError: pass\nwhile True: pass", "step"),
        ("import os\nos.close(1)\nwhile True: pass", "died"),
        ("import time\nwhile True: print('x', flush=True); time.sleep(0.1)", "time"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "output"),
        ("import os\nos._exit(7)", "died"),
        ("import os\nos._exit(97)", "died"),
        ("import ctypes\nctypes.string_at(0)", "died"),
        ("raise SystemExit('refused: nothing to see')", "died"),
        ("import os\nos.execv('/bin/sleep', [NAME, '60'])", "step"),
    ],
)  # fmt: skip
def test_a_run_ends_and_leaves_no_process(program, ended):
    name = f"left-{os.getpid()}"  # the program takes it, so that it can be found among all others
    named = f"import ctypes\nNAME = {name!r}\nctypes.CDLL(None).prctl(15, NAME.encode())\n"
    outcome = sandbox.run(named + program, b"", SHORT.get(ended, PATIENT))
    assert outcome.ended == ended
    assert outcome.seconds < 60
    assert sum(map(len, outcome.lines)) <= sandbox.Limits().output
    assert running(name) == []


@pytest.mark.slow
@needs_sandbox
def test_a_process_that_is_left_would_be_seen():
    name = f"left-{os.getpid()}"
    program = f"import ctypes, time\nctypes.CDLL(None).prctl(15, b'{name}')\ntime.sleep(4)"
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(sandbox.run, program, b"")
        seen = []
        while not seen and not outcome.done():
            seen = running(name)
    assert seen
    assert running(name) == []


def running(name: str) -> list[str]:
    """Return the processes of this machine that took a name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (folder / "comm").read_text() + (folder / "cmdline").read_text()
            if name in told:
                found.append(folder.name)
    return found


FORBIDDEN = """
import sys
from course import sandbox
mark, pivot, _ = sandbox.CALLS[{machine!r}]
sandbox._call("prctl", sandbox.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
kept = sandbox.CALLS[{machine!r}], sandbox.COMMON
sandbox.CALLS[{machine!r}], sandbox.COMMON = (mark, pivot, [{number}]), []
sandbox._deny_calls()
sandbox.CALLS[{machine!r}], sandbox.COMMON = kept
try:
    outcome = sandbox.run("print('it ran')", b"")
except sandbox.Unprotected as error:
    print("refused:", error)
else:
    print("ran:", outcome)
"""


@pytest.mark.parametrize("name", NUMBERS)
def test_where_one_protection_cannot_be_had_nothing_runs(name):
    """Each system call that protects is forbidden in turn, as a strict container would."""
    machine = platform.machine()
    if not sys.platform.startswith("linux") or machine not in sandbox.CALLS:
        pytest.skip("system calls are Linux's")
    number = NUMBERS[name][machine == "aarch64"]
    program = FORBIDDEN.format(machine=machine, number=number)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.stdout.startswith("refused: "), done
    assert len(done.stdout) > len("refused: a reason")
    assert "it ran" not in done.stdout


def test_another_system_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(sandbox.Unprotected, match="Linux"):
        sandbox.run("print()", b"")


def test_a_secret_within_what_can_be_read_is_refused(tmp_path):
    shown = {"/somewhere": str(tmp_path)}
    with pytest.raises(sandbox.Unprotected, match="move it elsewhere"):
        sandbox.must_stay_hidden([tmp_path / "seed"], shown)
    sandbox.must_stay_hidden([tmp_path.parent / "seed"], shown)


@pytest.mark.parametrize(
    "told",
    [
        b'{"escaped": ["os.fork()"], "pid": 1, "numpy": true}',
        b'{"escaped": [], "pid": 4711, "numpy": true}',
        b'{"escaped": [], "pid": 1, "numpy": false}',
        b"[1]",
        b"no JSON",
        b"",
    ],
)
def test_a_sandbox_that_does_not_hold_is_refused(monkeypatch, told):
    outcome = sandbox.Outcome(told.splitlines(), "finished", 0.1, 0)
    monkeypatch.setattr(sandbox, "run", lambda *_: outcome)
    with pytest.raises(sandbox.Unprotected):
        mark.self_test()
