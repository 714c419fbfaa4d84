"""Train small transformers on digits of 8 by 8 pixels, and read them in other shapes."""

import json
import math
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc import _checks, encodings, frequencies
from posenc.attention import Position, SelfAttention
from posenc.encodings.axial import shaken
from posenc_book import _files
from posenc_book.read.pictures import HASH, LATER, LATER_HASH, PLAN, RUNS

SIDE = 8
MODEL, COURSE = PLAN["model"], PLAN["course"]
Shape = tuple[int, int]


class Layer(nn.Module):
    """Attention and a feed-forward network, each behind a norm."""

    def __init__(self, position: Position) -> None:
        super().__init__()
        width = MODEL["d_model"]
        self.attention = SelfAttention(width, MODEL["n_heads"], position)
        inner = nn.Linear(width, MODEL["d_ff"]), nn.GELU(), nn.Linear(MODEL["d_ff"], width)
        self.feed_forward = nn.Sequential(*inner)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, x: Tensor, places: Tensor, real: Tensor | None) -> Tensor:
        """(batch, pixels, d_model) to the same."""
        turns = isinstance(self.attention.position, encodings.AxialRotary)
        told = {"padding": real, "positions": places if turns else None}
        x = x + self.attention(self.norms[0](x), **told)
        return x + self.feed_forward(self.norms[1](x))


