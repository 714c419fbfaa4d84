"""Ask well-known attention what `posenc.testing` asks, and store what it answered.

    python -m peers.checks --out results/checks.json

Models are tiny, have random weights, and come from packages; nothing is downloaded, and memory is
limited to 6 GB. What a model is held to is what its documentation or its paper says. Where a
promise does not hold, `who` says who is right as far as we can see; a case that needs no such word
fails, and so does one that lacks it.
"""

import argparse
import json
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import transformers as tr
from torch import nn

from posenc import encodings
from posenc.attention import SelfAttention
from posenc.models import LanguageModel
from posenc.testing import Adapter, check_attention

ROOT = Path(__file__).parents[1]
MEMORY = 6 << 30  # bytes
SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}
DECODER = {"causal": True, "cached": True, "order": True, "padding": "both", "moves": True}
ROPE = {
    **DECODER,
    "relative": True,
    "given_positions": True,
    "packing": True,
    "layout": "half",
    "beyond": "exact",
}


@dataclass(frozen=True)
class Case:
    """A model, what it is held to, and who is right where that does not hold."""

    name: str
    make: Callable[[], Any]
    promises: Mapping[str, Any]
    package: str = "transformers"
    who: Mapping[str, str] = field(default_factory=dict)


def llama(**changes: Any) -> Any:
    """Return a small Llama."""
    return tr.LlamaForCausalLM(tr.LlamaConfig(**{**GROUPED, **changes}))


def scaled(kind: str, **numbers: Any) -> Callable[[], Any]:
    """Return what makes a Llama whose frequencies follow a schedule."""
    rope = {"rope_type": kind, "rope_theta": 10_000.0, **numbers}
    return lambda: llama(rope_parameters=rope)


def own(kind: str, config: str, **changes: Any) -> Callable[[], Any]:
    """Return what makes a small model of a class of transformers."""
    return lambda: getattr(tr, kind)(getattr(tr, config)(**changes))


def x_transformers(**options: Any) -> Callable[[], Any]:
    """Return what makes a small decoder of x-transformers."""
    from x_transformers import Decoder, TransformerWrapper

    def make() -> Adapter:
        model = TransformerWrapper(
            num_tokens=64,
            max_seq_len=64,
            attn_layers=Decoder(dim=32, depth=2, heads=4, **options),
            use_abs_pos_emb=not options,
        )

        def call(
            x: torch.Tensor, padding: torch.Tensor | None = None, positions: Any = None
        ) -> Any:
            return model(x, mask=padding, pos=positions)

        return Adapter(
            call,
            vocabulary=64,
            takes=["padding", "positions"],
            module=model,
            trained=64,
            name="x_transformers.Decoder",
        )

    return make


def encoder() -> Any:
    """Return PyTorch's own encoder, which is blind to order."""
    layer = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def ours(name: str) -> Callable[[], Any]:
    """Return what makes a language model of this library."""
    return lambda: LanguageModel(64, 32, 4, 2, position=name, max_length=64)


