"""The decorator that makes a check of a function."""

from collections.abc import Callable, Iterator

from posenc.testing.asking import Asked, Check, Seen

Question = Callable[[Asked], Iterator[Seen]]
"""A check's function: it yields what each input showed, the smallest first."""


def check(
    name: str,
    *,
    promise: str = "",
    page: str,
    hint: str = "",
    at_least: float | None = None,
    on_request: bool = False,
    needs: tuple[str, ...] = (),
) -> Callable[[Question], Check]:
    """Make a check of a function.

    Its numbers must be at most the tolerance for all inputs, or `at_least` something for one. What
    it `needs` to import is loaded before its time begins.
    """

    def made(ask: Question) -> Check:
        return Check(name, promise, page, hint, ask, at_least, on_request, needs)

    return made
