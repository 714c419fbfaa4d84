"""The checks in a process of their own: whatever the module does there, the caller hears of it."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from posenc.testing import asking

START = 300.0  # seconds until Python and torch are loaded, on a machine that is busy
GRACE = 15.0  # seconds beyond a check's own limit, in which it should have ended by itself


class NoReport(Exception):
    """There is no whole report; the message says why. `asked`: whether a check had begun."""

    def __init__(self, message: str, *, asked: bool = False) -> None:
        super().__init__(message)
        self.asked = asked


@dataclass(frozen=True)
class Job:
    """What the process has to do.

    Attributes
    ----------
    path : str
        `module:function`.
    words : dict
        Arguments of `check_attention`.
    seconds : float
        Limit of the import, of building the layer, and of each check.
    gigabytes : float
        Limit of memory, where the system has one.
    writes : bool
        Whether the function writes, so that `check_writing` asks it.
    """

    path: str
    words: Mapping[str, Any]
    seconds: float
    gigabytes: float
    writes: bool = False


def report_of(job: Job, find: Callable[[str], Any]) -> tuple[dict[str, Any], str]:
    """Return a report as data and as text, from a process of its own, or raise NoReport."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, job, find))
    process.start()
    theirs.close()
    try:
        return _listen(ours, process, job)
    finally:
        _end(process)


def _listen(pipe: Connection, process: BaseProcess, job: Job) -> tuple[dict[str, Any], str]:
    """Follow the process from stage to stage, up to its report."""
    stage, patience = "starting", START
    while True:
        asked = stage.startswith("asked")
        try:
            if not pipe.poll(patience):
                raise NoReport(_late(stage, job.seconds), asked=asked)
            word, *told = pipe.recv()
        except (EOFError, OSError):
            process.join(GRACE)
            raise NoReport(_ended(stage, process.exitcode), asked=asked) from None
        if word == "report":
            return told[0], told[1]
        if word == "refused":
            raise NoReport(told[0], asked=asked)
        stage, patience = told[0], job.seconds + GRACE


def _late(stage: str, seconds: float) -> str:
    return (
        f"no answer within {seconds:g} seconds while it was {stage}, and it had to be ended; "
        f"--seconds {3 * seconds:g} gives it more"
    )


def _ended(stage: str, code: int | None) -> str:
    how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
    return f"its process ended {how} while it was {stage}; without a whole report nothing passes"


def _end(process: BaseProcess) -> None:
    """End the process, and what it has left behind."""
    with suppress(OSError):
        if hasattr(os, "killpg") and process.pid:
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def _child(pipe: Connection, job: Job, find: Callable[[str], Any]) -> None:
    """Do the job: say each stage, and the report in the end."""
    _shut_in(job.gigabytes)

    def stage(name: str) -> None:
        pipe.send(("stage", name))

    asking.LISTENERS.append(lambda name: stage(f"asked whether {name}"))
    try:
        stage("imported")
        make = find(job.path)
        stage("built")
        from posenc.testing import check_attention, check_writing

        ask = check_writing if job.writes else check_attention
        report = ask(make, seconds=job.seconds, **job.words)
        pipe.send(("report", report.as_dict(), str(report)))
    except BaseException as error:  # sys.exit(0) at the end of a module is no pass
        pipe.send(("refused", _in_words(error)))


def _in_words(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    if isinstance(error, ValueError | ImportError):
        return str(error)
    if isinstance(error, SystemExit):
        return f"the module calls sys.exit({error.code!r}), so that nothing can be asked"
    first = (str(error).strip() or "no message").splitlines()[0]
    return f"the module ends in {type(error).__name__}: {first:.200}"


def _shut_in(gigabytes: float) -> None:
    """Give this process a group, a limit of memory, and an output that is not the report's."""
    os.dup2(2, 1)
    if hasattr(os, "setsid"):
        os.setsid()
    if hasattr(os, "register_at_fork"):  # a copy of the checker would ask all over again
        os.register_at_fork(after_in_child=lambda: os._exit(1))
    with suppress(ImportError, ValueError, OSError):
        import resource

        most = int(gigabytes * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
