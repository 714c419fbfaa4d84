"""Families that the probe cannot read: attention or stacks of their own, pictures, tables.

What their code does with positions is written down here, as data; `scores.py` holds it against
what they compute. The defaults of their classes are taken from the classes.
"""

from peers.register import probe

ROTATES = {"door": "rotate", "first": "start", "direction": 1}
HALF = ROTATES | {"pairing": "half", "pairing_after": "half"}
INTERLEAVED = ROTATES | {"pairing": "interleaved", "pairing_after": "interleaved"}
ANGLES = {"length": "$max_position_embeddings", "offset": 0, "kind": "angles"}
LEARNED = {
    "length": "$max_position_embeddings",
    "offset": 0,
    "kind": "learned",
    "rows_more": 0,
}
SINES = {"length": "$max_position_embeddings", "offset": 0, "kind": "sinusoidal"}
HEARD = SINES | {"length": "$max_source_positions", "ends": True}
SPEECH = [
    {"what": "A convolution", "over": "$num_conv_pos_embeddings", "where": "before the layers"},
    {"what": "A convolution", "over": "$conv_depthwise_kernel_size", "where": "in each layer"},
]
TURNED_FIRST = (
    "tokens are turned there before they become queries and keys, so that scores depend on where "
    "both stand, and a layer's record has no field for that"
)
GPTJ = INTERLEAVED | {"base": 10_000.0, "reads": ["rotary_dim"], "table": ANGLES}
ENCODER = {"causal": False, "n_layers": "encoder_layers", "heads": "encoder_attention_heads"}
DECODER = {"n_layers": "decoder_layers", "heads": "decoder_attention_heads"}
STACKS = {"door": "embed", "stacks": [("encoder", ENCODER), ("decoder", DECODER)]}
SHIFTED = LEARNED | {"offset": 2, "rows_more": 2}
PADDED = LEARNED | {"after_padding": True}  # positions begin behind the row of the padding token
BUCKETS = {
    "kind": "t5",
    "n": "$relative_attention_num_buckets",
    "max": "$relative_attention_max_distance",
}
DEBERTA = {"door": "bias", "scale": "terms"}
WHOLE = {"door": "embed", "causal": False}
INKLING = {  # no positions but in the scores; heads of layers with a window have sizes of their own
    "door": "bias",
    "own_width": True,
    "layer_types": {"cycle": ["hybrid_sliding"] * 5 + ["hybrid"]},
    "windowed": ["hybrid_sliding"],
    "window_entry": "sliding_window_size",
    "profiles": {"reach": "rel_extent"},
}
LOCAL = {
    "heads": "swa_num_attention_heads",
    "kv_heads": "swa_num_key_value_heads",
    "head_dim_entry": "swa_head_dim",
    "profiles": {"reach": "sliding_window_size"},
}


def t5(shared=True):
    """Return T5's rules: buckets in both directions for the encoder, in one for the decoder."""
    both, past = (BUCKETS | {"bidirectional": way, "shared": shared} for way in (True, False))
    return {
        "door": "bias",
        "scale": "one",
        "head_dim_entry": "d_kv",
        "stacks": [
            ("encoder", {"causal": False, "buckets": both}),
            ("decoder", {"n_layers": "num_decoder_layers", "buckets": past}),
        ],
    }


def deberta(buckets):
    """Return DeBERTa's rules, which an entry switches on, with a table where that is not off."""
    terms = DEBERTA | {"disentangled": {"buckets": buckets}}
    return WHOLE | {
        "table": LEARNED,
        "table_switch": "position_biased_input",
        "if": {"relative_attention": terms},
    }


