"""Whether a device computes what the processor does: one short training on each, step by step.

Both start from the same weights and see the same batches. Dropout's masks are drawn on the
processor for both, as each kind of device has a generator of its own. What then differs is how a
device rounds and in which order it sums, and how the optimiser carries that on.
"""

import datetime
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from posenc_book.bench import build, dropout, ensemble, jobs, ownfile, parts
from posenc_book.bench.train import Training
from posenc_book.records import locks, records
from posenc_book.records.settings import Settings

MAKER = "posenc bench agree"
# One encoding without a door, and one for each.
ENCODINGS = {"none": "none", "embed": "sinusoidal", "rotate": "rotary", "bias": "t5", "mix": "erpe"}
STEPS = 5
MASKS = "dropout's masks are drawn on the processor for both devices"
_TASK = {"length": 24, "n": 96, "distance": 4}
_SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 64, "batch_size": 24}


class Course(NamedTuple):
    """What a short training came to.

    Parameters
    ----------
    losses : Tensor of shape (STEPS,)
        Of every step, in nats, before it was taken.
    logits : Tensor of shape (n, n_classes)
        Of the test part after the last step.
    """

    losses: Tensor
    logits: Tensor


def cell(encoding: str) -> Settings:
    """Return what is trained: a range probe, which needs no file, in float32."""
    return Settings(
        encoding,
        "time_series",
        "range_probe",
        profile="agreement",
        encoding_source=build.encoding_fingerprint(encoding),
        dataset_options=_TASK,
        steps=STEPS,
        check_every=STEPS,
        **_SIZES,
    )


def course(settings: Settings, device: str) -> Course:
    """Train a cell for `STEPS` steps on a device."""
    where = torch.device(device)
    data = parts.load_parts(settings, where)
    model = build.model(settings, data.n_channels, data.n_classes, data.length).to(where)
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        run = Training([settings], ensemble.make([model]), data, where)
        drawn = dropout.noise(settings.seed, torch.device("cpu"))
        run.noises = [lambda n: drawn(n).to(where)]
        losses = torch.cat([run.take_step() for _ in range(STEPS)])
    with torch.no_grad():
        logits = run.group.predict(data.test.x, data.test.mask)[0]
    return Course(losses.cpu(), logits.cpu())


def difference(one: Course, other: Course) -> dict[str, float]:
    """Return how far two trainings are apart."""
    if not all(torch.isfinite(tensor).all() for tensor in (*one, *other)):
        raise ValueError("a loss or a logit is not finite, so that there is nothing to compare")
    return {
        "losses": (one.losses - other.losses).abs().max().item(),
        "logits": (one.logits - other.logits).abs().max().item(),
        "largest_logit": one.logits.abs().max().item(),
    }


def run(options: Namespace) -> int:
    """Compare a device with the processor, print how far they are apart, and store it."""
    device = jobs.resolve_device(options.device)
    ownfile.read_own(
        options.out, MAKER
    )  # somebody else's file is an error before anything is trained
    found = {}
    for door, name in ENCODINGS.items():
        settings = cell(name)
        apart = difference(course(settings, "cpu"), course(settings, device))
        found[name] = {"door": door, "encoding_source": settings.encoding_source, **apart}
        print(
            f"{name}: losses differ by up to {apart['losses']:.2g}, "
            f"logits by up to {apart['logits']:.2g}"
        )
    _keep(options.out, jobs.device_name(device), found)
    return 0


def _keep(path: Path, device: str, found: dict[str, dict]) -> None:
    """Write the differences into the file, beside those of other devices."""
    about = {
        "when": datetime.date.today().isoformat(),
        "steps": STEPS,
        "masks": MASKS,
        "matmul": torch.get_float32_matmul_precision(),
        "versions": records.versions(),
        "settings": {
            name: value
            for name, value in cell("none").stored().items()
            if name not in ("encoding", "encoding_source", "encoding_options")
        },
        "encodings": found,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with locks.exclusive_folder(path.parent):  # a run on another device may end just now
        devices = ownfile.read_own(path, MAKER).get("devices", {})
        ownfile.write_own(path, MAKER, {"devices": {**devices, device: about}})
