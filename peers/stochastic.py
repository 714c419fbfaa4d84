"""Stochastic codes, from the same noise, and their covariance from noise of their own."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from unittest import mock

import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import BATCH, D_HEAD, D_MODEL, LENGTH, N_HEADS, call, door, prefixed
from peers.references import code
from posenc.encodings import ConvSPE, SineSPE

N_SINES, KERNEL_SIZE, N_REALISATIONS = 5, 16, 64
MANY, SHORT = 4096, 12
SCALE = (
    "The reference divides codes by (R d_head)**(1/4) and leaves a factor R**(-1/2) to the scores; "
    "posenc divides codes by R**(1/2) and scores by d_head**(1/2)."
)
SINES = "Its gains are softplus(g) / sqrt(2 K) here."
FILTERS = "The reference correlates where the paper convolves: its filters are reversed here."
SAME = "Both get the same noise."


def spe():
    return code("spe", "src/pytorch/spe/spe.py")


@contextmanager
def recorded_noise() -> Iterator[list[Tensor]]:
    """Keep what the reference draws, so that posenc can be given the same."""
    drawn: list[Tensor] = []
    draw, generator = torch.randn, torch.Generator().manual_seed(1)

    def recorder(*shape, **options):
        # the same numbers in every dtype
        noise = draw(*shape, **options, dtype=torch.float32, generator=generator)
        drawn.append(noise.to(torch.get_default_dtype()))
        return drawn[-1]

    with mock.patch.object(torch, "randn", recorder):
        yield drawn


class _Filtered(nn.Module):
    """The reference's way from queries and keys to those that meet codes."""

    def __init__(self, codes: nn.Module) -> None:
        super().__init__()
        self.codes = codes
        self.filter = spe().SPEFilter(gated=True, code_shape=codes.code_shape)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        # the reference takes (batch, length, heads, d_head)
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        met = self.filter(q, k, self.codes(q.shape[:2]))
        return torch.stack(met).transpose(2, 3)


