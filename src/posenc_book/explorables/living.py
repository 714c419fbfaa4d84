"""The reader's GPT as it lives in the page: its encodings, and its weights in bytes.

The weights of an encoding are a script, `scripts/living-NAME.js`, as a page that is opened from a
folder can load nothing else. Each matrix is kept as bytes with a scale for each row.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks
from posenc_book import _files
from posenc_book.teaching import program

LETTERS = " \n!'(),-.:;?abcdefghijklmnopqrstuvwxyz"
LENGTH, D_MODEL, N_HEADS, N_LAYERS = 64, 64, 4, 2
SCRIPTS = Path(__file__).with_name("scripts")
CALL = re.compile(r'posencLiving\("(\w+)", (\[.*\]), "(.*)", "(.*)"\);\n')


class CausalSinusoid(program.Causal, program.Sinusoid):
    """The first door, with clocks that can be slowed."""

    def __init__(self, omega: NDArray[np.float64]) -> None:
        super().__init__()
        self.omega = omega

    def embed(self, x: Tensor) -> Tensor:
        """Add what the clocks show, (batch, length, d_model)."""
        places = self.start + np.arange(x.shape[1])
        return x + torch.tensor(program.encode(places, self.omega)).to(x)


class CausalALiBi(program.Causal, program.ALiBi):
    """The third door: what lies further back weighs less."""


class CausalMessage(program.Causal, program.Message):
    """The second door and the fifth."""


def position(name: str, slower: float = 1) -> program.Shut:
    """Return an encoding whose clocks, if it has any, are slowed by so much."""
    wide, narrow = (
        program.stretch(program.geometric(width), slower, LENGTH)
        for width in (D_MODEL, D_MODEL // N_HEADS)
    )
    encodings: dict[str, Callable[[], program.Shut]] = {
        "none": program.Causal,
        "sinusoid": lambda: CausalSinusoid(wide),
        "rope": lambda: program.CausalRotary(narrow),
        "alibi": lambda: CausalALiBi(N_HEADS),
        "message": lambda: CausalMessage(narrow),
    }
    return encodings[_checks.choice("name", name, encodings)]()


def untrained(name: str, slower: float = 1) -> program.GPT:
    """Return the model with an encoding, its weights as they were born."""
    return program.GPT(position(name, slower), len(LETTERS), D_MODEL, N_HEADS, N_LAYERS)


def load(name: str, slower: float = 1, start: int = 0) -> program.GPT:
    """Return the model that the page has, whose text begins at a place."""
    with torch.random.fork_rng(devices=[]):  # whoever draws numbers next draws the same ones
        model = untrained(name, slower)
    weights = unpacked(_files.text(SCRIPTS / f"living-{name}.js"))
    model.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
    model.count_from(start)
    return model.eval()


def packed(name: str, weights: Mapping[str, NDArray[np.float32]]) -> str:
    """Return the script that holds weights: first all numbers that stay, then all bytes."""
    floats, small = [], []
    for value in weights.values():
        if value.ndim == 1:
            floats.append(value)
            continue
        scales = np.abs(value).max(axis=1) / np.float32(127)
        floats.append(scales)
        small.append(np.round(value / scales[:, None]).astype(np.int8).ravel())
    shapes = json.dumps([[key, *value.shape] for key, value in weights.items()])
    kept = _base64(np.concatenate(floats).astype("<f4"))
    return f'posencLiving("{name}", {shapes}, "{kept}", "{_base64(np.concatenate(small))}");\n'


def unpacked(script: str) -> dict[str, NDArray[np.float32]]:
    """Return the weights that a script holds."""
    found = CALL.fullmatch(script)
    if found is None:
        raise ValueError(f"script must be a call of posencLiving, got {script[:40]!r}...")
    floats = np.frombuffer(base64.b64decode(found[3]), "<f4")
    small = np.frombuffer(base64.b64decode(found[4]), np.int8)
    weights = {}
    for key, rows, *columns in json.loads(found[2]):
        weights[key], floats = floats[:rows].astype(np.float32), floats[rows:]
        if columns:
            size = rows * columns[0]
            weights[key] = small[:size].reshape(rows, -1) * weights[key][:, None]
            small = small[size:]
    return weights


def _base64(values: NDArray) -> str:
    return base64.b64encode(values.tobytes()).decode()


def numbers(text: str) -> Tensor:
    """Return the letters of a text as numbers, (letters,); one never met counts as a space."""
    return torch.tensor([max(LETTERS.find(one), 0) for one in text.lower()])


@torch.no_grad()
def following(model: program.GPT, text: str) -> list[float]:
    """Return how likely each letter is to come next."""
    return model(numbers(text)[None])[0, -1].softmax(-1).tolist()


@torch.no_grad()
def surprises(model: program.GPT, text: str) -> list[float]:
    """Return how much each letter but the first surprised the model, in nats."""
    words = numbers(text)
    losses = nn.functional.cross_entropy(model(words[None, :-1])[0], words[1:], reduction="none")
    return losses.tolist()
