"""A function that is called often on a GPU: recorded once, then replayed without Python."""

import math
import warnings
from collections.abc import Callable

import torch

WARM_UP = 3  # calls that are made before one is recorded, so that libraries have what they need


class Replayed:
    """A function that is recorded as a CUDA graph after a few calls; on a processor, just called.

    Small models leave a GPU waiting for Python, which launches some hundred kernels a step.

    Parameters
    ----------
    call : callable
        Takes and returns nothing. It must change tensors in place, read nothing back to the
        processor, and launch the same kernels each time.
    device : torch.device
    """

    def __init__(self, call: Callable[[], None], device: torch.device) -> None:
        self.call: Callable[[], None] | None = call
        self.plain: float = WARM_UP if device.type == "cuda" else math.inf
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Call the function, or replay it."""
        if self.graph is not None:
            self.graph.replay()
            return
        if self.call is None:
            raise RuntimeError("this recording was forgotten; make a new one")
        if math.isinf(self.plain):
            self.call()
        elif self.plain > 0:
            self.plain -= 1
            self._on_side_stream(self.call)
        else:
            self._record(self.call)

    def forget(self) -> None:
        """Give the recording's memory back, which other processes on the GPU may want."""
        recorded, self.graph, self.call = self.graph is not None, None, None
        if recorded:
            torch.cuda.empty_cache()

    def _on_side_stream(self, call: Callable[[], None]) -> None:
        here, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(here)
        with torch.cuda.stream(side):
            call()
        here.wait_stream(side)

    def _record(self, call: Callable[[], None]) -> None:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                call()
        except RuntimeError as error:
            warnings.warn(f"called step by step, as recording failed: {error}", stacklevel=3)
            self.plain = math.inf
            call()
            return
        self.graph = graph
        graph.replay()
