"""Train small transformers on three sets of graphs, each with four kinds of positions.

A model sees the tags of the nodes, and of the edges only what the positions say of them. For each
seed a fifth of the graphs, drawn anew, is the test, and nobody looks at it before the end. Nothing
is tuned, nothing stops early, and all four kinds get the same number of steps. Larger graphs are
left out, because a batch is as wide as its largest graph.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks, tables
from posenc.attention import Places, Position, SelfAttention
from posenc.encodings import GraphPosition, NoPosition
from posenc_book import _files
from posenc_book.data.graphs import NAMES, Graph, load_graphs

SEEDS = range(5)
STEPS, BATCH, RATE = 300, 32, 2e-3
COLUMNS, D_MODEL, N_HEADS, N_LAYERS = 8, 32, 4, 2
MOST_NODES = 60
KINDS = ("none", "laplacian", "laplacian, flipped", "random walk")


class Classifier(nn.Module):
    """Tokens of nodes, two layers of attention, the mean over the nodes."""

    def __init__(self, position: Position, n_tags: int, n_classes: int) -> None:
        super().__init__()
        self.position, self.tags = position, nn.Embedding(n_tags, D_MODEL)
        self.attention = nn.ModuleList(
            SelfAttention(D_MODEL, N_HEADS, NoPosition(D_MODEL, N_HEADS, MOST_NODES))
            for _ in range(N_LAYERS)
        )
        self.feed = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(D_MODEL),
                nn.Linear(D_MODEL, 2 * D_MODEL),
                nn.GELU(),
                nn.Linear(2 * D_MODEL, D_MODEL),
            )
            for _ in range(N_LAYERS)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(D_MODEL) for _ in range(N_LAYERS))
        self.head = nn.Linear(D_MODEL, n_classes)

    def forward(self, tags: Tensor, real: Tensor, rows: Tensor) -> Tensor:
        """(batch, nodes) twice and (batch, nodes, columns) to (batch, classes)."""
        x = self.tags(tags)
        if isinstance(self.position, GraphPosition):
            x = self.position.embed(x, Places.at(rows, x, COLUMNS))
        for norm, attention, feed in zip(self.norms, self.attention, self.feed, strict=True):
            x = x + attention(norm(x), padding=real)
            x = x + feed(x)
        weight = real.unsqueeze(-1).to(x)
        return self.head((x * weight).sum(1) / weight.sum(1))


def make_position(kind: str) -> Position:
    """Return the encoding of a kind."""
    if _checks.choice("kind", kind, KINDS) == "none":
        return NoPosition(D_MODEL, N_HEADS, MOST_NODES)
    flip = kind == "laplacian, flipped"
    return GraphPosition(D_MODEL, N_HEADS, MOST_NODES, n_columns=COLUMNS, flip=flip)


def padded(graphs: Sequence[Graph], kind: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return tags, which nodes are real, and the rows of their table, padded to one length."""
    shape = len(graphs), max(map(len, graphs))
    tags, real = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.bool)
    rows = torch.zeros(*shape, COLUMNS)
    make = tables.random_walk if kind == "random walk" else tables.laplacian_eigenvectors
    for i, graph in enumerate(graphs):
        n_nodes = len(graph)
        tags[i, :n_nodes], real[i, :n_nodes] = torch.as_tensor(graph.tags), True
        if kind != "none":
            rows[i, :n_nodes] = torch.as_tensor(make(graph.adjacency, COLUMNS))
    return tags, real, rows


def read(name: str) -> tuple[list[Graph], dict]:
    """Return the graphs of a set that are used, and facts about them."""
    every = load_graphs(name)
    graphs = [one for one in every if len(one) <= MOST_NODES]
    by_tags = defaultdict(list)
    for one in graphs:
        by_tags[tuple(sorted(one.tags))].append(one.label)
    commonest = Counter(one.label for one in graphs).most_common(1)[0][1]
    return graphs, {
        "graphs": len(every),
        "used": len(graphs),
        "classes": len({one.label for one in graphs}),
        "commonest": commonest / len(graphs),
        "same tags, another class": sum(len(v) for v in by_tags.values() if len(set(v)) > 1),
    }


def run(graphs: Sequence[Graph], kind: str, seed: int) -> dict:
    """Train once; return the accuracy on the fifth that was held out."""
    began = time.perf_counter()
    order = np.random.default_rng(seed).permutation(len(graphs))
    test, learned = np.split(order, [len(graphs) // 5])
    torch.manual_seed(seed)
    sizes = 1 + max(max(g.tags) for g in graphs), 1 + max(g.label for g in graphs)
    model = Classifier(make_position(kind), *sizes)
    inputs, labels = padded(graphs, kind), torch.tensor([g.label for g in graphs])
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for _ in range(STEPS):
        batch = torch.as_tensor(learned)[torch.randint(len(learned), (BATCH,))]
        loss = nn.functional.cross_entropy(model(*_some(inputs, batch)), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        parts = torch.as_tensor(test).split(BATCH)
        right = [model.eval()(*_some(inputs, p)).argmax(1) == labels[p] for p in parts]
    seconds = round(time.perf_counter() - began, 1)
    return {
        "kind": kind,
        "seed": seed,
        "right": torch.cat(right).float().mean().item(),
        "seconds": seconds,
    }


def _some(inputs: tuple[Tensor, ...], chosen: Tensor) -> tuple[Tensor, ...]:
    """Return some graphs of a set, without the columns that are padding for all of them."""
    widest = int(inputs[1][chosen].sum(1).max())
    return tuple(one[chosen, :widest] for one in inputs)


def missing(stored: list[dict]) -> Iterator[tuple[str, str, int]]:
    """Yield which trainings are not stored yet."""
    there = {(one["set"], one["kind"], one["seed"]) for one in stored}
    for seed in SEEDS:
        for name in NAMES:
            yield from ((name, k, seed) for k in KINDS if (name, k, seed) not in there)


def run_all(out: Path) -> None:
    """Train what a file lacks, and store each training as it ends."""
    stored = json.loads(_files.text(out))["runs"] if out.is_file() else []
    sets = {name: read(name) for name in NAMES}
    for name, kind, seed in list(missing(stored)):
        stored.append({"set": name, **run(sets[name][0], kind, seed)})
        facts = {name: facts for name, (_, facts) in sets.items()}
        text = json.dumps({"torch": torch.__version__, "sets": facts, "runs": stored}, indent=1)
        _files.replace(out, text + "\n")