RULES = {
    "bloom": {"door": "bias", "slopes": {}},
    "mpt": {"door": "bias", "slopes": {"unread": "alibi_bias_max"}, "scale": "softmax_scale"},
    "falcon": HALF
    | {"if": {"alibi": {"door": "bias", "slopes": {"scaled": True, "rounding": "bfloat16"}}}},
    "gptj": GPTJ,
    "codegen": GPTJ,
    "roformer": INTERLEAVED
    | {"base": 10_000.0, "table": ANGLES, "causal": False, "values_turn": "rotary_value"},
    "gpt_neo": {
        "door": "embed",
        "types_entries": ["attention_layers"],
        "window_entry": "window_size",
        "table": LEARNED,
        "scale": "one",
        "windowed": ["local"],
        "layer_types": {"cycle": ["global", "local"]},
    },
    "xglm": {
        "door": "embed",
        "table": SINES | {"offset": 2, "ends": True, "grows": True},
    },
    "xlnet": {"door": "bias", "sinusoidal": {}},
    "t5": t5(),
    "mt5": t5(),
    "umt5": t5(shared=False),
    "mpnet": {
        "door": "bias",
        "causal": False,
        "buckets": {
            "kind": "t5",
            "n": 32,
            "max": 128,
            "bidirectional": True,
            "shared": True,
        },
        "table": LEARNED | {"inside": 2},
    },
    "deberta": deberta(buckets=False),
    "deberta-v2": deberta(buckets=True),
    "bart": STACKS | {"table": SHIFTED},
    "mbart": STACKS | {"table": SHIFTED},
    "plbart": STACKS | {"table": SHIFTED},
    "blenderbot": STACKS | {"table": LEARNED},
    "blenderbot-small": STACKS | {"table": LEARNED},
    "marian": STACKS | {"table": SINES},
    "pegasus": STACKS | {"table": SINES},
    "whisper": {
        "door": "embed",
        "stacks": [
            ("encoder", ENCODER | {"table": HEARD}),
            ("decoder", DECODER | {"table": LEARNED | {"length": "$max_target_positions"}}),
        ],
    },
    "esm": WHOLE
    | {
        "serves": ["default"],
        "choices": {"position_embedding_type": {"absolute": {"table": PADDED}, "rotary": HALF}},
    },
    "wav2vec2-conformer": {
        "door": "bias",
        "causal": False,
        "outside": SPEECH,
        "choices": {
            "position_embeddings_type": {
                "relative": {"sinusoidal": {"order": "interleaved"}},
                "null": {"door": "none"},
                "rotary": TURNED_FIRST,
            }
        },
    },
    "inkling_text": INKLING
    | {
        "scale": "inverse",
        "numbered": {
            "entry": "local_layer_ids",
            "type": "hybrid_sliding",
            "others": "hybrid",
        },
        "of_type": {"hybrid": {"growth": {"counted": True}}, "hybrid_sliding": LOCAL},
    },
    "inkling2_text": INKLING
    | {
        "profiles": {"reach": "rel_extent", "clip": "rel_l2_clip_threshold"},
        "sinks": ["hybrid", "hybrid_sliding"],
        "sinks_of_tokens": True,
        "of_type": {
            "hybrid": {"growth": {"counted": False}},
            "hybrid_sliding": LOCAL
            | {"profiles": {"reach": "sliding_window_size", "clip": "rel_l2_clip_threshold"}},
        },
    },
    "swin": {"door": "bias", "squares": True},
    "pixtral": HALF
    | {
        "causal": False,
        "serves": ["axial"],
        "sections": {"arrangement": "dealt", "axes": ["height", "width"]},
    },
    "dinov3_vit": HALF
    | {
        "causal": False,
        "serves": ["default"],
        "sections": {"arrangement": "alike", "axes": ["height", "width"]},
        "of_sides": True,
        "prefix": "num_register_tokens",
    },
    "vjepa2": INTERLEAVED
    | {
        "causal": False,
        "base": 10_000.0,
        "sections": {"arrangement": "alike", "axes": ["time", "height", "width"], "rest": True},
        "uneven": True,
    },
    "timesfm2_5": HALF
    | {"own_width": True, "scale": "log2e", "weighed": True, "normed_after": True},
    "vit": WHOLE | {"patches": 1},
    "deit": WHOLE | {"patches": 2},
    "dinov2": WHOLE | {"patches": 1},
    "clip_vision_model": WHOLE | {"patches": 1},
    "siglip_vision_model": WHOLE | {"patches": 0},
    "gpt2": {"door": "embed", "table": LEARNED},
    "gpt-sw3": {"door": "embed", "table": LEARNED},
    "gpt_bigcode": {"door": "embed", "table": LEARNED},
    "opt": {"door": "embed", "table": SHIFTED},
    "biogpt": {"door": "embed", "table": SHIFTED},
    "bert": WHOLE | {"table": LEARNED},
    "bert-generation": WHOLE | {"table": LEARNED},
    "electra": WHOLE | {"table": LEARNED},
    "ernie": WHOLE | {"table": LEARNED},
    "roc_bert": WHOLE | {"table": LEARNED},
    "roberta": WHOLE | {"table": PADDED},
    "roberta-prelayernorm": WHOLE | {"table": PADDED},
    "camembert": WHOLE | {"table": PADDED},
    "data2vec-text": WHOLE | {"table": PADDED},
    "xlm-roberta": WHOLE | {"table": PADDED},
    "xlm-roberta-xl": WHOLE | {"table": PADDED},
    "xmod": WHOLE | {"table": PADDED},
    "clip_text_model": {"door": "embed", "table": LEARNED},
}
MORE = (
    "encoder_layers", "encoder_attention_heads", "num_decoder_layers", "d_kv", "d_head",
    "relative_attention_num_buckets", "relative_attention_max_distance", "attention_heads",
    "relative_attention", "max_relative_positions", "position_buckets", "position_biased_input",
    "max_source_positions", "max_target_positions", "image_size", "patch_size", "depths",
    "window_size", "embed_dim", "clamp_len", "attn_type", "alibi", "rotary_value",
    "pad_token_id", "rotary_dim", "num_channels", "embedding_size", "swa_num_attention_heads",
    "d_rel", "rel_extent", "rel_l2_clip_threshold", "log_scaling_n_floor", "log_scaling_alpha",
    "conv_kernel_size", "num_conv_pos_embeddings", "conv_depthwise_kernel_size",
    "num_register_tokens",
)  # fmt: skip


