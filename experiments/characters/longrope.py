"""LongRoPE's search: a divisor of each frequency that makes a trained model lose least.

Ding et al. (2024), section 3.2: an evolution of lists in which no divisor is smaller than the one
before, from lists that other schedules give. Sizes are those of the code that Microsoft published
with the paper (`dim_mono_llama.json`). Their further choice, how many first tokens keep the trained
frequencies, is left out here, as it is in the configurations that use their lists.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Divisors = NDArray[np.float64]


@dataclass
class Search:
    """The lists that were read so far, with their losses.

    Parameters
    ----------
    loss : callable
        From divisors, (n_pairs,), to what is to be small.
    factor : float
        How many times longer inputs become; divisors lie from 1 to `highest` times as much.
    rng : numpy Generator
    plan : mapping
        That of `later.json`: lists at first (`population`); `rounds`, and in each the lists that
        stay (`parents`), are changed (`mutations`) and are crossed (`crossings`); attempts at a
        crossing (`tries`); `chance` of a divisor to change; grid of the divisors (`step`), and the
        `highest` in factors.
    """

    loss: Callable[[Divisors], float]
    factor: float
    rng: np.random.Generator
    plan: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.losses: dict[tuple[float, ...], float] = {}

    def run(self, starts: Sequence[Divisors]) -> Divisors:
        """Return the best list that the evolution finds."""
        for one in starts:
            if not self._allowed(one):
                raise ValueError(
                    f"starts must rise from 1 to at most {self._most:g}, got {np.round(one, 3)}"
                )
            self._read(one)
        for _ in range(self.plan["tries"] * self.plan["population"]):  # a coarse grid holds few
            if len(self.losses) >= self.plan["population"]:
                break
            self._read(self._changed(starts[int(self.rng.integers(len(starts)))]))
        for _ in range(self.plan["rounds"]):
            parents = self._best(self.plan["parents"])
            for _ in range(self.plan["mutations"]):
                self._read(self._changed(parents[self.rng.integers(len(parents))]))
            for _ in range(self.plan["crossings"]):
                first, second = self.rng.choice(len(parents), 2, replace=False)
                self._read(self._crossed(parents[first], parents[second]))
        return self._best(1)[0]

    @property
    def _most(self) -> float:
        return self.plan["highest"] * self.factor

    def _allowed(self, one: Divisors) -> bool:
        low, high = one[0] >= 1 - 1e-9, one[-1] <= self._most + 1e-9
        return bool(low and high and (np.diff(one) >= -1e-9).all())

    def _read(self, one: Divisors) -> None:
        key = tuple(one)
        if key not in self.losses:
            self.losses[key] = self.loss(one)

    def _best(self, n: int) -> list[Divisors]:
        return [np.array(one) for one in sorted(self.losses, key=self.losses.__getitem__)[:n]]

    def _changed(self, one: Divisors) -> Divisors:
        """Return a list in which some divisors moved, each between its neighbours."""
        new, step = one.copy(), self.plan["step"]
        for i in np.flatnonzero(self.rng.random(len(one)) < self.plan["chance"]):
            low = new[i - 1] if i else 1.0
            high = new[i + 1] if i + 1 < len(new) else self._most
            grid = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
            if grid.size:
                new[i] = np.round(self.rng.choice(grid), 6)
        return new

    def _crossed(self, one: Divisors, other: Divisors) -> Divisors:
        """Return a list with some divisors of another; a changed one where that never rises."""
        for _ in range(self.plan["tries"]):
            new = np.where(self.rng.random(len(one)) < self.plan["chance"], other, one)
            if self._allowed(new) and tuple(new) not in self.losses:
                return new
        return self._changed(one)
