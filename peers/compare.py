"""Two implementations side by side: the same random numbers in, the largest difference out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from posenc_book.read import peers

DTYPES = (torch.float64, torch.float32)


class Numbers:
    """Random tensors by name, the same in every dtype, that both implementations start from.

    Weights of one implementation and of the other are functions of the same named tensors, so
    that gradients by them can be compared, whatever layout each of the two keeps its weights in.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.drawn: dict[str, Tensor] = {}
        self._generator = torch.Generator().manual_seed(0)

    def __call__(self, name: str, *shape: int, scale: float = 1.0) -> Tensor:
        """Return new normal numbers of standard deviation `scale`, or those of this name."""
        if name not in self.drawn:
            # drawn in float32, which float64 holds without rounding
            values = scale * torch.randn(shape, generator=self._generator, dtype=torch.float32)
            self.drawn[name] = values.to(self.dtype).requires_grad_()
        return self.drawn[name]


Run = Callable[[Numbers], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Case:
    """One comparison.

    Attributes
    ----------
    encoding : str
        A registered name, or "published.NAME" for a re-enactment of `posenc_book.audit.published`.
    reference : str
        A name of `references.REFERENCES`.
    part : str
        What of the reference is compared.
    run : function
        From `Numbers` to posenc's result and the reference's, in the reference's own terms.
    note : str
        Conventions that the comparison translates.
    precision : {"own", "float32"}
        "float32" where the reference computes something in it whatever is asked.
    explanation : str
        Why the two differ by more than rounding, where that is known and meant.
    unit : str
        A key of `posenc_book.read.peers.UNITS`.
    """

    encoding: str
    reference: str
    part: str
    run: Run
    note: str = ""
    precision: str = "own"
    explanation: str = ""
    unit: str = "absolute"


CASES: list[Case] = []


def case(encoding: str, reference: str, part: str, **about: str) -> Callable[[Run], Run]:
    """Enter a function into the list of comparisons."""

    def enter(run: Run) -> Run:
        CASES.append(Case(encoding, reference, part, run, **about))
        return run

    return enter


def measure(one: Case) -> list[dict]:
    """Return the largest differences of outputs and of gradients in float64 and float32.

    Each is a dict with the quantity, the dtype, the number of entries, the difference, the
    largest number of the reference ("size"), what rounding allows ("tolerance") and, in float32,
    how far each side is from posenc's result in float64.
    """
    exact, rounded = (_results(one, dtype) for dtype in DTYPES)
    rows = []
    for dtype, results in zip(DTYPES, (exact, rounded), strict=True):
        for quantity, (ours, theirs) in results.items():
            row = {
                "quantity": quantity,
                "dtype": str(dtype).removeprefix("torch."),
                "entries": ours.numel(),
                "difference": _largest(ours - theirs),
                "size": _largest(theirs),
            }
            row["tolerance"] = peers.tolerance(row["dtype"], row["size"], one.precision, one.unit)
            if dtype == torch.float32 and one.unit == "absolute":
                truth, _ = exact[quantity]
                row["posenc_error"] = _largest(ours.double() - truth)
                row["reference_error"] = _largest(theirs.double() - truth)
            rows.append(row)
    return rows


def _results(one: Case, dtype: torch.dtype) -> dict[str, tuple[Tensor, Tensor]]:
    """Return quantity -> (posenc's, the reference's), the gradient by everything as one vector."""
    with _default_dtype(dtype), torch.random.fork_rng():
        torch.manual_seed(0)
        numbers = Numbers(dtype)
        ours, theirs = one.run(numbers)
        if ours.shape != theirs.shape:
            raise ValueError(f"{one.part}: shapes differ, {ours.shape} and {theirs.shape}")
        found = {"output": (ours.detach(), theirs.detach())}
        if ours.requires_grad and theirs.requires_grad:
            # of a sum with random weights, in which no error can hide behind another
            leaves = list(numbers.drawn.values())
            direction = numbers("direction", *ours.shape).detach()
            found["gradient"] = tuple(_gradient(y, direction, leaves) for y in (ours, theirs))
    return found


def _gradient(y: Tensor, direction: Tensor, leaves: list[Tensor]) -> Tensor:
    # the two sides may share what is computed from the leaves
    parts = torch.autograd.grad(y, leaves, direction, retain_graph=True, materialize_grads=True)
    return torch.cat([part.flatten() for part in parts])


def _largest(x: Tensor) -> float:
    return x.abs().max().item()


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Let modules be made in this dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
