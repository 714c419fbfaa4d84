"""The hash of a protocol, by which records of another one are told apart."""

import hashlib
import json
from collections.abc import Mapping


def hashed(part: Mapping[str, object]) -> str:
    """Return the hash of a part of the protocol: 12 hexadecimal digits.

    Parameters
    ----------
    part : mapping
        Names and values that JSON knows; their order does not count.

    Returns
    -------
    str
        The same on every machine.

    Raises
    ------
    TypeError
        If a value is none that JSON knows.

    Examples
    --------
    >>> hashed({"steps": 4000, "seeds": 5}) == hashed({"seeds": 5, "steps": 4000})
    True
    >>> hashed({"steps": 4000}) == hashed({"steps": 2000})
    False
    """
    text = json.dumps(part, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