def family(kind, kept):
    """Return what the register holds of a family, with the defaults of its class."""
    default = probe.CONFIG_MAPPING[kind]().to_dict()
    defaults = {
        name: default[name]
        for name in (*kept, *MORE, *RULES[kind].get("choices", ()))
        if default.get(name) not in (None, [])
    }
    return {"scale": "head_dim"} | RULES[kind] | {"defaults": defaults}


def fields(kind):
    """Return which fields of a layer are compared through scores and tables."""
    seen = ["door", "kind", "causal", "n_heads", "head_dim", "scale"]
    entries = {name for name, _ in _entries(RULES[kind])}
    signs = {
        "table": {"table", "patches"},
        "window": {"window_entry", "squares"},
        "shift": {"squares"},
        "slopes": {"slopes"},
        "buckets": {"buckets", "squares", "disentangled"},
        "relative": {"sinusoidal", "disentangled"},
        "sections": {"sections"},
        "outside": {"outside"},
        "profiles": {"profiles"},
        "sinks": {"sinks"},
        "prefix": {"prefix"},
        "alike": {"sections"},
    } | {name: {name} for name in ("of_sides", "uneven", "weighed")}
    seen += [name for name, those in signs.items() if those & entries]
    if ("door", "rotate") in _entries(RULES[kind]):
        seen += ["turning", "first", "pairing", "pairing_after", "direction", "base"]
    return seen + (["scaling", "gain"] if kind in ("falcon", "timesfm2_5") else [])


def _entries(rule):
    """Yield all entries of a rule with their values, those of its parts included."""
    parts = rule.items() if isinstance(rule, dict) else enumerate(rule)
    for name, value in parts:
        yield name, value
        if isinstance(value, dict | list | tuple):
            yield from _entries(value)


def sides(size):
    """Return height and width of a picture."""
    return tuple(size) if isinstance(size, list | tuple) else (size, size)


def size(config):
    """Return how large a picture is, or a clip's."""
    return config.crop_size if hasattr(config, "crop_size") else config.image_size


def small(kind):
    """Return what makes a class's configuration small."""
    found = probe.small(kind, n_layers=2) | NEEDED.get(kind, {})
    default = probe.CONFIG_MAPPING[kind]().to_dict()
    if "num_decoder_layers" in default:
        found["num_decoder_layers"] = 3
    if "attention_layers" in default:
        found["attention_types"] = [[["global", "local"], 1]]
        found["attention_layers"] = ["global", "local"]
    if RULES[kind].get("table") == PADDED:
        found["pad_token_id"] = default["pad_token_id"]
    return found


