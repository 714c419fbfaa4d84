"""The pairs of released models as clock hands: how far each gets, and which enter new angles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc import register
from posenc.register import Description

TURN = 2 * np.pi
MODELS = {
    "meta-llama/Llama-2-7b-hf": "Llama 2 7B",
    "EleutherAI/pythia-1.4b": "Pythia 1.4B",
    "Qwen/Qwen3-8B": "Qwen3 8B",
    "meta-llama/Meta-Llama-3.1-8B": "Llama 3.1 8B",
    "mlc-llm/phi-3_5": "Phi-3.5 mini",
    "mlc-llm/deepseek_v2_lite": "DeepSeek-V2-Lite",
    "google/gemma-2-9b": "Gemma 2 9B",
    "openai/gpt-oss-120b": "GPT-OSS 120B",
    "google/gemma-3-12b-it": "Gemma 3 12B",
    "HuggingFaceTB/SmolLM3-3B-Base": "SmolLM3 3B",
    "meta-llama/Llama-4-Maverick-17B-128E": "Llama 4 Maverick",
    "cohere2": "Cohere 2",
}
"""The models of the map: their names in the register, and what people call them."""


@dataclass(frozen=True)
class Hands:
    """The clock hands of one layer, one for each pair of dimensions, at a length of text.

    Attributes
    ----------
    seen : array of shape (pairs,)
        Radians that each turns within the length that the model is made for (of training, where
        its makers have said that); 0 if it stands.
    reached : array of shape (pairs,)
        Radians that each turns between the two tokens farthest apart that can meet.
    """

    seen: NDArray[np.float64]
    reached: NDArray[np.float64]

    @property
    def new(self) -> NDArray[np.bool_]:
        """Whether each enters angles that no text of the length made for has shown."""
        return np.minimum(self.reached, TURN) > np.minimum(self.seen, TURN) * (1 + 1e-9)


def read(name: str) -> Description:
    """Return what the register knows of a model of the map, whose length is known."""
    found = register.read(name)
    if found.length is None:
        raise ValueError(f"name must be a model whose length the register knows, got {name!r}")
    return found


def title(name: str) -> str:
    """Return what people call a model, with a word if no release stands behind its numbers."""
    return MODELS[name] + ("" if register.read(name).address else " (class default)")


def omega(description: Description, layer: int, length: int) -> NDArray[np.float64]:
    """Return how fast each pair of a head turns, in the order of dimensions; 0 if it stands."""
    one = description.layers[layer]
    n_pairs = (one.head_dim or 0) // 2
    if one.door != "rotate":
        return np.zeros(n_pairs)
    turning = description.inv_freq(layer, length)
    before = (one.first or 0) // 2
    return np.pad(turning, (before, n_pairs - before - len(turning)))


def in_sight(description: Description, layer: int, length: int) -> int:
    """Return how many tokens apart two tokens of a text may stand and still meet in a layer."""
    window = description.layers[layer].window
    return length if window is None else min(window, length)


def hands(description: Description, layer: int, length: int) -> Hands:
    """Return the clock hands of a layer at a length of text."""
    made_for = description.made_for or length
    seen, reached = (
        in_sight(description, layer, n) * omega(description, layer, n) for n in (made_for, length)
    )
    return Hands(seen, reached)


def kinds(description: Description) -> tuple[str, list[int]]:
    """Return a letter for what each layer does, and the first layer of each kind.

    Layers are of one kind if they see as far and turn alike.
    """
    firsts: dict[tuple, int] = {}
    made_for = description.made_for or 1
    letters = ""
    for number, layer in enumerate(description.layers):
        turns = omega(description, number, made_for).round(12).tobytes()
        firsts.setdefault((layer.door, layer.kind, layer.window, turns), number)
        letters += "abcdefgh"[list(firsts).index((layer.door, layer.kind, layer.window, turns))]
    return letters, list(firsts.values())
