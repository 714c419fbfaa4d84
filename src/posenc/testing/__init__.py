"""Does this attention treat positions rightly? Checks for anybody's layer or model.

Say what yours promises, and read the answer:

    from posenc.testing import check_attention
    print(check_attention(lambda: MyAttention(64, 4), causal=True))

Of a loop that writes, `check_writing` asks whether it writes the same in a batch and alone, with
padding and without, with a cache and without.

`promises` has the words; `adapters` stand between a module and the checks; `checks` has one idea
a file.
"""

from posenc.testing.adapters import (
    Adapter,
    CannotAsk,
    FunctionAdapter,
    HuggingFaceAdapter,
    ModuleAdapter,
)
from posenc.testing.attention import check_attention
from posenc.testing.checks import CHECKS
from posenc.testing.encoding import check_encoding
from posenc.testing.promises import Promises
from posenc.testing.pytest_use import as_tests
from posenc.testing.report import BrokenPromise, Finding, Report
from posenc.testing.writing import check_writing

__all__ = [
    "CHECKS",
    "Adapter",
    "BrokenPromise",
    "CannotAsk",
    "Finding",
    "FunctionAdapter",
    "HuggingFaceAdapter",
    "ModuleAdapter",
    "Promises",
    "Report",
    "as_tests",
    "check_attention",
    "check_encoding",
    "check_writing",
]