class Classifier(nn.Module):
    """Pixels to ten digits; `encoding` is one of the plan's."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self.encoding, width = encoding.removesuffix(", shaken"), MODEL["d_model"]
        self.tokens = nn.Linear(1, width)
        self.table = nn.Parameter(0.02 * torch.randn(1, width, SIDE, SIDE))
        self.layers = nn.ModuleList(Layer(self._turned()) for _ in range(MODEL["n_layers"]))
        self.norm, self.look = nn.LayerNorm(width), nn.Linear(width, 1)
        self.head = nn.Linear(width, 10)

    def _turned(self) -> Position:
        sizes = MODEL["d_model"], MODEL["n_heads"], SIDE * SIDE
        if self.encoding in ("axial", "mixed"):
            return encodings.make("axial_rotary", *sizes, axes=self.encoding, base=MODEL["base"])
        return encodings.make("none", *sizes)

    def forward(self, pictures: Tensor, places: Tensor, real: Tensor | None = None) -> Tensor:
        """Pictures (batch, rows, columns) with a place for each pixel, to logits (batch, 10).

        What is not `real`, (batch, pixels), is hidden.
        """
        x = self.tokens(pictures.flatten(1)[..., None])
        x = x + self._added(pictures.shape[1:], places)
        for layer in self.layers:
            x = layer(x, places, real)
        x = self.norm(x)
        seen = self.look(x)
        if real is not None:
            seen = seen.masked_fill(~real[..., None], -torch.inf)
        return self.head((seen.softmax(1) * x).sum(1))

    def _added(self, shape: torch.Size, places: Tensor) -> Tensor | float:
        """Return what is added to the tokens: (1, pixels, d_model), or nothing."""
        if self.encoding == "learned":
            resized = functional.interpolate(self.table, shape, mode="bilinear")
            return resized.flatten(2).mT
        if self.encoding == "sinusoid":
            omega = torch.from_numpy(frequencies.geometric(MODEL["d_model"] // 2, MODEL["base"]))
            angles = places[..., None] * omega
            waves = torch.stack([angles.sin(), angles.cos()], -1)  # pixels, axes, pairs, 2
            return waves.flatten(1).float()
        return 0.0


def places_of(rows: int, columns: int, how: str = "counted") -> Tensor:
    """Return the row and column of each pixel: counted, or spread over a picture of 8."""
    if _checks.choice("how", how, ("counted", "spread")) == "counted":
        axes = [torch.arange(n, dtype=torch.float64) for n in (rows, columns)]
    else:
        axes = [
            (torch.arange(n, dtype=torch.float64) + 0.5) * SIDE / n - 0.5 for n in (rows, columns)
        ]
    return torch.cartesian_prod(*axes)


def shown(pictures: Tensor, how: str, generator: torch.Generator) -> Tensor:
    """Return pictures in another shape: (n, rows, columns)."""
    if how == "cut":
        return pictures[..., 1:-1]
    if how == "enlarged":
        return functional.interpolate(pictures[:, None], scale_factor=2, mode="bilinear")[:, 0]
    if how in ("wide", "sheet"):
        rows = SIDE if how == "wide" else 2 * SIDE
        sheets = torch.zeros(len(pictures), rows, 2 * SIDE)
        for sheet, picture in zip(sheets, pictures, strict=True):
            row, column = (
                int(torch.randint(n - SIDE + 1, (1,), generator=generator)) for n in sheet.shape
            )
            sheet[row : row + SIDE, column : column + SIDE] = picture
        return sheets
    return pictures


def digits(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return pictures and digits for training, then those for testing; the seed deals them."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = torch.randperm(len(found.target), generator=torch.Generator().manual_seed(seed))
    pictures = torch.from_numpy(found.images).float()[order] / 16
    names, n = torch.from_numpy(found.target)[order], PLAN["test"]
    return pictures[n:], names[n:], pictures[:n], names[:n]


def trained(encoding: str, pictures: Tensor, names: Tensor, seed: int) -> Classifier:
    """Return a model that has learned digits, as the plan says."""
    torch.manual_seed(seed)
    model, n_steps, rise = Classifier(encoding), COURSE["steps"], COURSE["warmup"]
    optimizer = torch.optim.AdamW(
        model.parameters(), COURSE["learning_rate"], weight_decay=COURSE["weight_decay"]
    )
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / rise, 0.5 + 0.5 * math.cos(math.pi * step / n_steps)),
    )
    generator, places = torch.Generator().manual_seed(seed), places_of(SIDE, SIDE)
    for _ in range(n_steps):
        rows = torch.randint(len(pictures), (COURSE["batch"],), generator=generator)
        at = shaken(places, **PLAN["shaken"]) if encoding.endswith("shaken") else places
        loss = functional.cross_entropy(model(pictures[rows], at), names[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    return model.eval()


@torch.no_grad()
def readings(
    model: Classifier, pictures: Tensor, names: Tensor, seed: int, ways: dict[str, dict]
) -> dict[str, int]:
    """Return how many digits are read rightly in each way."""
    right = {}
    for name, way in ways.items():
        seen, squares = (
            shown(one, way["picture"], torch.Generator().manual_seed(seed))
            for one in (pictures, torch.ones_like(pictures))
        )
        places, said = places_of(*seen.shape[1:], way["places"]), []
        for part, square in zip(seen.split(60), squares.split(60), strict=True):
            real = square.flatten(1) > 0 if way.get("hidden") else None
            said.append(model(part, places, real).argmax(-1))
        right[name] = int((torch.cat(said) == names).sum())
    return right


def run(encoding: str, seed: int, ways: dict[str, dict]) -> dict:
    """Return what one training reads rightly."""
    _checks.choice("encoding", encoding, PLAN["encodings"])
    began = time.process_time()
    *learned, pictures, names = digits(seed)
    right = readings(trained(encoding, *learned, seed), pictures, names, seed, ways)
    seconds = round(time.process_time() - began, 1)
    return {"encoding": encoding, "seed": seed, "right": right, "seconds": seconds}


def run_all(out: Path, names: Sequence[str], seeds: Sequence[int], *, later: bool = False) -> None:
    """Train what a file lacks, seed by seed, and store each training as it ends."""
    stored = json.loads(_files.text(out)) if out.is_file() else {}
    runs, ways = stored.setdefault(RUNS[later], []), (LATER if later else PLAN)["readings"]
    there = {(one["encoding"], one["seed"]) for one in runs}
    for seed, name in product(seeds, names):
        if (name, seed) not in there:
            runs.append(run(name, seed, ways))
            _files.replace(out, written(stored))


def written(stored: dict[str, list[dict]]) -> str:
    """Return the text of a file of results, with one digit in each shape beside the trainings."""
    one = digits(0)[2][:1]
    shapes = {
        name: (16 * shown(one, way["picture"], torch.Generator().manual_seed(0))[0]).round()
        for name, way in PLAN["readings"].items()
    }
    pictures = {name: picture.int().tolist() for name, picture in shapes.items()}
    head = {"plans": [HASH, LATER_HASH], "torch": torch.__version__, "shown": pictures}
    text, order = json.dumps(head)[:-1], PLAN["encodings"]
    for kind in RUNS:
        runs = stored.get(kind, [])
        runs = sorted(runs, key=lambda one: (one["seed"], order.index(one["encoding"])))
        lines = ",\n  ".join(json.dumps(one) for one in runs)
        text += f', "{kind}": [\n  {lines}\n]'
    return text + "}\n"
