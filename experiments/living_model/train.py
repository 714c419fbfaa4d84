"""Train the reader's GPT with each encoding, read it, and keep its weights in bytes."""

import json
import time
from pathlib import Path

import torch
from torch import Tensor, nn

from experiments.living_model import prose
from posenc_book import _files
from posenc_book.explorables import living
from posenc_book.read import plans, results
from posenc_book.records.hashes import hashed
from posenc_book.teaching import program

PLAN = plans.load("living_model")
HASH = hashed(PLAN)
FILE = "living-model.json"


def trained(name: str, text: Tensor, n_steps: int = PLAN["steps"]) -> program.GPT:
    """Return a model that has learned to say the next letter of a text."""
    torch.manual_seed(PLAN["seed"])
    task = program.next_token(text, n=PLAN["batch"], length=living.LENGTH)
    return program.train(living.untrained(name), task, n_steps).eval()


def windows(text: Tensor, n: int = PLAN["windows"]) -> Tensor:
    """Return pieces of a text, evenly spread, each with the letter after it: (n, length + 1)."""
    length = PLAN["length"]
    if len(text) <= length:
        raise ValueError(f"text must have more than {length} letters, got {len(text)}")
    first = torch.linspace(0, len(text) - length - 1, n).long()
    return text[first[:, None] + torch.arange(length + 1)]


@torch.no_grad()
def surprise(model: program.GPT, pieces: Tensor) -> list[float]:
    """Return the mean surprise of each block of letters, in nats a letter."""
    losses = [
        nn.functional.cross_entropy(model(one[:, :-1]).mT, one[:, 1:], reduction="none")
        for one in pieces.split(25)
    ]
    blocks = torch.cat(losses).mean(0).unflatten(0, (-1, PLAN["block"]))
    return [round(one, 4) for one in blocks.mean(1).tolist()]


def readings(name: str, weights: dict[str, Tensor], pieces: Tensor) -> list[dict]:
    """Return what a model makes of the test part, for each slowing and each first place."""
    found = []
    for slower in PLAN["slower"]:
        model = living.untrained(name, slower).eval()
        model.load_state_dict(weights)
        for start in PLAN["starts"]:
            model.count_from(start)
            nats = surprise(model, pieces)
            found.append({"slower": slower, "start": start, "nats": nats})
    return found


def run(name: str, out: Path, scripts: Path) -> None:
    """Train a model, write the script with its weights, and add its readings to a file."""
    learned, kept = map(living.numbers, prose.parts(PLAN["each"]))
    began = time.process_time()
    weights = trained(name, learned).state_dict()
    seconds = round(time.process_time() - began)
    script = living.packed(name, {key: value.numpy() for key, value in weights.items()})
    _files.replace(scripts / f"living-{name}.js", script)
    in_bytes = {key: torch.from_numpy(value) for key, value in living.unpacked(script).items()}
    pieces = windows(kept)
    stored = json.loads(_files.text(out)) if out.is_file() else {"plan": HASH, "models": {}}
    stored["models"][name] = {
        "as trained": readings(name, weights, pieces),
        "in bytes": readings(name, in_bytes, pieces),
        "seconds": seconds,
    }
    _files.replace(out, json.dumps(stored, indent=1) + "\n")


def run_all(names: list[str], out: Path | None = None, scripts: Path = living.SCRIPTS) -> None:
    """Train some of the models, one after another."""
    for name in names:
        run(name, out or results.folder() / FILE, scripts)
        print(f"{name}: trained, read and stored")
