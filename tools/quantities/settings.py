"""Constants of our code that prose tells."""

import chapter_times
from posenc_book.bench import tuning
from posenc_book.data.elevator import elevator
from posenc_book.quantities import _read
from posenc_book.read.classification import protocol as protocols
from posenc_book.records.settings import Settings
from posenc_book.teaching import roles


def reading():
    """Words a second, lines of code a minute, minutes a figure: the rule for stated times."""
    words, left = divmod(chapter_times.WORDS, 60)
    if left:
        raise ValueError(f"chapter_times.WORDS must be a multiple of 60, got {chapter_times.WORDS}")
    counts = {"words": words, "lines": chapter_times.LINES, "figure": chapter_times.FIGURE}
    return {what: _read.word(count) for what, count in counts.items()}


def exercises():
    """Minutes of each kind: the rule for stated times."""
    short, study = chapter_times.LONG["A warm-up"], chapter_times.LONG["A small study"]
    return {
        "short": _read.word(short),
        "study": str(study),
        "others": _read.word(chapter_times.OTHERS),
    }


def steps_of_a_trial():
    return str(tuning.STEPS)


def patience():
    """Steps without a better validation after which a training ends."""
    return str(protocols.TRAINING["settings"]["patience_steps"])


def most_series():
    """For training and for testing; of a larger part a training sees that many."""
    return f"{protocols.TRAINING['settings']['max_cases']:,}"


def usual_learning_rate():
    """With which an encoding is trained that nobody tunes."""
    return str(Settings("none", "patch", "PenDigits").learning_rate)


def people():
    """Whose names the sentences of the read-out hold."""
    return str(roles.N_PEOPLE)


def channels_of_the_elevator():
    return str(elevator("train", n=2).n_channels)
