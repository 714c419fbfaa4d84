"""Collect numbers of released models from a checkout of litgpt, offline.

python -m peers.register.released CHECKOUT     # writes src/posenc/register/released.json

The checkout's `litgpt/config.py` names the address of each configuration that it was made from.
"""

import json
import subprocess
import sys
import types
from pathlib import Path

from posenc import register

STORED = Path(__file__).parents[2] / "src/posenc/register/released.json"
FILE = "litgpt/config.py"
FAMILIES = {
    "Llama-2": "llama",
    "Llama-3": "llama",
    "Meta-Llama": "llama",
    "CodeLlama": "llama",
    "SmolLM2": "llama",
    "pythia": "gpt_neox",
    "gemma-2-": "gemma2",
    "gemma-3-": "gemma3_text",
    "Mixtral": "mixtral",
    "phi-1": "phi",
    "phi-2": "phi",
    "Qwen2.5": "qwen2",
    "QwQ": "qwen2",
    "Qwen3": "qwen3",
    "OLMo-2": "olmo2",
    "OLMo-1B-hf": "olmo",
    "OLMo-7B-hf": "olmo",
    "TinyLlama": "llama",
    "R1-Distill-Llama": "llama",
}
MOE = {"qwen3": "qwen3_moe"}


def main() -> None:
    git = ["git", "-C", sys.argv[1]]
    say = {"capture_output": True, "text": True, "check": True}
    commit, date = subprocess.run([*git, "log", "-1", "--format=%H %as"], **say).stdout.split()
    source = subprocess.run([*git, "show", f"HEAD:{FILE}"], **say).stdout
    address = f"https://github.com/Lightning-AI/litgpt/blob/{commit}/{FILE}"
    found = {}
    for config in configs(source):
        about = config.hf_config
        kind = next(
            (family for part, family in FAMILIES.items() if part in about.get("name", "")), None
        )
        if kind is not None:
            kind = MOE.get(kind, kind) if config.n_expert else kind
            name = f"{about['org']}/{about['name']}"
            found[name] = {"config": entries(kind, config), "address": address, "date": date}
            register.read(found[name]["config"])
    lines = (
        f"  {json.dumps(name)}: {json.dumps(found[name], sort_keys=True)}" for name in sorted(found)
    )
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} released models")


def configs(source):
    """Return all configurations of the module, each expanded as it does that itself."""
    module = types.ModuleType("litgpt_config")
    sys.modules[module.__name__] = module
    exec(compile(source, FILE, "exec"), module.__dict__)
    return [module.Config(**entry) for entry in module.configs]


def entries(kind, config):
    """Return the entries of a config.json that are about positions."""
    found = {
        "model_type": kind,
        "num_hidden_layers": config.n_layer,
        "hidden_size": config.n_embd,
        "num_attention_heads": config.n_head,
        "head_dim": config.head_size,
        "max_position_embeddings": config.block_size,
    }
    if kind == "gpt_neox":
        return found | {"rotary_emb_base": config.rope_base, "rotary_pct": config.rotary_percentage}
    found["rope_theta"] = config.rope_base
    if config.rotary_percentage != 1:
        found["partial_rotary_factor"] = config.rotary_percentage
    if config.rope_local_base_freq:
        found["rope_local_base_freq"] = config.rope_local_base_freq
    if config.attention_scores_scalar:
        found["query_pre_attn_scalar"] = config.attention_scores_scalar
    if config.sliding_window_size and config.sliding_window_indices:
        found["sliding_window"] = config.sliding_window_size
        local = ("full_attention", "sliding_attention")
        found["layer_types"] = [local[one] for one in config.sliding_window_indices]
    if scaled := config.rope_adjustments:
        names = {"original_max_seq_len": "original_max_position_embeddings"}
        kept = {names.get(name, name): value for name, value in scaled.items()}
        found["rope_scaling"] = {"rope_type": "llama3" if len(kept) > 1 else "linear"} | kept
    return found


if __name__ == "__main__":
    main()
