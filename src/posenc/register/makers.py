"""On how long texts released models were trained, in the words of those who made them."""

import re
from collections.abc import Mapping
from typing import Any

from posenc.register.reading import released
from posenc.register.values import Values

WORDS = (
    (r"Qwen/Qwen3-[\d.]+B(-A\d+B)?(-Base)?", 32_768,
     "Qwen3 Technical Report (Yang et al. 2025, arXiv:2505.09388), section 3.2"),
    (r"Qwen/Qwen2\.5-[\d.]+B(-Instruct)?", 32_768,
     "Qwen2.5 Technical Report (Yang et al. 2024, arXiv:2412.15115), section 3.3"),
    (r"Qwen/Qwen2\.5-(7|14)B-Instruct-1M", 262_144,
     "Qwen2.5-1M Technical Report (Yang et al. 2025, arXiv:2501.15383), section 3"),
    (r"meta-llama/Llama-2-\d+b(-chat)?-hf", 4_096,
     "Llama 2 (Touvron et al. 2023, arXiv:2307.09288), table 1"),
    (r"meta-llama/Meta-Llama-3-\d+B(-Instruct)?", 8_192,
     "Introducing Meta Llama 3 (Meta, April 2024)"),
    (r"meta-llama/Meta-Llama-3\.1-\d+B(-Instruct)?", 131_072,
     "The Llama 3 Herd of Models (2024, arXiv:2407.21783), section 3.4.2"),
    (r"codellama/CodeLlama-(7|13|34)b(-Python|-Instruct)?-hf", 16_384,
     "Code Llama (Roziere et al. 2023, arXiv:2308.12950), section 2.4"),
    (r"deepseek-ai/DeepSeek-V3", 131_072,
     "DeepSeek-V3 Technical Report (2024, arXiv:2412.19437), section 4.3"),
    (r"EleutherAI/pythia-.*", 2_048, "Pythia (Biderman et al. 2023, arXiv:2304.01373), section 2"),
)  # fmt: skip
NUMBERS = (
    "num_hidden_layers", "hidden_size", "num_attention_heads", "max_position_embeddings",
    "rope_theta",
)  # fmt: skip


def trained(name: str, config: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Return tokens of the longest texts in training, with where the makers say so; else nothing.

    A configuration without a name is known by its numbers: those of a released model.
    """
    if (words := _of(name)) is not None:
        return words
    for other, entry in released().items():
        if (words := _of(other)) is not None and _numbers(entry["config"]) == _numbers(config):
            return words[0], f"{words[1]}, of {other}, whose numbers these are"
    return None, None


def _of(name: str) -> tuple[int, str] | None:
    return next(((n, where) for like, n, where in WORDS if re.fullmatch(like, name)), None)


def _numbers(config: Mapping[str, Any]) -> list[Any]:
    values = Values(config, {})
    rope = config.get("rope_parameters")
    said = [values.get(name) for name in NUMBERS]
    if said[-1] is None and isinstance(rope, Mapping):
        said[-1] = rope.get("rope_theta")
    return [config.get("model_type"), *said]
