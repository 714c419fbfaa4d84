"""English text that every Python carries: the help topics of `pydoc`, for models of characters.

About 465,000 characters on the language, from "assert" to "yield". The text belongs to the version
of Python, so a result must name the version and the `fingerprint`.

>>> text = read_topics()
>>> "".join(text.symbols[i] for i in text.train[:22])
'The "assert" statement'
"""

import hashlib
import platform
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

EVERY, FIRST = 5, 2  # of the topics in alphabetical order, which ones are the test part


@dataclass(frozen=True)
class Text:
    r"""A text in two parts; `read_topics` and `of` make it.

    Parameters
    ----------
    train, test : int64 arrays of one axis
        Characters as numbers, whole topics in alphabetical order: every fifth one, from the third
        on, belongs to the test part.
    symbols : tuple of str
        The characters of the whole text, sorted.
    python : str
        The version of Python whose text this is.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    symbols: tuple[str, ...]
    python: str

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of the text: another version's differ where its text does."""
        digest = hashlib.sha256("".join(self.symbols).encode())
        for part in (self.train, self.test):
            digest.update(part.astype("<i8").tobytes() + b"|")
        return digest.hexdigest()[:16]


@cache
def read_topics() -> Text:
    """Return the text of this Python."""
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise ValueError(
            "the help topics of pydoc must be part of this Python, got none; a build from "
            "python.org or of conda has them"
        ) from error
    return of({name: topics[name] for name in sorted(topics)}, platform.python_version())


def of(topics: dict[str, str], python: str) -> Text:
    """Return the two parts of some topics, in their order."""
    symbols = tuple(sorted(set("".join(topics.values())) | {"\n"}))
    number = {symbol: i for i, symbol in enumerate(symbols)}
    parts: tuple[list[int], list[int]] = ([], [])
    for i, topic in enumerate(topics.values()):
        parts[i % EVERY == FIRST].extend(number[c] for c in topic.rstrip() + "\n\n")
    train, test = (np.array(part, np.int64) for part in parts)
    return Text(train, test, symbols, python)
