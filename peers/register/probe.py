"""What transformers' models do with positions, seen from inside their attention.

A constant token goes in and every attention returns zeros, so all layers see the same input at
every place, and a query that changes from place to place shows the encoding alone. Weights are
random, and nothing is downloaded.
"""

import importlib
import re
import resource
import warnings
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_MAPPING,
)

from posenc.register import reading

MEMORY = 6 << 30  # bytes; some default configurations would take a hundred times as much
ENCODERS = ("modernbert", "nomic_bert")
TYPES = (
    *MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "mistral4",
    "muse_spark_text",
    "glm5_next_text",
    *ENCODERS,
)
HEADS = (
    "num_attention_heads",
    "n_head",
    "num_heads",
    "n_heads",
    "decoder_attention_heads",
    "encoder_attention_heads",
)
WIDTH = ("hidden_size", "n_embd", "d_model")
LAYERS = (
    "num_hidden_layers",
    "n_layer",
    "num_layers",
    "n_layers",
    "decoder_layers",
    "encoder_layers",
)
SIZES = {
    "vocab_size": 64,
    "vocab_size_per_layer_input": 64,
    "intermediate_size": 32,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "encoder_ffn_dim": 32,
    "n_inner": 32,
    "d_ff": 32,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "moe_num_experts": 4,
    "num_experts_per_tok": 2,
    "num_experts_per_token": 2,
    "moe_topk": 2,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "n_shared_experts": 1,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "mamba_d_state": 8,
    "mamba_n_heads": 8,
    "mamba_chunk_size": 16,
    "chunk_size": 16,
    "index_topk": 4,
}
MIXER = re.compile(
    "Mamba.*Mixer|MambaMixer|MambaLayer$|BambaMixer|FalconH1Mixer|DeltaNet|DeltaAttention|"
    "ShortConv|RecurrentBlock|LightningAttention|(?<!Kimi)LinearAttention$"
)
LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")
WINDOWS = ("sliding_window", "sliding_window_size", "attention_window_size", "local_attention")
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


HALF_TURN = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.5}
NEEDED = {  # what these classes cannot do without, or what keeps them small
    "ministral": {"head_dim": 128},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128, "moe_topk": 1},
    "nemotron": {"num_key_value_heads": 4},
    "deepseek_v2": {"num_experts_per_tok": 2, "n_routed_experts": 4},
    "ernie4_5_moe": {"moe_num_experts": 4, "moe_k": 2},
    "dots1": {"n_routed_experts": 4, "num_experts_per_tok": 2},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 4},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "glm4_moe": {"head_dim": 128},
    "mixtral": {"head_dim": 128},
    "minimax": {"head_dim": 128},
    "glm5_next_text": {"index_topk": 8, "index_kpool": 4},
    "deepseek_v4": {"index_topk": 512},  # as many as there are, so that a rate can be counted
    "bamba": {"attn_layer_indices": [2, 5]},
    "granitemoehybrid": {
        "layer_types": ["linear_attention", "full_attention"] * 4,
        "position_embedding_type": "rope",
    },
    "nemotron_h": {"layers_block_type": ["linear_attention", "moe", "full_attention", "mlp"] * 2},
    "zamba2": {"layers_block_type": ["linear_attention", "hybrid"] * 4, "use_mem_rope": True},
    "xmod": {"default_language": "en_XX"},
    "glm4v_text": {"rope_parameters": HALF_TURN},
    "glm_image_text": {"rope_parameters": HALF_TURN},
    "ernie4_5_vl_moe_text": {"moe_intermediate_size": [32, 32], "moe_k": 2},
    "glm4v_moe_text": {"head_dim": 128},
    "qwen3_omni_moe_text": {"head_dim": 128},
}


@dataclass
class Call:
    """One attention: queries and keys as they are scored, and outputs of its linear layers."""

    module: nn.Module
    q: np.ndarray
    k: np.ndarray
    mask: torch.Tensor | None
    options: dict
    projected: list = field(default_factory=list)


SEEN: list[Call] = []
PROJECTED: dict[int, list[torch.Tensor]] = {}
MIXED: dict[int | None, torch.Tensor] = {}  # what goes into mixers, by layer
GIVEN = 0.0  # what every attention returns


