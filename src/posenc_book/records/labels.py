"""The words for trainings of the language model: their encodings, and those that were stopped."""

UNFINISHED = "unfinished"
"""With this word the error of a training begins whose time was over."""


def label_of(record: dict) -> str:
    """Return the encoding of a record in words, see `label`."""
    return label(record["encoding"], record["settings"].get("random_positions", 0))


def label(encoding: str, random_positions: int) -> str:
    """Return an encoding in words."""
    return encoding + ", random places" * bool(random_positions)
