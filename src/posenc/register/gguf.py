"""The header of a GGUF file: what it says of positions, as entries of a configuration."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
TEXT, LIST = 8, 9
MOST_BYTES = 200_000_000  # of a header, most of it the tokenizer
MOST_NAME, MOST_LISTED = 65_535, 4_096
TURNS = "rope_freqs.weight"  # a tensor that divides the frequencies, in place of a schedule

FAMILIES = {
    "llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe", "gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3_text",
    "phi2": "phi", "phi3": "phi3", "gptneox": "gpt_neox", "gptj": "gptj", "gpt2": "gpt2",
    "starcoder2": "starcoder2", "stablelm": "stablelm", "olmo": "olmo", "olmo2": "olmo2",
    "command-r": "cohere", "cohere2": "cohere2", "granite": "granite", "nemotron": "nemotron",
    "gpt-oss": "gpt_oss", "smollm3": "smollm3", "seed_oss": "seed_oss", "exaone4": "exaone4",
    "bloom": "bloom", "mpt": "mpt", "falcon": "falcon", "internlm3": "internlm3",
}  # fmt: skip
"""Architectures of llama.cpp, and what transformers calls them."""
REORDERED = ("llama", "granite", "internlm3")
"""Whose rows of queries and keys llama.cpp's converter puts into interleaved pairs."""

ENTRIES = {
    "context_length": "max_position_embeddings",
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "rope.freq_base": "rope_theta",
    "rope.dimension_count": "rotary_dim",
    "attention.max_alibi_bias": "alibi_bias_max",
}


class GgufError(ValueError):
    """A file whose header ends too early, or is none."""


def config(path: Path) -> tuple[dict[str, Any], str | None, list[str]]:
    """Return a configuration, the pairing of the file's weights if it differs, and what is unread.

    Source: the GGUF specification of ggml, and the names of llama.cpp's `gguf-py/constants.py`.
    """
    try:
        with path.open("rb") as file:
            said, tensors = _header(file)
    except (struct.error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise GgufError(f"the header is damaged or cut off ({error})") from None
    kind = said.get("general.architecture")
    if kind not in FAMILIES:
        raise GgufError(
            f"general.architecture is {kind!r:.60}, and those that are read are "
            f"{', '.join(sorted(FAMILIES))}; give the config.json that it was made from"
        )
    own = {n.removeprefix(f"{kind}."): v for n, v in said.items() if n.startswith(f"{kind}.")}
    found = {ENTRIES[name]: value for name, value in own.items() if name in ENTRIES}
    found = {"model_type": FAMILIES[kind]} | {n: _plain(v) for n, v in found.items()}
    _rename(found)
    found |= _schedule(own)
    unread = [f"{kind}.{n} = {v!r:.60}" for n, v in own.items() if _is_unread(n)]
    if TURNS in tensors:
        unread.append(f"the tensor {TURNS}, which divides the frequencies; no entry says by what")
    return found, "interleaved" if kind in REORDERED else None, unread


def _rename(found: dict[str, Any]) -> None:
    """Put entries under the names by which their families know them."""
    turning, kind = found.pop("rotary_dim", None), found["model_type"]
    if kind == "gpt_neox" and "rope_theta" in found:
        found["rotary_emb_base"] = found.pop("rope_theta")
    heads, width = found.get("num_attention_heads"), found.get("hidden_size")
    whole = found.get("head_dim") or (width // heads if heads and width else None)
    if turning and kind == "gptj":
        found["rotary_dim"] = turning
    elif turning and whole and turning != whole:
        found["rotary_pct" if kind == "gpt_neox" else "partial_rotary_factor"] = turning / whole


def _schedule(own: Mapping[str, Any]) -> dict[str, Any]:
    kind = own.get("rope.scaling.type", "none")
    if kind == "none":
        return {}
    block = {"rope_type": kind, "factor": own.get("rope.scaling.factor")}
    trained = own.get("rope.scaling.original_context_length")
    block |= {"original_max_position_embeddings": trained} if kind != "linear" else {}
    block["attention_factor"] = own.get("rope.scaling.attn_factor")
    return {"rope_scaling": {name: one for name, one in block.items() if one is not None}}


def _is_unread(name: str) -> bool:
    known = ("type", "factor", "original_context_length", "attn_factor", "finetuned")
    if name.startswith("rope.scaling."):
        return name.removeprefix("rope.scaling.") not in known
    return name.startswith("rope.") and name not in ENTRIES


def _plain(value: Any) -> Any:
    """Return a number as JSON would have it, or one for all layers from a list of equal ones."""
    if isinstance(value, list) and len(set(value)) == 1:
        value = value[0]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _header(file: BinaryIO) -> tuple[dict[str, Any], list[str]]:
    """Return the entries of a header, and the names of the tensors."""
    magic, version = file.read(4), _number(file, "I")
    if magic != b"GGUF" or version not in (2, 3):
        raise GgufError(f"a GGUF file of version 2 or 3 begins with GGUF, this with {magic!r}")
    n_tensors, n_entries = _number(file, "Q"), _number(file, "Q")
    said = {_text(file): _value(file, _number(file, "I")) for _ in range(_sane(n_entries))}
    return said, list(_tensors(file, _sane(n_tensors)))


def _tensors(file: BinaryIO, n_tensors: int) -> Iterator[str]:
    for _ in range(n_tensors):
        name, n_axes = _text(file), _number(file, "I")
        if n_axes > 8:
            raise GgufError(f"the tensor {name!r:.60} has {n_axes:,} axes")
        if len(file.read(8 * n_axes + 4 + 8)) < 8 * n_axes + 4 + 8:
            raise GgufError(f"the header ends at the tensor {name!r:.60}")
        yield name


def _sane(count: int) -> int:
    if count > 1_000_000:
        raise GgufError(f"the header announces {count:,} entries")
    return count


def _number(file: BinaryIO, kind: str) -> Any:
    if file.tell() > MOST_BYTES:
        raise GgufError(f"the header is longer than {MOST_BYTES:,} bytes")
    size = struct.calcsize(kind)
    return struct.unpack(f"<{kind}", file.read(size))[0]


def _text(file: BinaryIO) -> str:
    size = _number(file, "Q")
    if size > MOST_NAME:
        _skip(file, size)
        return ""
    held = file.read(size)
    if len(held) < size:
        raise GgufError("the header ends in the middle of a text")
    return held.decode("utf-8")


def _skip(file: BinaryIO, size: int) -> None:
    if size > MOST_BYTES:
        raise GgufError(f"the header announces an entry of {size:,} bytes")
    file.seek(size, 1)


def _value(file: BinaryIO, kind: int) -> Any:
    if kind in NUMBERS:
        return _number(file, NUMBERS[kind])
    if kind == TEXT:
        return _text(file)
    if kind != LIST:
        raise GgufError(f"no type of an entry has the number {kind}")
    return _list(file, _number(file, "I"), _number(file, "Q"))


def _list(file: BinaryIO, kind: int, count: int) -> list[Any] | None:
    """Return the entries of a list; None for a long one, such as a tokenizer's."""
    if kind in NUMBERS and count > MOST_LISTED:
        _skip(file, count * struct.calcsize(NUMBERS[kind]))
        return None
    if kind == TEXT and count > MOST_LISTED:
        for _ in range(_sane(count)):
            _skip(file, _number(file, "Q"))
        return None
    if kind == LIST or count > MOST_LISTED:
        raise GgufError("a list of lists, or a list too long, stands in the header")
    return [_value(file, kind) for _ in range(count)]
