"""Where released models do otherwise than the papers that describe them."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from posenc.register import distances

if TYPE_CHECKING:
    from posenc.register.rules import Layer

Say = Callable[["tuple[Layer, ...]"], str | None]


def notes(family: str, layers: "tuple[Layer, ...]") -> Iterator[str]:
    """Yield what a family does otherwise, as far as it shows in these layers."""
    for families, say in NOTES:
        if family in families and (said := say(layers)):
            yield said


def _gpt_oss(layers: "tuple[Layer, ...]") -> str | None:
    windows = [one for one in layers if one.window and one.scaling]
    if not windows:
        return None
    rounded = any((one.scaling or {}).get("truncate", True) for one in windows)
    ramp = "" if rounded else " Its ramp is not rounded to whole pairs, as it is in YaRN's program."
    return (
        "The model card (OpenAI 2025) extends layers that see everything with YaRN; here layers "
        f"with a window turn by it, too.{ramp}"
    )


def _deepseek(layers: "tuple[Layer, ...]") -> str | None:
    plain = (layers[0].head_dim or 1) ** -0.5
    if (louder := (layers[0].scale or plain) / plain) == 1:
        return None
    return (
        "YaRN (Peng et al. 2023) makes turned queries and keys longer; here the scale of whole "
        f"scores, still dimensions included, is {louder:.4g} times larger instead."
    )


def _deepseek_v4(layers: "tuple[Layer, ...]") -> str | None:
    if not any(one.compressed for one in layers):
        return None
    return (
        "Within a layer one base turns queries, near keys, keys that stand for several tokens, and "
        "what a token gets back. Earlier code of transformers turned the latter keys by a base of "
        "their own (issue 45910): then scores depend on two places, and no turn back fits both."
    )


def _llama4(layers: "tuple[Layer, ...]") -> str | None:
    if not any(one.query_scaling for one in layers):
        return None
    return (
        "Scalable-Softmax (Nakanishi 2025) multiplies all scores by a learned number times the "
        "logarithm of the length; here queries grow in steps, by no learned number, in layers "
        "without rotation alone."
    )


def _ministral(layers: "tuple[Layer, ...]") -> str | None:
    if not any(one.query_scaling for one in layers):
        return None
    return (
        "Scalable-Softmax (Nakanishi 2025) multiplies all scores by a learned number times the "
        "logarithm of the length; here queries grow in steps, by no learned number."
    )


def _inkling(layers: "tuple[Layer, ...]") -> str | None:
    if not any(one.query_scaling for one in layers):
        return None
    return (
        "Scalable-Softmax (Nakanishi 2025) multiplies all scores by a learned number times the "
        "logarithm of the length; here scores grow with the logarithm of their query's place, from "
        "a place on that is given, by no learned number, in layers without a window alone."
    )


def _unlike_other_llamas(layers: "tuple[Layer, ...]") -> str | None:
    if layers[0].pairing != "interleaved":
        return None
    return (
        "Earlier Llamas are released for transformers with half-split pairs; these weights have "
        "the pairs of the RoFormer paper (Su et al. 2021)."
    )


def _backwards(layers: "tuple[Layer, ...]") -> str | None:
    if layers[0].direction != -1:
        return None
    return (
        "The RoFormer paper (Su et al. 2021) turns by +t omega; here it is -t omega. Scores of "
        "weights trained so are sound, and others' weights fail."
    )


def _t5(layers: "tuple[Layer, ...]") -> str | None:
    ends = {one.stack or "encoder": one.buckets for one in layers if one.buckets}
    early = {stack: (_last(rule), rule["max"]) for stack, rule in ends.items()}
    shared = [f"{at:,} in the {stack}" for stack, (at, most) in early.items() if at < most]
    if not shared:
        return None
    most = max(most for _, most in early.values())
    return (
        f"The T5 paper (Raffel et al. 2020) lets distances from {most:,} on share a bucket; its "
        f"program rounds down, and they share it from {' and '.join(shared)} on."
    )


def _last(rule: Mapping[str, Any]) -> int:
    """Return the distance to tokens before from which on all take the last row."""
    last = distances.rows(rule, -rule["max"])
    low, high = 0, rule["max"]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if distances.rows(rule, -middle) == last else (middle + 1, high)
    return low


def _deberta(layers: "tuple[Layer, ...]") -> str | None:
    if "p2c" not in (layers[0].relative or {}).get("terms", ()):
        return None
    return (
        "The DeBERTa paper (He et al. 2021, Eq. 4) looks up what a key asks for at the key's place "
        "minus the query's; its program, and these weights, at the query's minus the key's."
    )


def _falcon(layers: "tuple[Layer, ...]") -> str | None:
    if not layers[0].slopes:
        return None
    return (
        "The ALiBi paper (Press et al. 2022) adds its slopes to scaled scores; here they are "
        "scaled with them, and so smaller."
    )


def _sines_first(layers: "tuple[Layer, ...]") -> str | None:
    table = next((one.table for one in layers if one.table and one.table["kind"] != "learned"), {})
    if not table:
        return None
    ends = " and the last wavelength is 2 pi times the base" if table.get("ends") else ""
    return (
        "The transformer paper (Vaswani et al. 2017) has sines and cosines in turn; here all sines "
        f"come first{ends}."
    )


NOTES: tuple[tuple[tuple[str, ...], Say], ...] = (
    (("gpt_oss",), _gpt_oss),
    (("deepseek_v2", "deepseek_v3", "deepseek_v32"), _deepseek),
    (("deepseek_v4",), _deepseek_v4),
    (("llama4_text",), _unlike_other_llamas),
    (("llama4_text",), _llama4),
    (("ministral3",), _ministral),
    (("inkling_text", "inkling2_text"), _inkling),
    (("nanochat",), _backwards),
    (("t5", "mt5", "umt5", "mpnet"), _t5),
    (("deberta", "deberta-v2"), _deberta),
    (("falcon",), _falcon),
    (("marian", "pegasus", "xglm", "whisper"), _sines_first),
)
