"""Three small sets of graphs, as text: molecules that mutate, proteins, and enzymes of six kinds.

The files are those of github.com/muhanzhang/pytorch_DGCNN, made from TUDataset (Morris et al.
2020). First the number of graphs; for each a line `nodes label`, then a line for each node: its
tag, how many neighbours it has, and which.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data import download, folders
from posenc_book.data.download import Url
from posenc_book.data.errors import DownloadError, FileFormatError, MissingDataError
from posenc_book.data.formats import text

FOLDER = "graphs"
MOST_NODES = 10_000  # of a graph: its adjacency matrix has the square of that
_AT = (
    "https://raw.githubusercontent.com/muhanzhang/pytorch_DGCNN/"
    "50f504131ca66382f3f078ae98e59aa3ae35b795/data"
)
_SUMS = {
    "MUTAG": "5897dae243f6c773aab54ec99e86551c3b1e8601acef254714073042c632d30e",
    "PROTEINS": "ed0730f9bf9da68aa6a8c80f2f2b6ecea5d05791ca254c709f3efab3b45d937b",
    "ENZYMES": "04e048844018a0f9c87afdc0d69031c4b625bb97d40320b9dbd76acc663f41a6",
}
NAMES = tuple(_SUMS)


@dataclass(frozen=True)
class Graph:
    """A graph, as it is classified.

    Attributes
    ----------
    tags : array of shape (n,)
        The kind of each node: in MUTAG the chemical element.
    adjacency : array of shape (n, n)
        1 where two nodes are neighbours, else 0; symmetric.
    label : int
        The class, counted from 0.
    """

    tags: NDArray[np.int64]
    adjacency: NDArray[np.float64]
    label: int

    def __len__(self) -> int:
        return len(self.tags)


def load_graphs(name: str) -> list[Graph]:
    """Return a set of graphs, from $POSENC_DATA, from the cache or from the web.

    Parameters
    ----------
    name : {"MUTAG", "PROTEINS", "ENZYMES"}

    Returns
    -------
    list of Graph

    Raises
    ------
    ValueError
        For another name.
    MissingDataError
        If the file is neither here nor to be had; the message says what to do.
    FileFormatError
        If the file is damaged; the message names the line.
    """
    return read_graphs(_path_of(_checks.choice("name", name, NAMES)))


def read_graphs(path: Path | str) -> list[Graph]:
    """Return the graphs of a file in this format, plain or gzipped, or raise FileFormatError."""
    path = text.readable(path)
    rows = ((n, line.split()) for n, line in text.lines(path) if line.strip())
    n_graphs = _whole(path, rows, 1)[0]
    graphs = [_graph(path, rows) for _ in range(n_graphs)]
    more = next(rows, None)
    if more is not None or not graphs:
        line, found = (more[0], "more") if more else (None, "none")
        problem = f"the first line announces {n_graphs} graphs, and there are {found}"
        raise FileFormatError(path, line, problem)
    labels = sorted({one.label for one in graphs})
    return [Graph(one.tags, one.adjacency, labels.index(one.label)) for one in graphs]


def _graph(path: Path, rows: Iterator[tuple[int, list[str]]]) -> Graph:
    n_nodes, label = _whole(path, rows, 2)
    if not 0 < n_nodes <= MOST_NODES:
        raise FileFormatError(
            path, None, f"a graph of {n_nodes} nodes; 1 to {MOST_NODES:,} are read"
        )
    tags, adjacency = np.empty(n_nodes, np.int64), np.zeros((n_nodes, n_nodes))
    for node in range(n_nodes):
        tags[node], _, *neighbours = _whole(path, rows, 2, n_nodes)
        adjacency[node, neighbours] = 1
    if (adjacency != adjacency.T).any():
        node, other = np.argwhere(adjacency != adjacency.T)[0]
        problem = (
            f"of the nodes {node} and {other} of a graph only one calls the other its neighbour"
        )
        raise FileFormatError(path, None, problem)
    return Graph(tags, adjacency, label)


def _whole(
    path: Path, rows: Iterator[tuple[int, list[str]]], least: int, n_nodes: int | None = None
) -> list[int]:
    """Return the next line as whole numbers; with `n_nodes` as a node's tag, count, neighbours.

    Further numbers, which are attributes of the node, are left out.
    """
    line, row = next(rows, (None, []))
    try:
        numbers = [int(one) for one in row[:least]]
        end = least + (numbers[1] if n_nodes is not None else 0)
        numbers += [int(one) for one in row[least:end]]
    except (ValueError, IndexError):
        numbers, end = [], least
    if len(numbers) != max(end, least) or (
        n_nodes is not None and not _are_nodes(numbers, n_nodes)
    ):
        wanted = (
            f"{least} whole numbers" if n_nodes is None else "tag, number of neighbours, neighbours"
        )
        got = "the end of the file" if line is None else repr(" ".join(row))[:80]
        raise FileFormatError(path, line, f"expected {wanted}, got {got}")
    return numbers


def _are_nodes(numbers: list[int], n_nodes: int) -> bool:
    return numbers[1] >= 0 and all(0 <= one < n_nodes for one in numbers[2:])


def _path_of(name: str) -> Path:
    root = os.environ.get("POSENC_DATA", "")
    own = [Path(root, FOLDER, f"{name}.txt{end}") for end in (".gz", "")]
    here = next((path for path in own if root and path.is_file()), None)
    return here or _fetched(name, root)


def _fetched(name: str, root: str) -> Path:
    file, address = f"{name}.txt", Url(f"{_AT}/{name}/{name}.txt", _SUMS[name])
    path = folders.cache() / "sets" / name / file
    if path.is_file():
        return path
    how = (
        f"{file} is not there: put it into the folder {FOLDER} of the folder that the variable "
        f"POSENC_DATA names (now {root or 'not set'!r}); it comes from {address}"
    )
    if os.environ.get("POSENC_OFFLINE"):
        raise MissingDataError(f"{how}, which POSENC_OFFLINE forbids to fetch")
    try:
        download.fetch(name, ((address,),), lambda folder: (folder / file).is_file())
    except DownloadError as error:
        raise MissingDataError(f"{how}. {error}") from error
    return path
