"""The wall behind every command line: its reader may leave, and a fault of ours is called one."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence

READER_LEFT = 141  # what a shell reports of a program that a closed pipe has ended
FAULT = 70  # EX_SOFTWARE of sysexits.h
DEBUG = "--debug"
ISSUES = "https://github.com/positional-encoding/positional-encoding-book/issues"


def behind(main: Callable[[list[str]], int | None], arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of a command line, by default of the one that was typed.

    What a command does not expect is a fault of this package: one line says so, and the code is
    `FAULT`. With `--debug` anywhere among the arguments the traceback comes before that line. Where
    the reader of the output, such as `head`, has left, the code is `READER_LEFT`, without a word.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = main([word for word in words if word != DEBUG])
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
    except Exception as error:
        if DEBUG in words:
            traceback.print_exc()
        print(_fault(error), file=sys.stderr)
        return FAULT
    return code or 0


def _fault(error: Exception) -> str:
    """Return in one line what happened, and what to do with it."""
    plain = "".join(sign if sign.isprintable() else " " for sign in str(error))
    said = ": ".join(filter(None, (type(error).__name__, " ".join(plain.split())[:300])))
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"This is a fault of posenc, not of what you asked for: {said} "
        f"({os.path.basename(last.filename)}, line {last.lineno}). Please report it with your "
        f"command at {ISSUES}; {DEBUG} shows the traceback."
    )