GPT2 = {
    "vocab_size": 64,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
HEADS = {
    "vocab_size": 64,
    "n_layer": 2,
    "n_head": 4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
T5 = {
    "vocab_size": 64,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
SPEECH = {
    "vocab_size": 64,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
LEARNED = {**DECODER, "given_positions": True, "beyond": "refused"}

CORRECT = (
    Case("Llama", llama, {**ROPE, "shared_heads": True}),
    Case(
        "Llama, for 8,192 tokens",
        lambda: llama(max_position_embeddings=8192),
        {"relative": True, "longest": 8192, "stateless": True},
    ),
    Case(
        "Llama 3's schedule",
        scaled(
            "llama3",
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=32,
        ),
        ROPE,
    ),
    Case("YaRN", scaled("yarn", factor=4.0, original_max_position_embeddings=16), ROPE),
    Case(
        "Qwen3", own("Qwen3ForCausalLM", "Qwen3Config", **GROUPED), {**ROPE, "shared_heads": True}
    ),
    Case("Gemma 2", own("Gemma2ForCausalLM", "Gemma2Config", **GROUPED), ROPE),
    Case("GPT-NeoX", own("GPTNeoXForCausalLM", "GPTNeoXConfig", **SMALL), ROPE),
    Case("GPT-2", own("GPT2LMHeadModel", "GPT2Config", **GPT2), LEARNED),
    Case(
        "BLOOM",
        own("BloomForCausalLM", "BloomConfig", hidden_size=32, **HEADS),
        {**DECODER, "moves": None, "nearer": True},
    ),
    Case(
        "MPT",
        own(
            "MptForCausalLM",
            "MptConfig",
            d_model=32,
            n_layers=2,
            n_heads=4,
            expansion_ratio=2,
            max_seq_len=64,
            vocab_size=64,
        ),
        {**DECODER, "nearer": True},
    ),
    Case(
        "Mistral, with a window",
        own("MistralForCausalLM", "MistralConfig", **GROUPED, sliding_window=8),
        {**DECODER, "relative": True, "window": 8, "dtypes": "bfloat16"},
    ),
    Case(
        "T5's decoder",
        own("T5ForConditionalGeneration", "T5Config", **T5),
        {"causal": True, "cached": True, "order": True, "relative": True, "padding": "right"},
    ),
    Case(
        "BERT",
        own("BertModel", "BertConfig", **SMALL),
        {"causal": False, "order": True, "padding": "both", "given_positions": True},
    ),
    Case(
        "DeBERTa",
        own(
            "DebertaV2Model",
            "DebertaV2Config",
            **SMALL,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            type_vocab_size=0,
        ),
        {"causal": False, "order": True, "padding": "both"},
    ),
    Case(
        "Whisper's decoder",
        own("WhisperForConditionalGeneration", "WhisperConfig", **SPEECH, max_target_positions=64),
        {"causal": True, "cached": True, "order": True},
    ),
    Case(
        "BART's decoder",
        own("BartForConditionalGeneration", "BartConfig", **SPEECH, max_position_embeddings=64),
        {"causal": True, "cached": True, "order": True},
    ),
    Case(
        "x-transformers, rotary",
        x_transformers(rotary_pos_emb=True),
        {"causal": True, "order": True, "padding": "right", "relative": True},
        "x-transformers",
    ),
    Case(
        "x-transformers, ALiBi",
        x_transformers(alibi_pos_bias=True, alibi_num_heads=4),
        {"causal": True, "order": True, "padding": "right"},
        "x-transformers",
    ),
    Case(
        "nn.TransformerEncoder",
        encoder,
        {"order": False, "causal": False, "padding": "both", "moves": True},
        "torch",
    ),
    Case(
        "nn.MultiheadAttention",
        lambda: nn.MultiheadAttention(32, 4, batch_first=True),
        {"order": False, "causal": True, "padding": "both", "moves": True},
        "torch",
    ),
    Case(
        "posenc, rotary",
        ours("rotary"),
        {**ROPE, "layout": "interleaved", "real_times": True},
        "posenc",
    ),
    Case(
        "posenc, ALiBi",
        ours("alibi"),
        {**DECODER, "relative": True, "packing": True, "nearer": True},
        "posenc",
    ),
    Case("posenc, learned", ours("learnable"), LEARNED, "posenc"),
    Case(
        "posenc, shared heads",
        lambda: SelfAttention(
            32, 4, encodings.make("rotary", 32, 4, 64), causal=True, n_kv_heads=2
        ),
        {"shared_heads": True, "cached": True},
        "posenc",
    ),
)

AGAIN = "the same input gives the same answer after another one"
SHORT = "a short row beside a long one is answered as if alone"
STAY = "beyond the trained length, earlier answers stay"
OUTGROWN = "a cache that outgrows the trained length equals all at once"
PACKED = "packed documents equal documents alone"
CAST = "distant tokens keep their places when cast to half precision"
OFFSETS = "scores depend on the offset only"
LONG = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "factor": 4.0,
    "short_factor": [1.0] * 4,
    "long_factor": [1.0, 2.0, 3.0, 4.0],
    "original_max_position_embeddings": 16,
}
MOE = {
    "num_local_experts": 2,
    "num_experts": 2,
    "num_experts_per_tok": 1,
    "head_dim": 8,
    "num_key_value_heads": 2,
}
PACKING = {"causal": True, "packing": True}
BEYOND = {"causal": True, "cached": True, "trained": 16, "beyond": "exact"}

CUT = (
    "By design: frequencies follow the length of the input (bloc97's Dynamic NTK does so), so that "
    "an answer depends on what stands behind it. Their authors say so; whoever caches, or batches "
    "rows of several lengths, should know it."
)
MASK = (
    "The module calls `create_causal_mask` without `position_ids`, by which Llama, Mixtral and "
    "Qwen3 tell packed documents apart. "
)
FOUND: tuple[Case, ...] = (
    Case(
        "dynamic NTK",
        lambda: llama(
            max_position_embeddings=16,
            rope_parameters={"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 4.0},
        ),
        BEYOND,
        who={
            AGAIN: (
                "A defect, as we see it, and a small one by now: frequencies are reset for an "
                "input below the trained length (pull request 46624), not for one of just that "
                "length, or between it and the longest so far."
            ),
            SHORT: CUT,
            STAY: CUT,
            OUTGROWN: CUT + " Discussed in issue 25104.",
        },
    ),
    Case(
        "LongRoPE",
        own(
            "Phi3ForCausalLM",
            "Phi3Config",
            **{**GROUPED, "rope_parameters": LONG, "original_max_position_embeddings": 16},
        ),
        BEYOND,
        who={
            SHORT: (
                "By design: one set of factors serves a batch, and its longest row chooses it."
            ),
            STAY: (
                "By design: LongRoPE has one set of factors up to the original length and another "
                "beyond it (Ding et al. 2024)."
            ),
            OUTGROWN: (
                "Known: keys in the cache keep the short factors. `generate` therefore throws "
                "the cache away at that length (pull request 33129), and so must whoever calls "
                "the model without it."
            ),
        },
    ),
    Case(
        "GPT-OSS",
        own("GptOssForCausalLM", "GptOssConfig", **{**SMALL, **MOE}),
        PACKING,
        who={PACKED: MASK + "Reported, and open as pull request 39997."},
    ),
    Case(
        "AfMoE",
        own("AfmoeForCausalLM", "AfmoeConfig", **{**SMALL, **MOE}),
        PACKING,
        who={PACKED: MASK + "The same as in GPT-OSS; we found no report."},
    ),
    Case(
        "GraniteMoeHybrid",
        own(
            "GraniteMoeHybridForCausalLM",
            "GraniteMoeHybridConfig",
            **{
                **SMALL,
                "layer_types": ["attention", "attention"],
                "num_local_experts": 2,
                "num_experts_per_tok": 1,
                "mamba_n_heads": 8,
                "mamba_d_head": 8,
                "position_embedding_type": "rope",
            },
        ),
        PACKING,
        who={PACKED: MASK + "The same as in GPT-OSS; we found no report."},
    ),
    Case("Mixtral", own("MixtralForCausalLM", "MixtralConfig", **{**SMALL, **MOE}), PACKING),
    Case(
        "Falcon with ALiBi",
        own(
            "FalconForCausalLM",
            "FalconConfig",
            **{**SMALL, "alibi": True, "max_position_embeddings": 2048},
        ),
        {"relative": True, "causal": True},
        who={
            OFFSETS: (
                "`build_alibi_tensor` multiplies slopes and places in bfloat16 whatever type the "
                "model has, so that above 256 neighbours share a bias. We found no report of it. "
                "At least one other library copies the rounding, so as to agree "
                "(NVIDIA/TensorRT-Model-Connect, issue 667)."
            )
        },
    ),
    Case(
        "Llama cast by .to(bfloat16)",
        lambda: llama(max_position_embeddings=8192, head_dim=16),
        {"dtypes": "bfloat16"},
        who={
            CAST: (
                "Known (issues 25681 and 30709): `.to(bfloat16)` rounds the buffer `inv_freq`. "
                "Built in bfloat16, as `from_pretrained(dtype=...)` builds it, the model keeps it "
                "in float32, and that check passes. Use that."
            )
        },
    ),
)


def olmo(*, truncate: bool) -> Any:
    """Return a small Olmo 3, whose rotation is set for each kind of layer."""
    kinds = ("sliding_attention", "full_attention")
    rope = {
        "full_attention": yarn(truncate),
        "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
    }
    sizes = {**GROUPED, "head_dim": 16, "layer_types": list(kinds), "rope_parameters": rope}
    return tr.Olmo3ForCausalLM(tr.Olmo3Config(**sizes))


def yarn(truncate: bool) -> dict[str, Any]:
    """Return YaRN's numbers, of which `truncate` rounds the edges of its ramp."""
    return {
        "rope_type": "yarn",
        "rope_theta": 10_000.0,
        "factor": 8.0,
        "original_max_position_embeddings": 4096,
        "truncate": truncate,
    }


OPTIONS: tuple[tuple[str, Callable[[bool], Any], str], ...] = (
    ("Llama, YaRN's truncate", lambda on: llama(head_dim=16, rope_parameters=yarn(on)), ""),
    (
        "Olmo 3, YaRN's truncate",
        lambda on: olmo(truncate=on),
        "A slip: `_compute_yarn_parameters` reads `truncate` from `config.rope_parameters`, where "
        "other numbers are read from the layer's own part of it; we found no report.",
    ),
)
"""Options that should change an answer: a name, a model with it on or off, who is right if not."""


def change(make: Callable[[bool], Any]) -> float:
    """Return how far an option moves the outputs of one model, weights being the same."""
    from posenc.testing.adapters import adapt
    from posenc.testing.asking import Asked, difference
    from posenc.testing.promises import Promises

    outs = []
    for on in (True, False):
        model = Asked(lambda on=on: adapt(make(on)), Promises.of({})).subject()
        with torch.no_grad():
            outs.append(model.outputs(model.tokens(1, 32)))
    return difference(*outs)


def versions() -> dict[str, str]:
    """Return what answered."""
    packages = ("torch", "transformers", "x-transformers")
    return {one: metadata.version(one) for one in packages} | {"python": platform.python_version()}


def ask(case: Case) -> dict[str, Any]:
    """Ask one model, and return what can be stored."""
    started = time.process_time()
    report = check_attention(case.make, seconds=60, **case.promises)
    told = report.as_dict()
    kept = ("name", "outcome", "promise", "came", "smallest", "number", "due")
    told["findings"] = [{word: one[word] for word in kept} for one in told["findings"]]
    broken = {one.name for one in report.failures}
    return {
        "case": case.name,
        "package": case.package,
        "seconds": round(time.process_time() - started, 1),
        "who": dict(case.who),
        "as_expected": broken == set(case.who) and not report.unanswered,
        **told,
    }


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if every model answers as this file says it does."""
    parser = argparse.ArgumentParser(prog="python -m peers.checks", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "results" / "checks.json", help="where results go"
    )
    parser.add_argument("--only", nargs="+", help="cases whose names begin so; nothing is stored")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tr.logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    stored: dict[str, list[dict[str, Any]]] = {}
    for kind, cases in (("correct", CORRECT), ("found", FOUND)):
        stored[kind] = []
        for case in cases:
            if options.only and not case.name.startswith(tuple(options.only)):
                continue
            told = ask(case)
            stored[kind].append(told)
            print(f"{'as said' if told['as_expected'] else 'NOT AS SAID':12}{case.name}")
            if not told["as_expected"]:
                for one in told["findings"]:
                    if one["outcome"] == "broken" or one["promise"] in told["unanswered"]:
                        print(f"    {one['name']}: {one['came']}  [{one['smallest']}]")
                print(f"    unanswered: {told['unanswered']}")
    if not options.only:
        changes = [(name, change(make), who) for name, make, who in OPTIONS]
        stored["options"] = [
            {"case": name, "change": number, "who": who, "as_expected": (number == 0) == bool(who)}
            for name, number, who in changes
        ]
        print(*changes, sep="\n")
        text = json.dumps({"versions": versions(), **stored}, indent=1, ensure_ascii=False)
        options.out.write_text(f"{text}\n", encoding="utf-8")
    every = [one for kind in stored.values() for one in kind]
    return int(not all(one["as_expected"] for one in every))


if __name__ == "__main__":
    sys.exit(main())
