"""Collect numbers of released models from public files, offline.

python -m peers.register.released LITGPT MLC_LLM MAXTEXT COPIES  # writes released.json

`litgpt/config.py` names the address of each configuration that it was made from. The presets of
mlc-llm are copies of config.json, under names of its own. In MaxText's converter only those count
above which their address stands: others are read by several models, and fit one. These three are
checkouts. COPIES is a folder with the files that `releases.toml` names, each at
owner/name/commit/path, as https://raw.githubusercontent.com/ has them; of a file that is not there
what is held is kept. A `-` in place of a checkout keeps what is held of it. The days of release
stand in `releases.toml` too.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path

from posenc import register

STORED = Path(__file__).parents[2] / "src/posenc/register/released.json"
RELEASES = tomllib.loads(Path(__file__).with_name("releases.toml").read_text())
GITHUB = "https://github.com/{}/blob/{}/{}"
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

PRESETS = "python/mlc_llm/model/model_preset.py"
CONVERTER = "src/maxtext/checkpoint_conversion/utils/hf_model_configs.py"
COPIED = re.compile(
    r"# from https://huggingface\.co/(\S+)/blob/main/config\.json\n(?:#.*\n)*(\w+) ="
)
KEPT = (
    "rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor", "rotary_dim",
    "rotary_pct", "rope_pct", "rotary_emb_base", "sliding_window", "sliding_window_size",
    "layer_types", "max_position_embeddings", "original_max_position_embeddings", "head_dim",
    "n_positions", "no_rope_layers", "use_sliding_window", "max_window_layers",
    "rope_local_base_freq",
)  # fmt: skip


def main() -> None:
    litgpt, mlc_llm, maxtext, copies = sys.argv[1:]
    held = json.loads(STORED.read_text())
    found = {}
    for checkout, repository, file, read in (
        (litgpt, "Lightning-AI/litgpt", FILE, made_from),
        (mlc_llm, "mlc-ai/mlc-llm", PRESETS, presets),
        (maxtext, "AI-Hypercomputer/maxtext", CONVERTER, converted),
    ):
        if checkout == "-":
            found |= {n: one for n, one in held.items() if f"/{repository}/" in one["address"]}
            continue
        source, address, date = text(checkout, repository, file)
        for name, config in read(source).items():
            if name in found:  # from a source that comes first
                continue
            found[name] = {"config": config, "address": address, "date": date}
    for place in RELEASES["copies"]:
        for name in place["models"]:
            found[name] = copied(name, place, Path(copies)) or held[name]
    for name, day in days().items():
        found[name] |= day
    lines = (
        f"  {json.dumps(name)}: {json.dumps(found[name], sort_keys=True)}" for name in sorted(found)
    )
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} released models, {len(found.keys() - held.keys())} of them new")


def text(checkout, repository, file):
    """Return a file's text in a checkout, its address and the commit's date."""
    git = ["git", "-C", checkout]
    say = {"capture_output": True, "text": True, "check": True}
    commit, date = subprocess.run([*git, "log", "-1", "--format=%H %as"], **say).stdout.split()
    source = subprocess.run([*git, "show", f"HEAD:{file}"], **say).stdout
    return source, GITHUB.format(repository, commit, file), date


def copied(name, place, folder):
    """Return a model's entry, from a copy of its config.json in somebody's repository, if it is."""
    repository, commit = place["repository"], place["commit"]
    path = place["path"].format(name.replace("/", place.get("slash", "/")))
    if not (file := folder / repository / commit / path).is_file():
        return None
    said = json.loads(file.read_text())
    config = kept(name, said.get("config", said))
    address = GITHUB.format(repository, commit, path)
    return {"config": config, "address": address, "date": place["date"]}


def days():
    """Return on which day each model was released, with the address that says so."""
    return {
        name: {"released": one["day"], "released_source": one["said"]}
        for one in RELEASES["days"]
        for name in one["models"]
    }


def kept(name, said):
    """Return the entries of a configuration that are about positions."""
    config = register.reading.load(said)
    found = register.read(config)
    telling = {entry for entry in config if matters(config, entry, found.layers)}
    also = {"model_type", *KEPT, *register.reading.families()[found.family]["defaults"]}
    also &= {entry for entry in config if config[entry] is not None}
    left = {one.split(" = ")[0] for one in found.unread}
    if left:
        print(f"{name}: nothing reads {', '.join(sorted(left))}")
    result = {entry: config[entry] for entry in config if entry in (telling | also) - left}
    if register.read(result).layers != found.layers:
        raise SystemExit(f"{name}: what is kept of its configuration is read as another model")
    return result


def matters(config, entry, layers):
    """Return whether a configuration without an entry is another model, or none."""
    try:
        return register.read({n: v for n, v in config.items() if n != entry}).layers != layers
    except register.ConfigError:
        return True


def made_from(source):
    """Return litgpt's models with the entries of the configurations that they were made from."""
    found = {}
    for config in configs(source):
        about = config.hf_config
        kind = next(
            (family for part, family in FAMILIES.items() if part in about.get("name", "")), None
        )
        if kind is not None:
            kind = MOE.get(kind, kind) if config.n_expert else kind
            found[f"{about['org']}/{about['name']}"] = entries(kind, config)
            register.read(entries(kind, config))
    return found


def presets(source):
    """Return mlc-llm's presets."""
    tree = next(node for node in ast.parse(source).body
                if isinstance(node, ast.Assign | ast.AnnAssign))  # fmt: skip
    return known("mlc-llm/", ast.literal_eval(tree.value))


def converted(source):
    """Return the configurations of MaxText's converter that name the address they are from."""
    names = {variable: name for name, variable in COPIED.findall(source)}
    said = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and (name := names.get(ast.unparse(node.targets[0]))):
            try:
                said[name] = ast.literal_eval(node.value)
            except ValueError:
                print(f"left out {name}: it is made from another one")
    return known("", said)


def known(prefix, configs):
    """Return what configurations say of positions, of families that the register knows."""
    found = {}
    for name, said in configs.items():
        try:
            config = register.reading.load(said)
            family = register.reading.families()[config["model_type"]]
            kept = {"model_type", *KEPT, *family["defaults"]}
            config = {entry: config[entry] for entry in config if entry in kept}
            layers = register.read(config).layers
        except (KeyError, register.ConfigError) as error:
            print(f"left out {name}: {error}")
            continue
        if any(layer.sources.get("base") == "default" for layer in layers):
            print(f"left out {name}: it says no base")
            continue
        found[prefix + name] = config
    return found


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