def small(kind, n_layers=8, **changes):
    """Return what makes a configuration small; head widths stay those of the class."""
    default = CONFIG_MAPPING[kind]().to_dict()
    few = {name: size for name, size in SIZES.items() if default.get(name) is not None} | TOKENS
    few |= {
        name: min(default[name], n_layers) for name in LAYERS if isinstance(default.get(name), int)
    }
    heads = next((default[name] for name in HEADS if isinstance(default.get(name), int)), None)
    width = next((name for name in WIDTH if isinstance(default.get(name), int)), None)
    if heads and width:
        few |= {name: 4 for name in HEADS if isinstance(default.get(name), int)}
        groups = default.get("num_key_value_heads")
        if isinstance(groups, int):
            few["num_key_value_heads"] = 4 if groups == heads else min(groups, 2)
        few[width] = 4 * (default[width] // heads)
    return few | NEEDED.get(kind, {}) | changes


def windows(kind, default):
    """Return the entries for a window that a class reads, be they null by default."""
    reads = "windowed" in reading.families()[kind]
    return [name for name in WINDOWS if default.get(name) or (name in default and reads)]


def _watch(module, query, key, value, attention_mask, **options):
    rows = [t[0].detach().double().numpy() for t in (query, key)]
    SEEN.append(Call(module, *rows, attention_mask, options, PROJECTED.get(id(module), [])))
    shape = query.shape[0], query.shape[2], query.shape[1], value.shape[-1]
    return torch.full(shape, GIVEN, dtype=query.dtype), None


AttentionInterface.register("probe", _watch)
AttentionMaskInterface.register("probe", eager_mask)


def _mark(config):
    config._attn_implementation_internal = "probe"
    for part in vars(config).values():
        if hasattr(part, "to_dict") and hasattr(part, "_attn_implementation_internal"):
            _mark(part)


def class_of(config):
    """Return the class of a configuration's causal model, of its text model, or of an encoder."""
    if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        return MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    if config.model_type in ENCODERS:
        return MODEL_MAPPING[type(config)]
    module = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    for name, found in vars(module).items():
        known = name.endswith(("TextModel", "ForCausalLM"))
        if known and found.config_class is type(config):
            return found
    raise ValueError("it has neither a causal nor a text model")


def build(config, seed=0):
    """Return a model with random weights, wide awake: the usual small ones would hide faults."""
    torch.manual_seed(seed)
    _mark(config)
    model = class_of(config)(config).eval()
    draw = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if weight.ndim >= 2 and "position" not in name:
            with torch.no_grad():
                weight.normal_(0, 0.25, generator=draw)
    number(model)
    for module in model.modules():
        if MIXER.search(type(module).__name__):
            module.register_forward_hook(_silence, with_kwargs=True)
        if hasattr(getattr(module, "config", None), "_attn_implementation_internal"):
            _mark(module.config)
        for child in module.children():
            if isinstance(child, nn.Linear):
                child.register_forward_hook(_keeper(id(module)))
    return model


def number(model):
    """Give attention its layer's number where its class shares it among layers, as Zamba's do."""
    for name, module in model.named_modules():
        if (found := LAYER.search(name)) and getattr(module, "layer_idx", 0) in (None, -1):
            module.layer_idx = int(found[1])


def mixers(model):
    """Return by layer what mixes tokens in it and is no attention."""
    return {
        int(found[1]): "convolution" if "Conv" in type(module).__name__ else "recurrent"
        for name, module in model.named_modules()
        if (found := LAYER.search(f"{name}.")) and MIXER.search(type(module).__name__)
    }


def place(model):
    """Return where the first mixer beside attention stands, by what attention gives it."""
    global GIVEN
    heard = []
    for one in (1.0, 0.0):
        GIVEN = one
        run(model, [0, 1])
        beside = {getattr(call.module, "layer_idx", None) for call in SEEN} & mixers(model).keys()
        heard.append(MIXED[min(beside)])
    return "parallel" if torch.equal(*heard) else "behind"


def _silence(module, args, named, output):
    """Return zeros for a mixer that is no attention, and would tell places apart."""
    MIXED[getattr(module, "layer_idx", None)] = (
        (args[0] if args else named["hidden_states"]).detach().clone()
    )
    if torch.is_tensor(output):
        return torch.zeros_like(output)
    return tuple(torch.zeros_like(part) if torch.is_tensor(part) else part for part in output)


def _keeper(owner):
    def keep(_module, _args, output):
        if torch.is_tensor(output) and output.ndim >= 2:
            PROJECTED.setdefault(owner, []).append(output.detach()[0, 0].double().flatten().numpy())

    return keep


@torch.no_grad()
def run(model, positions, axis=None):
    """Return the calls of all attention layers for one constant token at these positions.

    Of several axes the one asked for, where all others stay at 0.
    """
    SEEN.clear(), PROJECTED.clear(), MIXED.clear()
    tokens = torch.full((1, len(positions)), 5)
    places = torch.tensor([positions])
    if axis is not None:
        places = torch.stack([places if n == axis else 0 * places for n in range(3)])
    model(
        input_ids=tokens,
        position_ids=places,
        attention_mask=torch.ones_like(tokens),
        use_cache=False,
    )
    return list(SEEN)


def limit_memory():
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
