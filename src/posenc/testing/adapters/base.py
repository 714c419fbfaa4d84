"""What the checks ask of a module: tokens in, outputs or scores out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from posenc import _checks

WORDS = ("positions", "padding", "documents", "cache")
"""What a module may take besides its tokens."""


class UseError(ValueError):
    """Whoever asks has to say more: it is no fault of the module."""


class CannotAsk(Exception):
    """A question that this module cannot be asked from outside; the message says why."""


class Ignored(Exception):
    """An argument is taken and changes nothing, so that an answer would mean nothing."""


class WrongOutput(Exception):
    """What came back is no output for these tokens."""


class NoTensor(WrongOutput):
    """What came back is no tensor, nor does it begin with one."""


class Adapter:
    """A module, as the checks see it.

    Parameters
    ----------
    call : callable
        Takes tokens and, as far as `takes` says so, the words `positions` (batch, length) or
        (batch, length, axes), `padding` (batch, length) with True for real tokens, `documents`
        (batch, length) numbers, and `cache`. Returns (batch, length, anything).
    width : int, optional
        Tokens are vectors of this width, float (batch, length, width).
    vocabulary : int, optional
        Tokens are integers below this, (batch, length). One of the two.
    takes : iterable of str
        Those of the four words that `call` takes.
    module : nn.Module, optional
        What holds the weights.
    new_cache : callable, optional
        Returns an empty cache.
    trained : int, optional
        The length that it was made for.
    name : str, optional
        What a report calls it.
    needs_positions : bool
        Whether it must be handed positions; then it gets 0, 1, 2, ... where a check has no others.
    axes : int
        Numbers that make the position of one token.
    n_layers : int
        How many layers of attention stand behind each other.
    unknown : tuple of str
        Names of other arguments, which nobody can hand over without being told.

    Raises
    ------
    ValueError
        If not exactly one of `width` and `vocabulary` is given, or `takes` has another word.

    Examples
    --------
    >>> layer = nn.Linear(8, 8)
    >>> Adapter(layer, width=8, module=layer).outputs(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        call: Callable[..., Any],
        *,
        width: int | None = None,
        vocabulary: int | None = None,
        takes: Iterable[str] = (),
        module: nn.Module | None = None,
        new_cache: Callable[[], Any] | None = None,
        trained: int | None = None,
        name: str | None = None,
        needs_positions: bool = False,
        axes: int = 1,
        n_layers: int = 1,
        unknown: tuple[str, ...] = (),
    ) -> None:
        if (width is None) == (vocabulary is None):
            raise UseError(
                "width or vocabulary must be given, and not both: is a token a vector or a number? "
                f"Got width={width!r}, vocabulary={vocabulary!r}"
            )
        self.call = call
        self.width = None if width is None else _checks.count("width", width, minimum=1)
        self.vocabulary = (
            None if vocabulary is None else _checks.count("vocabulary", vocabulary, minimum=4)
        )
        self.taken = frozenset(_checks.choice("takes", word, WORDS) for word in takes)
        self.module = module
        self.make_cache = new_cache
        self.trained = trained
        self.sizes: list[int] = []  # of all that was asked
        self.unknown = unknown
        self.needs_positions, self.axes, self.n_layers = needs_positions, axes, n_layers
        self.name = name or type(module).__name__ if module is not None else name or "the function"

    device: torch.device | None = None
    """Where the module was placed, if somebody did."""

    @property
    def dtype(self) -> torch.dtype:
        """The type of the weights, which tokens that are vectors must have."""
        weights = [] if self.module is None else self.module.parameters()
        floats = (one.dtype for one in weights if one.is_floating_point())
        return next(iter(floats), torch.get_default_dtype())

    def weights_of(self) -> list[Tensor]:
        """Return the module's parameters; a function has none."""
        return [] if self.module is None else list(self.module.parameters())

    def tokens(self, batch: int, length: int, seed: int = 0) -> Tensor:
        """Return random tokens; a longer row of the same seed begins alike."""
        rng = torch.Generator().manual_seed(seed)
        if self.vocabulary is not None:
            drawn = torch.randint(3, self.vocabulary, (length, batch), generator=rng)
            return drawn.T.contiguous()
        drawn = torch.randn(length, batch, self.width or 1, generator=rng, dtype=torch.float32)
        return drawn.transpose(0, 1).contiguous().to(self.dtype)

    def constant(self, batch: int, length: int) -> Tensor:
        """Return one token again and again."""
        first = self.tokens(1, 1, seed=3)
        return first.expand(batch, length, *first.shape[2:]).contiguous()

    def replaced(self, x: Tensor, places: int | slice) -> Tensor:
        """Return tokens of which some are others."""
        x = x.clone()
        if self.vocabulary is not None:
            x[:, places] = 3 + (x[:, places] - 3 + 1) % (self.vocabulary - 3)
        else:
            x[:, places] = 1.5 - x[:, places]
        return x

    def takes(self, word: str) -> bool:
        """Return whether the module takes `positions`, `padding`, `documents` or a `cache`."""
        return word in self.taken

    def outputs(self, x: Tensor, **given: Any) -> Tensor:
        """Return what the module makes of tokens, one output for each."""
        for word in given:
            if word not in self.taken:
                raise CannotAsk(f"it takes no {word}{self._others()}")
        if self.needs_positions and "positions" not in given:
            given["positions"] = self.placed(counted(x, given))
        if "positions" in given:
            given["positions"] = _for_rows(given["positions"], len(x))
        self.sizes.append(x.shape[0] * x.shape[1])
        given = {word: self.there(one) for word, one in given.items()}
        return _output(self.call(self.there(x), **given), x)

    def place_on(self, device: torch.device) -> None:
        """Move the module to a device, and from now on whatever it is called with."""
        self.device = device
        if self.module is not None:
            self.module.to(device)
            self.module.register_forward_pre_hook(self._all_there, with_kwargs=True)

    def _all_there(self, _: nn.Module, inputs: Any, named: Any) -> tuple[Any, Any]:
        return tuple(map(self.there, inputs)), {
            name: self.there(one) for name, one in named.items()
        }

    def there(self, one: Any) -> Any:
        """Return a tensor on the device where the module was placed, all else as it is."""
        if self.device is None or not isinstance(one, Tensor) or one.is_meta:
            return one
        return one.to(self.device)

    def use_kernel(self, name: str) -> None:  # noqa: ARG002
        """Let another kernel compute the attention from now on, "eager" for the plain one."""
        raise CannotAsk("it is no model of transformers, whose kernels have names")

    def windows(self) -> list[int]:
        """Return how many places its windows hold, as far as it tells."""
        return []

    def parts(self) -> list[tuple[str, Callable[[], None]]]:
        """Return what a kernel may forget of the attention, and what takes it out of the eager."""
        return []

    def _others(self) -> str:
        """Return words about arguments that nobody knows, of which one may be what is missing."""
        if not self.unknown:
            return ""
        several = " and ".join(f"`{name}`" for name in self.unknown[:3])
        kind = "arguments" if len(self.unknown) > 1 else "an argument"
        return f"; it has {kind} {several} that I do not know, and an Adapter can say what they are"

    def placed(self, places: Tensor) -> Tensor:
        """Return positions (batch, length), or the same along each axis if there are several."""
        return places if self.axes == 1 else places[..., None].expand(*places.shape, self.axes)

    def at(self, *rows: Sequence[float]) -> Tensor:
        """Return positions (rows, length), or with axes behind, each in an order of its own."""
        places = torch.tensor([list(row) for row in rows])
        if self.axes == 1:
            return places
        return torch.stack([places.roll(axis, 1) for axis in range(self.axes)], -1)

    def cache(self) -> Any:
        """Return an empty cache."""
        if self.make_cache is None or "cache" not in self.taken:
            raise CannotAsk(f"it takes no cache{self._others()}")
        return self.make_cache()

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Return the attention weights of the first layer, (batch, heads, length, length)."""
        raise CannotAsk("it does not show its attention weights")

    def turned(self, places: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """Return one query and one key as they meet at each place, (places, heads, d_head) both."""
        raise CannotAsk("it does not show its queries and keys")

    def repeated(self) -> "Adapter":
        """Return the same with shared heads of keys and values written out, one for each query."""
        raise CannotAsk("nobody has said how its shared heads are written out")


def _for_rows(positions: Tensor, rows: int) -> Tensor:
    """Return positions of one row for all rows; those with axes in front stay."""
    if positions.ndim == 3 and len(positions) not in (1, rows):
        return positions
    return positions.expand(rows, *positions.shape[1:])


def counted(x: Tensor, given: Mapping[str, Tensor]) -> Tensor:
    """Return places (batch, length) that count tokens, real ones only, each document anew."""
    real = torch.ones(x.shape[:2], dtype=torch.long, device=x.device)
    real = given["padding"].long() if "padding" in given else real
    count = real.cumsum(1)
    if "documents" in given:
        documents = given["documents"]
        begins = torch.ones_like(documents, dtype=torch.bool)
        begins[:, 1:] = documents[:, 1:] != documents[:, :-1]
        count = count - (count - real).where(begins, 0).cummax(1).values
    return (count - 1).clamp(min=0)


def _output(came: Any, x: Tensor) -> Tensor:
    """Return the tensor with an output for each token, or raise WrongOutput."""
    for name in ("logits", "last_hidden_state"):
        came = getattr(came, name, came)
    if isinstance(came, tuple | list) and came:
        came = came[0]
    if not isinstance(came, Tensor):
        raise NoTensor(f"{type(came).__name__} instead of a tensor")
    came = _plain(came)
    if not came.is_floating_point():
        raise WrongOutput(f"outputs of type {came.dtype}, where real numbers are due")
    if came.ndim < 3 or came.shape[:2] != x.shape[:2]:
        raise WrongOutput(
            f"an output of shape {tuple(came.shape)} for {x.shape[0]} rows of {x.shape[1]} tokens"
        )
    return came.flatten(2)


def _plain(came: Tensor) -> Tensor:
    """Return a copy, lest the module write over it, that is of no kind with its own arithmetic."""
    with torch._C.DisableTorchFunctionSubclass():
        came = came.detach().as_subclass(Tensor).clone()
    return came if came.is_meta else came.cpu()
