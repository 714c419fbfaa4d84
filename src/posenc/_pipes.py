"""What a command line does when the reader of its output, such as `head`, has left."""

import os
import sys
from collections.abc import Callable

READER_LEFT = 141  # what a shell reports of a program that a closed pipe has ended


def piped(main: Callable[[], int]) -> int:
    """Return the exit code of a command; `READER_LEFT`, without a word, if its reader has left."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
    return code
