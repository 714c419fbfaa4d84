"""Peak memory of one training."""

import ctypes
import re
from pathlib import Path

import torch

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


class PeakMemory:
    """Measures the bytes that a training takes beyond what was there at its start.

    What a process sets up once counts, too, where it was not there yet: take a step first.

    On a GPU that is allocated memory, on Linux the process's resident memory; elsewhere None.
    """

    _start: int | None

    def __init__(self, device: torch.device) -> None:
        self._device = device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
            self._start = torch.cuda.memory_allocated(device)
            return
        try:
            _give_back_freed()
            _RESET.write_text("5")  # lowers the kernel's high-water mark to the present size
            self._start = _resident("VmRSS")
        except (OSError, TypeError):  # the latter of ctypes on Windows, where it wants a name
            self._start = None

    def read(self) -> int | None:
        """Return the peak so far, in bytes."""
        if self._start is None:
            return None
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device) - self._start
        return max(0, _resident("VmHWM") - self._start)


def _give_back_freed() -> None:
    """Return memory that an earlier training has freed, so that this one's shows."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


def _resident(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text())
    if found is None:
        raise OSError(f"{_STATUS} has no line {field}")
    return 1024 * int(found[1])
