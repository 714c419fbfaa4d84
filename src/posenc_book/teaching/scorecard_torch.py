"""The five wishes of `posenc_book.teaching.scorecard`, measured for the encodings of every door.

An encoding that adds vectors to the tokens is measured by its table. For the other doors each wish
has an analogue in what position contributes to attention: C(i, j), what is added to the score of
query i and key j (to the weight, behind the door `mix`) when all tokens are alike.

Where a position is several numbers, token t stands at (0, ..., 0, t), as steps of one sensor do.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import _checks
from posenc.attention import Places, Position, SelfAttention
from posenc.models import positions
from posenc.models.transfer import transfer
from posenc_book.teaching import scorecard
from posenc_book.teaching.scorecard import OFFSETS, Scorecard

N_CONTENTS = 8  # tokens that are tried as the common content
SEED_OF_LAYER = 1000  # layers are drawn from other seeds than the encodings that they hold
Make = Callable[[int], Position]
Maker = Callable[[int, int, int], Position]


def measure(
    position: str | Maker,
    *,
    d_model: int = 64,
    n_heads: int = 4,
    n_positions: int = 50,
    n_draws: int = 20,
    **options: Any,
) -> Scorecard:
    """Return the scorecard of an encoding at its start, in double precision.

    Parameters
    ----------
    position : str, class or callable
        One of `encodings.names("all")`, or what makes an encoding from
        (d_model, n_heads, max_length), such as a class of your own.
    d_model, n_heads : int
        As for `Position`.
    n_positions : int
        Length at which to measure, more than twice the largest offset. For the wish to extend, an
        encoding is built for twice the length and gets the weights of the first.
    n_draws : int
        Random starts of the encoding, with contents of their own. Every number is the median over
        them, so that no single draw decides a wish; `repeatable` asks all of them.
    **options
        Those of the encoding.

    Returns
    -------
    Scorecard
        With a table: that of `scorecard.measure`. The table of an encoding from the signal is what
        it adds to one series of random tokens. Else:

        `largest_value`: largest |C| after its row's mean is taken off (the softmax does not see
        it), in units of the spread 1 that scores of independent random tokens have; behind `mix`
        the largest sum of |C| in a row, where the attention weights of a row sum to 1.
        `mean_value`: mean of C after the same.
        `separation`: `order_distance`.
        `offset_variation`: how much C varies along a diagonal, relative to its root mean square;
        worst over the offsets to both sides.
        `row_change`: largest change of C between the first positions in twice the length.
        `largest_step`: largest distance between what neighbouring keys get from all queries and
        heads, relative to the mean distance of two keys.

    Raises
    ------
    ValueError
        If the name, an option or a size is wrong.

    Examples
    --------
    >>> card = measure("rotary", d_model=16, n_heads=2, n_positions=24)
    >>> card.wishes
    {'scale': False, 'unique': True, 'relative': True, 'extendable': True, 'smooth': True}
    """
    _checks.count("n_positions", n_positions, minimum=2 * max(OFFSETS) + 1)
    n_draws = _checks.count("n_draws", n_draws, minimum=1)

    def measure_start(seed: int) -> Scorecard:
        def make(length: int) -> Position:
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(seed)  # the one of all devices is slow
                made = positions.build(position, d_model, n_heads, length, options)
                return made.double().eval()

        made = make(n_positions)
        if "embed" in made.doors():
            return scorecard.measure(lambda n: _table(made, make, n, seed), n_positions)
        return _measure_doors(made, make, seed)

    return _middle([measure_start(seed) for seed in range(n_draws)])


@torch.no_grad()
def order_distance(position: Position, seed: int = 0) -> float:
    """Return how far apart a layer's output puts reorderings of the same tokens.

    The output of one layer of random attention is averaged over the tokens, whose order it then
    shows through `position` alone. The result is the smallest distance to the original order
    over four others (reversed, shifted round by one, two neighbours exchanged, shuffled),
    relative to the spread of such outputs over other tokens; 0 means that some order is not seen.
    """
    length, d_model = position.max_length, position.d_model
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        layer = SelfAttention(d_model, position.n_heads, position).double().eval()
        x, *others = torch.randn(9, length, d_model, dtype=torch.float64)
        swapped = torch.arange(length)
        swapped[[length // 2, length // 2 + 1]] = swapped[[length // 2 + 1, length // 2]]
        reordered = [x.flip(0), x.roll(1, 0), x[swapped], x[torch.randperm(length)]]
    batch = torch.stack([x, *reordered, *others])
    pooled = layer(batch, positions=_line(position, length)).mean(1)
    spread = (pooled[5:] - pooled[5:].mean(0)).square().sum(1).mean().sqrt()
    return float((pooled[1:5] - pooled[0]).norm(dim=1).min() / spread)


@torch.no_grad()
def contribution(position: Position, length: int, contents: Tensor) -> Tensor:
    """Return what position adds to the scores, or behind `mix` to the weights, of equal tokens."""
    x = contents[:, None].expand(-1, length, -1)
    if _acts_on_weights(position):
        weights = position.mix(x)
        assert isinstance(weights, Tensor)
        return weights[None]
    q = x.unflatten(-1, (position.n_heads, -1)).transpose(1, 2)
    line = _line(position, length)
    places = Places.of(x) if line is None else Places.at(line, x, position.n_axes)
    turned_q, turned_k = position.through("rotate", places, q, q)
    added = (turned_q @ turned_k.mT - q @ q.mT) * position.d_head**-0.5
    bias = position.through("bias", places, x, q, q)
    return added if bias is None else added + bias


def _acts_on_weights(position: Position) -> bool:
    """Return whether an encoding adds a table of its own to the weights, behind the softmax."""
    return isinstance(position.mix(torch.zeros(1, 1, position.d_model)), Tensor)


def _line(position: Position, length: int) -> Tensor | None:
    """Return places along the last axis, (length, n_axes), or None where a place is one number."""
    if position.n_axes == 1:
        return None
    return torch.nn.functional.pad(torch.arange(length)[:, None], (position.n_axes - 1, 0))


def _table(position: Position, make: Make, length: int, seed: int) -> NDArray[np.float64]:
    """Return the rows that are added, at a longer length with the weights of `position`."""
    if length > position.max_length:
        position = transfer(position, make(length))
    tokens = np.zeros((length, position.d_model))
    if position.reads_neighbours:
        tokens = np.random.default_rng(seed).normal(size=tokens.shape)
    return position.embed(torch.tensor(tokens)[None])[0].detach().numpy() - tokens


def _middle(cards: list[Scorecard]) -> Scorecard:
    """Return the medians of several cards of one encoding."""
    numbers = {name: [vars(card)[name] for card in cards] for name in vars(cards[0])}
    repeatable = all(numbers.pop("repeatable"))
    medians = {name: float(np.median(values)) for name, values in numbers.items()}
    return Scorecard(**medians, repeatable=repeatable)


def _measure_doors(position: Position, make: Make, seed: int) -> Scorecard:
    length = position.max_length
    rng = np.random.default_rng([seed, 1, 1])  # not the stream from which SPE draws its codes
    contents = torch.tensor(rng.normal(size=(N_CONTENTS, position.d_model)))
    c = contribution(position, length, contents).numpy()
    again = contribution(position, length, contents).numpy()
    try:
        longer = contribution(transfer(position, make(2 * length)), 2 * length, contents).numpy()
        change = float(np.abs(longer[..., :length, :length] - c).max())
    except ValueError:
        change = np.inf
    centred = c if _acts_on_weights(position) else c - c.mean(-1, keepdims=True)
    sizes = np.abs(c).sum(-1) if _acts_on_weights(position) else np.abs(centred)
    return Scorecard(
        largest_value=float(sizes.max()),
        mean_value=float(centred.mean()),
        separation=order_distance(position, SEED_OF_LAYER + seed),
        repeatable=np.array_equal(c, again),
        offset_variation=_diagonal_variation(c),
        row_change=change,
        largest_step=_largest_step(c),
    )


def _diagonal_variation(c: NDArray[np.float64]) -> float:
    """Return (max - min) along a diagonal over the root mean square, worst over all."""
    worst = max(
        np.ptp(np.diagonal(c, offset, -2, -1), axis=-1).max() for k in OFFSETS for offset in (-k, k)
    )
    return float(worst / np.sqrt(np.mean(c**2))) if worst else 0.0


def _largest_step(c: NDArray[np.float64]) -> float:
    """Return the largest distance of neighbouring keys over the mean distance of two keys."""
    keys = np.moveaxis(c, -1, 0).reshape(c.shape[-1], -1)  # all that a key gets, in one row
    return scorecard.largest_step(keys)
