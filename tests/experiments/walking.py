"""A test that walks over all rows of something and names every one that is not as it should be."""

from collections.abc import Callable, Iterable


def each_passes(check: Callable, rows: Iterable[tuple[str, object]]) -> None:
    """Fail with a line for each row that fails a check: its name, and what the check says."""
    found = []
    for name, row in rows:
        try:
            check(row)
        except Exception as error:  # a row that lacks a field is faulted like any other
            found.append(f"{name}: {type(error).__name__}: {error}")
    if found:
        raise AssertionError("\n".join(found))
