"""Statistics of windows as an encoding, and encodings on longer and later series."""

import numpy as np

from posenc_book.read.classification import control, found
from posenc_book.read.range_probe import longer as lengths


def gains_about_as_much_as_channels():
    """And over the planned sets and over all a little less."""
    beside = control.load_controlled("patch")
    planned = control.over_planned(beside).ahead
    around_zero = planned.low < 0 < planned.high
    return bool(around_zero and planned.mean < 0 and control.mean(beside).ahead.mean < 0)


def ahead_on_a_single_patch():
    """Of its control, on PenDigits."""
    (digits,) = [one for one in control.load_controlled("patch") if one.dataset == "PenDigits"]
    return bool(found.n_tokens("PenDigits", "patches") == 1 and digits.ahead.low > 0)


def lowest_of_longer():
    """The lowest mean of the sinusoid over the four tests on longer and later series."""
    tests = [f"{kind}_{n}" for kind in ("longer", "later") for n in (64, 128)]
    good = lengths.load_longer().good("sinusoidal")
    return f"{min(np.mean([one[test] for one in good]) for test in tests):.2f}"


def rope_loses_about_what_is_new():
    """Four places of 128."""
    lost = [1 - one["longer_128"] for one in lengths.load_longer().good("rotary")]
    return bool(np.mean(lost) < 4 / 128 and abs(max(lost) - 4 / 128) <= 0.002)
