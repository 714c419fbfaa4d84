"""Tokens at random places in training, so that places of longer inputs are known (Ruoss et al.)."""

import torch
from torch import Tensor

from posenc import _checks
from posenc.models.stored import StoredOnce


class RandomPlaces(StoredOnce):
    """A model with `layers` whose tokens stand at random places in training, if it is made so."""

    random_positions: int | None = None

    def draw_positions(self, length: int, generator: torch.Generator | None = None) -> Tensor:
        """Return sorted places of 0 to `random_positions - 1`, none twice: integers (length,).

        Parameters
        ----------
        length : int
            At most `random_positions`.
        generator : torch.Generator, optional
            Of the processor; by default torch's own.

        Raises
        ------
        ValueError
            If the model has no `random_positions`, or fewer than `length`.
        """
        if self.random_positions is None:
            raise ValueError("random_positions must be given to the model to draw them, got None")
        if _checks.count("length", length) > self.random_positions:
            raise ValueError(
                f"length must be at most random_positions = {self.random_positions}, got {length}"
            )
        drawn = torch.randperm(self.random_positions, generator=generator, device="cpu")[:length]
        return drawn.sort().values

    def _drawn(self, length: int) -> Tensor | None:
        """Return the places of a pass in which nobody says any, None where tokens count."""
        if self.random_positions is None or not self.training:
            return None
        return self.draw_positions(length)

    @torch.no_grad()
    def _check_served(self, last: int) -> None:
        """Raise ValueError if an encoding cannot serve the places to be drawn, up to `last`."""
        weight = self.layers[0].attention.out.weight
        x = weight.new_zeros(1, 2, self.layers[0].attention.d_model)
        ends = torch.tensor([0, last], device=weight.device)
        with torch.random.fork_rng(devices=[]):
            for layer in self.layers:
                try:
                    layer.eval().attention(x, positions=ends)
                except ValueError as error:
                    name = type(layer.attention.position).__name__
                    raise ValueError(
                        f"random_positions must be None with {name}, which does not serve them, "
                        f"got {self.random_positions}: {error}"
                    ) from error
        self.train()


def check_random(random_positions: int | None, least: str, n_least: int) -> int | None:
    """Return the number of places to draw from, or raise ValueError if some inputs lack room.

    `least` says in a message what `n_least` counts.
    """
    if random_positions is None:
        return None
    if _checks.count("random_positions", random_positions, minimum=1) < n_least:
        raise ValueError(
            f"random_positions must be at least {least} = {n_least}, as no place is drawn "
            f"twice, got {random_positions}"
        )
    return int(random_positions)