SMALL_INKLING = {
    "layer_types": ["hybrid_sliding", "hybrid"],
    "swa_num_attention_heads": 6,
    "swa_num_key_value_heads": 3,
    "swa_head_dim": 16,
    "head_dim": 16,
}
NEEDED = {
    "esm": {"vocab_size": 64, "pad_token_id": 1},
    "wav2vec2-conformer": {
        "conv_dim": [16] * 7,
        "num_conv_pos_embedding_groups": 4,
        "num_conv_pos_embeddings": 12,
        "conv_depthwise_kernel_size": 5,
    },
    "pixtral": {"image_size": 96},
    "dinov3_vit": {"image_size": 64, "num_register_tokens": 2},
    "vjepa2": {
        "crop_size": 64,
        "frames_per_clip": 6,
        "pred_hidden_size": 24,
        "pred_num_attention_heads": 4,
        "pred_num_hidden_layers": 1,
    },
    "swin": {"embed_dim": 12, "depths": [2, 2, 2, 1], "num_heads": [1, 2, 3, 4]},
    "xmod": {"default_language": "en_XX"},
    "gptj": {"n_head": 2, "n_embd": 256},
    "codegen": {"n_head": 4, "n_embd": 512},
    "xglm": {"attention_heads": 4, "d_model": 64},
    "xlnet": {"d_inner": 32, "d_head": 64},
    "inkling_text": SMALL_INKLING,
    "inkling2_text": SMALL_INKLING,
}
HEADS = {"6 heads": {"n_head": 6, "hidden_size": 48}, "12 heads": {"n_head": 12, "hidden_size": 96}}
VARIED = {
    "bloom": HEADS | {"20 heads": {"n_head": 20, "hidden_size": 80}},
    "mpt": {
        "6 heads": {"n_heads": 6, "d_model": 96},
        "bias of 16": {"n_heads": 12, "d_model": 96, "attn_config": {"alibi_bias_max": 16}},
        "scale": {"attn_config": {"softmax_scale": 0.25}},
    },
    "falcon": {
        "alibi": {"alibi": True},
        "alibi, 6 heads": {"alibi": True, "num_attention_heads": 6, "hidden_size": 96,
                           "multi_query": False, "num_kv_heads": None},
        "base": {"rope_theta": 500_042.0, "new_decoder_architecture": True, "num_kv_heads": 2},
        "yarn": {"rope_parameters": {"rope_type": "yarn", "factor": 8.0, "rope_theta": 20_000.0,
                                     "original_max_position_embeddings": 128}},
    },
    "gptj": {
        "32 turn": {"rotary_dim": 32},
        "length": {"n_positions": 100},
        "8 heads": {"n_head": 8, "rotary_dim": 16},
    },
    "codegen": {
        "32 turn": {"rotary_dim": 32},
        "length": {"n_positions": 100},
        "8 heads": {"n_head": 8, "rotary_dim": 16},
    },
    "roformer": {
        "values turn": {"rotary_value": True},
        "length": {"max_position_embeddings": 100},
        "8 heads": {"num_attention_heads": 8, "is_decoder": True},
    },
    "gpt_neo": {
        "length": {"max_position_embeddings": 77},
        "window": {"window_size": 5},
        "layers": {"attention_layers": ["local", "local"], "attention_types": [[["local"], 2]],
                   "window_size": 9},
    },
    "xlnet": {
        "uni": {"attn_type": "uni"},
        "bound": {"clamp_len": 40},
        "8 heads": {"n_head": 8, "d_head": 32, "clamp_len": 7},
    },
    "t5": {
        "buckets": {"relative_attention_num_buckets": 16, "relative_attention_max_distance": 50},
        "wide": {"relative_attention_num_buckets": 48, "d_kv": 24},
        "far": {"relative_attention_max_distance": 260, "num_heads": 6},
    },
    "mpnet": {
        "length": {"max_position_embeddings": 77},
        "8 heads": {"num_attention_heads": 8, "max_position_embeddings": 250},
        "layers": {"num_hidden_layers": 3, "max_position_embeddings": 514},
    },
    "deberta": {
        "v1": {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
        "span": {"relative_attention": True, "pos_att_type": "c2p",
                 "max_relative_positions": 50, "position_biased_input": False},
        "keys": {"relative_attention": True, "pos_att_type": ["p2c"],
                 "max_relative_positions": 400},
    },
    "deberta-v2": {
        "v3": {"relative_attention": True, "pos_att_type": "p2c|c2p", "position_buckets": 256,
               "max_relative_positions": -1, "position_biased_input": False,
               "norm_rel_ebd": "layer_norm", "share_att_key": True},
        "buckets": {"relative_attention": True, "pos_att_type": ["c2p"], "position_buckets": 32,
                    "max_relative_positions": 128},
        "each": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                 "max_relative_positions": 60},
    },
    "whisper": {
        "lengths": {"max_source_positions": 100, "max_target_positions": 60},
        "8 heads": {"encoder_attention_heads": 8, "max_source_positions": 150},
        "layers": {"encoder_layers": 1, "decoder_layers": 3, "max_source_positions": 90},
    },
    "esm": {
        "length": {"max_position_embeddings": 40, "pad_token_id": 3},
        "rotary": {"position_embedding_type": "rotary"},
        "base": {"position_embedding_type": "rotary", "rope_theta": 500.0, "is_decoder": True},
    },
    "wav2vec2-conformer": {
        "8 heads": {"num_attention_heads": 8, "num_conv_pos_embeddings": 9},
        "short": {"max_source_positions": 20, "conv_depthwise_kernel_size": 7},
        "none": {"position_embeddings_type": None},
    },
    "pixtral": {
        "base": {"rope_parameters": {"rope_type": "axial", "rope_theta": 500.0}},
        "earlier": {"rope_theta": 300.0, "patch_size": 8},
        "oblong": {"image_size": [64, 160], "num_attention_heads": 2},
    },
    "dinov3_vit": {
        "base": {"rope_theta": 30.0, "num_register_tokens": 0},
        "oblong": {"image_size": [64, 160], "patch_size": 8},
        "registers": {"num_register_tokens": 5, "num_attention_heads": 2},
    },
    "vjepa2": {
        "rest": {"hidden_size": 88},
        "patch": {"crop_size": 40, "patch_size": 8},
        "frames": {"frames_per_clip": 8, "tubelet_size": 4, "num_attention_heads": 2},
    },
    "timesfm2_5": {
        "base": {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}},
        "8 heads": {"num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 24},
        "yarn": {"rope_parameters": {"rope_type": "yarn", "factor": 8.0, "rope_theta": 20_000.0,
                                     "original_max_position_embeddings": 128}},
    },
    "swin": {
        "window": {"window_size": 5, "image_size": 160, "depths": [2, 2], "num_heads": [2, 4]},
        "odd": {"window_size": 4, "image_size": 108, "depths": [3, 2], "num_heads": [1, 2]},
        "one": {"window_size": 8, "image_size": 64, "patch_size": 8, "depths": [2],
                "num_heads": [3]},
    },
}  # fmt: skip
VARIED |= {"mt5": VARIED["t5"], "umt5": VARIED["t5"]}
VARIED["inkling2_text"] = {
    "queries": {"log_scaling_n_floor": 30, "log_scaling_alpha": 0.4},
    "near": {
        "layer_types": None,
        "num_hidden_layers": 7,
        "d_rel": 5,
        "rel_extent": 70,
        "sliding_window_size": 20,
    },
    "clipped": {"rel_l2_clip_threshold": 0.05, "num_attention_heads": 8},
}
VARIED["inkling_text"] = {name: VARIED["inkling2_text"][name] for name in ("queries", "near")} | {
    "numbered": {"layer_types": None, "local_layer_ids": [1], "rel_extent": 130, "head_dim": 24},
}


def variations(kind):
    """Return the changes to a class's defaults that make each configuration."""
    default = probe.CONFIG_MAPPING[kind]().to_dict()
    if kind in VARIED:
        return {"default": {}} | VARIED[kind]
    if "image_size" in default:
        return {
            "default": {},
            "patch": {"patch_size": 32},
            "size": {"image_size": 64, "patch_size": 8},
            "wide": {"image_size": 96, "patch_size": 12},
        }
    length = "n_positions" if "n_positions" in default else "max_position_embeddings"
    found = {"default": {}} | {f"length {n}": {length: n} for n in (40, 64)}
    other = {"is_decoder": True} if RULES[kind].get("causal") is False else {}
    return found | {"length 90": {length: 90} | other}
