"""The hash of a protocol, by which records of another one are told apart."""

import hashlib
import json
from collections.abc import Mapping


def hashed(part: Mapping[str, object]) -> str:
    """Return the hash of a part of the protocol: 12 hexadecimal digits."""
    text = json.dumps(part, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
