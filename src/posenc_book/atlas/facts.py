"""What the library answers about an encoding when it is asked, for comparison with its card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from posenc import encodings
from posenc.attention import Cache, SelfAttention
from posenc.models import positions
from posenc.models.transfer import transfer

SIZE = {"d_model": 128, "n_heads": 8, "n_layers": 4, "L": 100}
"""The sizes for which the atlas counts parameters."""

_WIDTH, _HEADS, _LENGTH = 16, 2, 12  # of the layer that is asked


@dataclass(frozen=True)
class Facts:
    """Answers of the library.

    Attributes
    ----------
    doors : tuple of str
    parameters : int
        Numbers that a model of the size `SIZE` learns for the encoding.
    longer : str
        As in `Card.longer`.
    refusals : mapping from "longer", "real_times", "causal" or "cached" to str
        The library's reason for each thing that it refuses.
    """

    doors: tuple[str, ...]
    parameters: int
    longer: str
    refusals: Mapping[str, str] = field(default_factory=dict)


def facts(name: str) -> Facts:
    """Ask the library about an encoding."""
    longer, reason = _longer(name)
    asked = {"longer": reason, "real_times": _refusal(_real_times, name)}
    asked |= {"causal": _refusal(_causal, name), "cached": _refusal(_cached, name)}
    return Facts(
        doors=encodings.get(name).doors(),
        parameters=parameters(name, **SIZE),
        longer=longer,
        refusals={question: reason for question, reason in asked.items() if reason},
    )


def parameters(name: str, *, d_model: int, n_heads: int, n_layers: int, L: int) -> int:
    """Return how many numbers a model learns for an encoding, shared ones counted once."""
    with torch.random.fork_rng(devices=[]):
        if _n_axes(name) > 1:  # models of series have none, so one for each layer
            found = [
                encodings.make(encodings.get(name), d_model, n_heads, L) for _ in range(n_layers)
            ]
        else:
            found, _ = positions.for_layers(
                name, d_model, n_heads, L, n_layers, class_token=False, shared=None, options=None
            )
    unique = {id(p): p for position in found for p in position.parameters()}
    return sum(p.numel() for p in unique.values())


def _layer(name: str, *, length: int = _LENGTH, causal: bool = False) -> SelfAttention:
    """Return a small layer with this encoding, in double precision."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        position = encodings.make(encodings.get(name), _WIDTH, _HEADS, length)
        return SelfAttention(_WIDTH, _HEADS, position, causal=causal).double().eval()


def _tokens(length: int = _LENGTH) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, length, _WIDTH, dtype=torch.float64, generator=generator)


def _n_axes(name: str) -> int:
    """Return how many numbers make a token's position."""
    with torch.random.fork_rng(devices=[]):
        return encodings.make(encodings.get(name), _WIDTH, _HEADS, _LENGTH).n_axes


def _at(name: str, places: Tensor) -> dict[str, Tensor]:
    """Return the argument `positions` for an encoding that wants several numbers a token."""
    n_axes = _n_axes(name)
    on_axes = [places % (axis + 5) for axis in range(n_axes)]
    return {} if n_axes == 1 else {"positions": torch.stack(on_axes, -1)}


def _refusal(question: Callable[[str], object], name: str) -> str:
    """Return the library's reason to refuse, or "" if it serves."""
    try:
        question(name)
    except ValueError as error:
        return str(error)
    return ""


@torch.no_grad()
def _longer(name: str) -> tuple[str, str]:
    """Return what happens to an input of twice the length, and the reason if it is refused."""
    layer = _layer(name)
    at = _at(name, torch.arange(2 * _LENGTH))
    if not _refusal(lambda _: layer(_tokens(2 * _LENGTH), **at), name):
        return "as it is", ""
    reason = _refusal(lambda _: transfer(layer, _layer(name, length=2 * _LENGTH)), name)
    return ("refuses", reason) if reason else ("rebuilt", "")


@torch.no_grad()
def _real_times(name: str) -> None:
    times = torch.linspace(0, _LENGTH - 1, _LENGTH, dtype=torch.float64) ** 1.1 / _LENGTH**0.1
    _layer(name)(_tokens(), **({"positions": times} | _at(name, times)))


@torch.no_grad()
def _causal(name: str) -> None:
    """Ask for a causal layer, whose earlier outputs must not hang on later tokens."""
    layer, x = _layer(name, causal=True), _tokens()
    later = x.clone()
    later[:, -1] += 1
    at = _at(name, torch.arange(_LENGTH))
    if not torch.allclose(layer(x, **at)[:, :-1], layer(later, **at)[:, :-1], rtol=0, atol=1e-9):
        raise ValueError(f"{name} lets a later token change an earlier one")


@torch.no_grad()
def _cached(name: str) -> None:
    """Ask for one token at a time, which must give what the whole sequence gives."""
    layer, x, cache = _layer(name, causal=True), _tokens(), Cache()
    steps = [_at(name, torch.arange(i, i + 1)) for i in range(_LENGTH)]
    parts = [layer(x[:, i : i + 1], cache=cache, **at) for i, at in enumerate(steps)]
    whole = layer(x, **_at(name, torch.arange(_LENGTH)))
    if not torch.allclose(torch.cat(parts, 1), whole, rtol=0, atol=1e-9):
        raise ValueError(f"{name} gives other outputs from a cache than from the whole")
