"""What waves do, whatever was trained."""

import numpy as np


def nearly_whole_turns():
    """Of one pair at one radian a position: where it is nearest to its start, up to 1,000."""
    positions = np.arange(1, 1001)
    nearest = positions[np.abs(np.exp(1j * positions) - 1).argmin()]
    return {"positions": str(nearest), "turns": f"{nearest / (2 * np.pi):.0f}"}