def filtered(
    codes: nn.Module, parameters: dict[str, Tensor], gate: Tensor, q: Tensor, k: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """Return what the reference makes of queries and keys, and the noise that it drew."""
    module = _Filtered(codes)
    with recorded_noise() as drawn:
        met = call(module, prefixed("codes", parameters) | {"filter.gate": gate}, q, k)
    return met, drawn


def queries_and_keys(numbers: Numbers) -> tuple[Tensor, Tensor]:
    shape = BATCH, N_HEADS, LENGTH, D_HEAD
    return numbers("queries", *shape), numbers("keys", *shape)


def met(position, q: Tensor, k: Tensor, noise, **parameters: Tensor) -> Tensor:
    """Return posenc's queries and keys with this noise, in the reference's scale."""
    position.noise = noise
    turned = torch.stack(door(position, "rotate", q, k, **parameters))
    return turned * (N_REALISATIONS**0.5 / (N_REALISATIONS * D_HEAD) ** 0.25)


def sine_parameters(numbers: Numbers) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return posenc's parameters and the reference's."""
    shape = N_HEADS, D_HEAD, N_SINES
    frequencies, phases, gains = (numbers(n, *shape) for n in ("frequencies", "phases", "gains"))
    ours = {
        "frequency_logits": frequencies,
        "phases": phases,
        "gains": nn.functional.softplus(gains) * (2 * N_SINES) ** -0.5,
    }
    return ours, {"freqs": frequencies, "offsets": phases, "gains": gains}


def sine_pair(realisations: int = N_REALISATIONS):
    """Return a new encoding and a new reference of the same sizes."""
    ours = SineSPE(
        D_MODEL, N_HEADS, LENGTH, n_sines=N_SINES, n_realisations=realisations, gated=True
    )
    return ours, spe().SineSPE(N_HEADS, D_HEAD, realisations, N_SINES)


def gate(numbers: Numbers) -> Tensor:
    return numbers("gate", N_HEADS, D_HEAD)


@case("sine_spe", "spe", "SineSPE and SPEFilter, gated", note=f"{SAME} {SCALE} {SINES}")
def sine_codes(numbers: Numbers):
    (q, k), (own, other) = queries_and_keys(numbers), sine_parameters(numbers)
    ours, theirs = sine_pair()
    reference, drawn = filtered(theirs, other, gate(numbers), q, k)
    waves, constant = drawn[0][0], drawn[1]
    # the reference has cosine and sine of each frequency in turn
    waves = torch.cat((waves[..., 0::2, :], waves[..., 1::2, :]), -2)

    def noise(*shape, stream=0, **_):
        return (constant[:, :, None] if stream else waves).reshape(shape)

    return met(ours, q, k, noise, gate=gate(numbers), **own), reference


@case(
    "sine_spe",
    "spe",
    "SineSPE.get_posattn_matrix",
    note="The kernel. The reference's lacks the factor 1 / (2 K) that its codes have.",
)
def sine_kernel(numbers: Numbers):
    own, other = sine_parameters(numbers)
    _, theirs = sine_pair()
    ours = SineSPE(D_MODEL, N_HEADS, LENGTH, n_sines=N_SINES)
    theirs.forward = theirs.get_posattn_matrix
    with redirect_stdout(StringIO()):
        reference = call(theirs, other, LENGTH)[0]
    return door(ours, "kernel", LENGTH, **own), reference / (2 * N_SINES)


def covariance(codes: tuple[Tensor, Tensor], kernel: Tensor) -> tuple[Tensor, Tensor]:
    """Return how far the codes' covariance is from the kernel in standard errors, and zeros.

    Codes are (1, length, heads, d_head, realisations), the kernel (heads, d_head, length, length).
    """
    scale = (MANY * D_HEAD) ** 0.25
    q, k = (code[0].permute(1, 2, 0, 3) * scale for code in codes)
    product = q[:, :, :, None] * k[:, :, None]
    error = product.std(-1) / math.sqrt(MANY)
    found = ((product.mean(-1) - kernel) / error).detach()
    return found, torch.zeros_like(found)


STATISTIC = {"note": f"{MANY} realisations, drawn by the reference.", "unit": "standard errors"}


@case("sine_spe", "spe", "SineSPE, covariance of its codes", **STATISTIC)
def sine_covariance(numbers: Numbers):
    own, other = sine_parameters(numbers)
    _, theirs = sine_pair(MANY)
    ours = SineSPE(D_MODEL, N_HEADS, SHORT, n_sines=N_SINES)
    kernel = door(ours, "kernel", SHORT, **own)
    return covariance(call(theirs, other, (1, SHORT)), kernel)


def filters(numbers: Numbers) -> tuple[Tensor, dict[str, Tensor]]:
    """Return posenc's filters and the reference's parameters."""
    both = numbers("filters", 2, N_HEADS, D_HEAD, KERNEL_SIZE, scale=KERNEL_SIZE**-0.5)
    # in the reference the map called q makes the code of the keys
    weights = {"conv_k.weight": both[0], "conv_q.weight": both[1]}
    return both, {name: w.flatten(0, 1).flip(-1)[:, None] for name, w in weights.items()}


@case("conv_spe", "spe", "ConvSPE and SPEFilter, gated", note=f"{SAME} {SCALE} {FILTERS}")
def conv_codes(numbers: Numbers):
    (q, k), (own, other) = queries_and_keys(numbers), filters(numbers)
    ours = ConvSPE(
        D_MODEL,
        N_HEADS,
        LENGTH,
        kernel_size=KERNEL_SIZE,
        n_realisations=N_REALISATIONS,
        gated=True,
    )
    theirs = spe().ConvSPE(1, N_HEADS, D_HEAD, N_REALISATIONS, KERNEL_SIZE)
    reference, drawn = filtered(theirs, other, gate(numbers), q, k)
    steps, constant = drawn

    def noise(*shape, stream=0, **_):
        if stream:
            return constant[:, :, None].reshape(shape)
        # (R, d_model, steps) to (d_model, steps, R), without the start that is cut off there
        return steps.permute(1, 2, 0)[:, KERNEL_SIZE : KERNEL_SIZE + shape[1]]

    return met(ours, q, k, noise, gate=gate(numbers), filters=own), reference


@case("conv_spe", "spe", "ConvSPE, covariance of its codes", **STATISTIC)
def conv_covariance(numbers: Numbers):
    own, other = filters(numbers)
    theirs = spe().ConvSPE(1, N_HEADS, D_HEAD, MANY, KERNEL_SIZE)
    ours = ConvSPE(D_MODEL, N_HEADS, SHORT, kernel_size=KERNEL_SIZE)
    kernel = door(ours, "kernel", SHORT, filters=own)
    return covariance(call(theirs, other, (1, SHORT)), kernel)
