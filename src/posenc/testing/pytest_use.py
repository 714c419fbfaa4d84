"""One line that makes each check a test of one's own suite."""

from collections.abc import Callable
from typing import Any

from posenc.testing.attention import check_attention
from posenc.testing.checks import EVERY
from posenc.testing.promises import Promises


def as_tests(make: Callable[[], Any], **promises: Any) -> Callable[..., None]:
    """Return a test for pytest that asks what was promised, each check on its own.

    A check that cannot be asked is skipped, with the reason.

    Parameters
    ----------
    make, **promises
        As for `check_attention`, with its other options.

    Returns
    -------
    callable
        A parametrised test. Give it a name that begins with `test`.

    Raises
    ------
    ValueError
        If a promise is none that one can make, while tests are collected.

    Source: `check_attention`.

    Examples
    --------
    In a file of tests, for a layer of one's own:

    >>> from posenc.attention import SelfAttention
    >>> from posenc.encodings import make
    >>> def layer():
    ...     return SelfAttention(16, 2, make("rotary", 16, 2, 64), causal=True)
    >>> test_attention = as_tests(layer, causal=True, cached=True)
    >>> test_attention("no token sees a later one")
    """
    import pytest

    options = ("width", "vocabulary", "tolerance", "seconds", "seed")
    said = Promises.of({word: one for word, one in promises.items() if word not in options})
    names = [check.name for check in EVERY if check.is_asked(said, measure=False)]

    @pytest.mark.parametrize("check", names)
    def test(check: str) -> None:
        report = check_attention(make, only=check, measure=False, **promises)
        finding = report[check]
        if finding.outcome in ("cannot", "ignored"):
            pytest.skip(finding.came)
        assert finding.outcome == "held", f"\n{finding}"

    decorated: Callable[..., None] = test
    return decorated
