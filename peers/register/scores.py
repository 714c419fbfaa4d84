"""Hold families whose rules are written down against what their attention scores.

A small model with random weights reads random tokens, or a picture of noise. What each attention
hands to its softmax is kept, with the outputs of its projections; from those, and from nothing but
what `posenc.register.read` says, the scores are made again. Tables are held against what is added
to the input of a constant token, or of a picture whose patches are all nothing.
"""

import copy
import itertools
import json

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import AutoModel

from peers.register import own, probe
from peers.register.analysis import Differs, pairs
from posenc import register
from posenc.register import distances

ROUNDING = 2e-5  # of the largest score, or entry of a table: float32 arithmetic
ANGLES = 1e-6  # of an angle: float32 frequencies of sinusoids, and their products with positions
MASKED = -90.0  # Swin adds -100, the others the smallest numbers there are; see `awake`
LONGEST = 300
PICTURES = 2  # which Pixtral reads one after the other, as one sequence
HEARD = 70  # tokens, each of 400 samples of sound, 320 after the last one's
SEPARATE = (
    ("q_proj", "k_proj"), ("query", "key"), ("q", "k"), ("query_proj", "key_proj"),
    ("linear_q", "linear_k"),
)  # fmt: skip
BEHIND = ("q_norm", "k_norm")  # Inkling scores what these let through
FUSED = ("c_attn", "qkv_proj", "query_key_value", "Wqkv", "in_proj")
CROSS = ("encoder_attn", "EncDecAttention", "crossattention")


class Watched:
    """What attentions were given and what they handed to the softmax, in their order."""

    def __init__(self):
        self.now, self.scores, self.outputs, self.inputs = None, [], {}, {}

    def enter(self, module, args, kwargs):
        given = args[0] if args else kwargs.get("hidden_states")
        self.now, self.inputs[module] = module, given

    def leave(self, name, module):
        def keep(_child, _args, output):
            of_tokens = self.outputs.setdefault(module, {})  # DeBERTa projects distances later
            of_tokens.setdefault(name, output.detach().double())

        return keep


WATCHED = Watched()
_softmax, _torch_softmax = functional.softmax, torch.softmax
_product = functional.scaled_dot_product_attention
FUSES = ("falcon",)  # without fused attention its code adds ALiBi twice, in 5.23.0


def _kept(original):
    def watched(given, *args, **kwargs):
        if WATCHED.now is not None:
            WATCHED.scores.append((WATCHED.now, given.detach().double()))
            WATCHED.now = None
        return original(given, *args, **kwargs)

    return watched


def _kept_product(query, key, value, attn_mask=None, **kwargs):
    if WATCHED.now is not None:
        scores = query.double() @ key.double().transpose(-1, -2) * query.shape[-1] ** -0.5
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        else:
            scores = scores + attn_mask
        WATCHED.scores.append((WATCHED.now, scores))
        WATCHED.now = None
    return _product(query, key, value, attn_mask=attn_mask, **kwargs)


functional.scaled_dot_product_attention = _kept_product
functional.softmax, torch.softmax = _kept(_softmax), _kept(_torch_softmax)


def build(config, seed=0):
    """Return a model whose attentions are watched, with weights that are wide awake."""
    torch.manual_seed(seed)
    how = "sdpa" if config.model_type in FUSES else "eager"
    model = AutoModel.from_config(config, attn_implementation=how).eval()
    draw = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        fixed = "position" in name and not weight.requires_grad
        with torch.no_grad():
            if weight.ndim == 2 and "embed" not in name and "relative" not in name:
                weight.normal_(0, 0.5 * weight.shape[-1] ** -0.5, generator=draw)
            elif not fixed and "norm" not in name.lower():
                weight.normal_(0, 0.5, generator=draw)
            elif name.endswith((".q_norm.weight", ".k_norm.weight")):
                weight.add_(0.3 * torch.randn(weight.shape, generator=draw))
    for name, module in model.named_modules():
        children = dict(module.named_children())
        pairs = [BEHIND] if "r_proj" in children else SEPARATE
        if "sink_proj" in children:  # Inkling 2 has them inside its maps, before queries grow
            query, key = module.q_proj.norm, module.k_proj.norm
            children = {"q": getattr(query, "l2_clip", query), "k": key}
            pairs = [("q", "k")]
        names = [n for pair in pairs if set(pair) <= set(children) for n in pair]
        names = names or [n for n in FUSED if n in children]
        if names or hasattr(module, "r_r_bias"):
            watch = name.split(".")[-1] not in CROSS and ".crossattention." not in name
            module.register_forward_pre_hook(WATCHED.enter if watch else _skip, with_kwargs=True)
            for child in names:
                children[child].register_forward_hook(WATCHED.leave(child, module))
    return model


def _skip(_module, _args, _kwargs):
    WATCHED.now = None


def heads(kind, module, layer, config):
    """Return queries and keys as the projections give them, each (batch, heads, length, d_head)."""
    out, d = WATCHED.outputs.get(module, {}), layer.head_dim
    if layer.profiles:
        query, key = (one.transpose(1, 2) for one in out.values())
        return query, key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    if kind == "xlnet":
        h = WATCHED.inputs[module].double()  # (length, batch, d_model)
        return tuple(torch.einsum("ibh,hnd->bnid", h, w.double()) for w in (module.q, module.k))
    if len(out) == 2:
        return tuple(out[n].unflatten(-1, (-1, d)).transpose(1, 2) for n in out)
    (name, both), *_ = out.items()
    if kind == "codegen":
        query, _, key = both.unflatten(-1, (4, 3, -1)).unbind(-2)
        return tuple(t.flatten(2).unflatten(-1, (-1, d)).transpose(1, 2) for t in (query, key))
    if name == "in_proj":
        qkv = both.unflatten(-1, (-1, 3, d)).transpose(1, 2)
        bias = module.q_bias.detach().double().unflatten(-1, (-1, d))[:, None]
        return qkv[..., 0, :] + bias, qkv[..., 1, :]
    if name == "query_key_value" and kind == "falcon":
        n = config.num_attention_heads
        if config.new_decoder_architecture:
            groups = both.unflatten(-1, (config.num_kv_heads, -1, d))
            size = n // config.num_kv_heads
            key = groups[..., -2, :].repeat_interleave(size, 2)
            return groups[..., :-2, :].flatten(2, 3).transpose(1, 2), key.transpose(1, 2)
        if config.multi_query:
            rows = both.unflatten(-1, (n + 2, d)).transpose(1, 2)
            return rows[:, :n], rows[:, n : n + 1]
    if name == "query_key_value" or (kind == "gpt_bigcode" and not config.multi_query):
        rows = both.unflatten(-1, (-1, 3, d)).transpose(1, 2)
        return rows[..., 0, :], rows[..., 1, :]
    if kind == "gpt_bigcode" and config.multi_query:
        n = config.n_head
        rows = both.unflatten(-1, (n + 2, d)).transpose(1, 2)
        return rows[:, :n], rows[:, n : n + 1]
    query, key, _ = both.chunk(3, -1)
    return tuple(t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (query, key))


def turned(read, n, rows, config):
    """Return queries or keys turned by what the register says."""
    layer = read.layers[n]
    rows = rows.numpy().copy()
    length = rows.shape[2]
    omega = read.inv_freq(n, length)
    first, second = pairs(layer, len(omega))
    angles = np.outer(np.arange(length), omega)
    if layer.sections:
        for turn, place in zip(layer.sections.values(), places(layer, length, config), strict=True):
            angles[:, turn] = np.outer(place, omega[list(turn)])
    if layer.uneven:
        return torch.as_tensor(bent(rows, layer, angles))
    z = (rows[..., first] + 1j * rows[..., second]) * np.exp(1j * layer.direction * angles)
    rows[..., first], rows[..., second] = layer.gain * z.real, layer.gain * z.imag
    return torch.as_tensor(rows)


def places(layer, length, config):
    """Return each patch's places in a picture or clip, axis by axis; those before them stay at 0.

    Patches stand row after row, and pictures one after the other.
    """
    grid = [one // config.patch_size for one in own.sides(own.size(config))]
    if "time" in layer.sections:
        grid.insert(0, config.frames_per_clip // config.tubelet_size)
    patch = np.arange(length - layer.prefix) % np.prod(grid)
    at = np.array(np.unravel_index(patch, grid), float)
    if layer.of_sides:
        at = 2 * np.pi * ((2 * at + 1) / np.array(grid)[:, None] - 1)
    return np.pad(at, ((0, 0), (layer.prefix, 0)))


def bent(rows, layer, angles):
    """Return rows of which each dimension of a pair takes an angle of its own, axis by axis."""
    of_axis = angles.reshape(len(angles), len(layer.sections), -1)
    each = np.concatenate((of_axis, of_axis), -1).reshape(len(angles), -1)
    turning = rows[..., : layer.turning].copy()
    beside = np.stack((-turning[..., 1::2], turning[..., ::2]), -1).reshape(turning.shape)
    rows[..., : layer.turning] = turning * np.cos(each) + beside * np.sin(each)
    return rows


def weighed(module, query, key):
    """Return turned queries and keys behind TimesFM's norms and learned numbers."""
    found = []
    for rows, norm in ((query, module.q_norm), (key, module.k_norm)):
        size = (rows.square().mean(-1, keepdim=True) + norm.variance_epsilon).sqrt()
        found.append(rows / size * norm.weight.detach().double())
    return found[0] * functional.softplus(module.scaling.detach().double()), found[1]


def predicted(kind, read, n, module, model):
    """Return scores, (batch, heads, length, length), from what the register says of layer n."""
    layer = read.layers[n]
    query, key = heads(kind, module, layer, model.config)
    check("n_heads", layer.n_heads, query.shape[1], n)
    check("head_dim", layer.head_dim, query.shape[-1], n)
    if layer.door == "rotate":
        query, key = (turned(read, n, rows, model.config) for rows in (query, key))
    if layer.weighed:
        query, key = weighed(module, query, key)
    sinusoidal = layer.relative and layer.relative["kind"] == "sinusoidal"
    content = query + _learned(module, "r_w_bias", "pos_bias_u")[:, None] if sinusoidal else query
    scores = content @ key.transpose(-1, -2) * layer.scale
    place = np.arange(scores.shape[-1])
    offsets = place - place[:, None]  # key's place minus query's
    if layer.slopes:
        # queries share what does not depend on keys, so slope times key's place will do
        fall = torch.tensor(layer.slopes["values"], dtype=torch.float64)[:, None] * place
        if rounding := layer.slopes.get("rounding"):
            exact = torch.tensor(layer.slopes["values"], dtype=torch.float64) / layer.scale
            rough = getattr(torch, rounding)
            fall = (exact.to(rough)[:, None] * torch.as_tensor(place)).double() * layer.scale
        scores = scores + fall[:, None]
    if layer.profiles:
        scores = grown(layer, place) * (scores + _profiles(layer, n, module, offsets))
    elif layer.relative:
        scores = scores + _relative(read, n, query, key, module, model, offsets)
    elif layer.buckets and layer.buckets["kind"] == "grid":
        side = layer.buckets["side"]
        cells = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1)
        cells = cells.reshape(-1, 2)
        index = read.rows(n, cells - cells[:, None])
        table = module.relative_position_bias.relative_position_bias_table.detach().double()
        check("rows", layer.buckets["n"], len(table), n)
        scores = scores + table[torch.as_tensor(index)].permute(2, 0, 1)
    elif layer.buckets:
        table = _table_of_buckets(layer, module, model)
        check("rows", layer.buckets["n"], len(table), n)
        scores = scores + table[torch.as_tensor(read.rows(n, offsets))].permute(2, 0, 1)
    return scores


def _learned(module, *names):
    """Return the first of these parameters that a module has."""
    return next(getattr(module, name) for name in names if hasattr(module, name)).detach().double()


def _in_heads(linear, layer):
    """Return a map's weight as (width, heads, d_head)."""
    return linear.weight.detach().double().T.unflatten(-1, (-1, layer.head_dim))


def _table_of_buckets(layer, module, model):
    """Return T5's biases: the layer's own, or of the stack's first layer."""
    part = getattr(model, layer.stack) if layer.stack else model.encoder
    tables = [m.relative_attention_bias for m in part.modules()
              if hasattr(m, "relative_attention_bias")]  # fmt: skip
    if layer.buckets["shared"]:
        (table,) = tables
    else:
        table = module.relative_attention_bias
    return table.weight.detach().double()


def _relative(read, n, query, key, module, model, offsets):
    """Return what vectors of distances add to the scores."""
    layer = read.layers[n]
    if layer.relative["kind"] == "sinusoidal":
        bound = layer.relative["bound"] or np.inf
        last = int(offsets.max())
        away = np.clip(np.arange(-last, last + 1), -bound, bound)  # query's place minus key's
        codes = distances.sinusoids(away, layer.relative["width"], layer.relative)
        maps = (
            _learned(module, "r") if hasattr(module, "r") else _in_heads(module.linear_pos, layer)
        )
        vectors = torch.einsum("rh,hnd->nrd", torch.as_tensor(codes), maps)
        query = query + _learned(module, "r_r_bias", "pos_bias_v")[:, None]
        index = torch.as_tensor(last - offsets).expand(*query.shape[:2], *offsets.shape)
        return (query @ vectors.transpose(-1, -2)).gather(-1, index) * layer.scale
    table = model.encoder.get_rel_embedding().detach()
    check("rows", layer.buckets["n"], len(table), n)
    index = torch.as_tensor(read.rows(n, offsets))
    shared = getattr(module, "share_att_key", False)
    names = {
        "c2p": ("key_proj",) if shared else ("pos_key_proj", "pos_proj"),
        "p2c": ("query_proj",) if shared else ("pos_query_proj", "pos_q_proj"),
    }
    total = torch.zeros(())
    for term, rows in (("c2p", query), ("p2c", key)):
        if term in layer.relative["terms"]:
            project = next(getattr(module, n) for n in names[term] if hasattr(module, n))
            vectors = project(table).detach().double().unflatten(-1, (-1, layer.head_dim))
            of_rows = torch.einsum("bhnd,rhd->bhnr", rows, vectors)  # each place, each row
            if term == "c2p":
                many = index.expand(*of_rows.shape[:2], *index.shape)
                total = total + of_rows.gather(-1, many) * layer.scale
            else:
                many = index.T.expand(*of_rows.shape[:2], *index.shape)
                total = total + of_rows.gather(-1, many).transpose(-1, -2) * layer.scale
    return total


def _profiles(layer, n, module, offsets):
    """Return what curves over the distance add to the scores."""
    given = WATCHED.inputs[module].double()
    own = getattr(module, "relative_position_bias", None)  # Inkling 2's
    mixed = given @ (own.linear if own else module.r_proj).weight.detach().double().mT
    mixed = mixed.unflatten(-1, (layer.n_heads, layer.profiles["n"]))
    if clip := layer.profiles["clip"]:
        mixed = mixed * own.norm.scale.detach().double()
        mixed = mixed / (mixed.norm(dim=-1, keepdim=True) / clip).clamp(min=1)
    curves = (own or module.rel_logits_proj).proj.detach().double()
    check("reach", layer.profiles["reach"], curves.shape[1], n)
    far = torch.as_tensor((offsets > 0) | (-offsets >= curves.shape[1]))
    by_pair = curves[:, torch.as_tensor(-offsets).clamp(0, curves.shape[1] - 1)]
    return torch.einsum("bihc,cij->bhij", mixed, by_pair.masked_fill(far, 0))


def grown(layer, place):
    """Return what scores of queries at these places are multiplied by, one a row."""
    rule = layer.query_scaling
    if not rule:
        return 1.0
    steps = np.maximum(1, (place + rule["shift"]) / rule["every"])
    return torch.as_tensor(1 + rule["beta"] * np.log(steps))[:, None]


def sight(layer, scores, stage):
    """Return which keys each query sees, as the register says, of the shape of the scores."""
    length = scores.shape[-1]
    if layer.kind == "square":
        return torch.as_tensor(_squares(layer, stage))[:, None].expand(scores.shape)
    offset = np.arange(length) - np.arange(length)[:, None]
    seen = offset <= 0 if layer.causal else np.ones_like(offset, bool)
    if layer.kind == "window":
        seen &= abs(offset) < layer.window
    if layer.dealt:
        picture = np.arange(length) * PICTURES // length
        seen = picture == picture[:, None]
    return torch.as_tensor(seen).expand(scores.shape)


def _squares(layer, grid):
    """Return for each moved square which of its patches see each other: none around the edge."""
    side = layer.window
    padded = [-(-n // side) * side for n in grid]
    over = [np.arange(n) + layer.shift >= n for n in padded]
    around = np.stack(np.meshgrid(*over, indexing="ij"), -1)
    squares = around.reshape(padded[0] // side, side, padded[1] // side, side, 2)
    squares = squares.transpose(0, 2, 1, 3, 4).reshape(-1, side * side, 2)
    return (squares[:, :, None] == squares[:, None]).all(-1)


def check(name, read, found, n):
    if read != found:
        raise Differs(f"layer {n}: {name}: read {read}, found {found}")


@torch.no_grad()
def compare(kind, changes, said=None):
    """Return how far scores and tables are apart, in tolerances, for one configuration.

    The register reads the changes, or what is `said` in their place.
    """
    small = copy.deepcopy(own.small(kind) | changes)
    given = own.small(kind) | (changes if said is None else said)
    given = json.loads(json.dumps(given))  # classes change what they are given
    read = register.read(given | {"model_type": kind})
    config = probe.CONFIG_MAPPING[kind](**small)
    model = build(config)
    length = min([LONGEST, *(one.table["length"] for one in read.layers if one.table)])
    convolutions(model, read)
    tables = [one.table for one in _firsts(read) if one.table and one.table["kind"] != "angles"]
    found = {"layers": len(read.layers)}
    run(kind, model, length)
    watched = list(WATCHED.scores)
    check("layers with attention", len(read.layers), len(watched), "all")
    worst, grids = 0.0, _grids(kind, config)
    for n, (module, scores) in enumerate(watched):
        worst = max(worst, _apart(kind, read, n, module, model, scores, grids))
    found["scores"] = float(f"{worst:.3g}")
    if tables:
        found["tables"] = float(f"{added(kind, model, read, length):.3g}")
    return found


def convolutions(model, read):
    """Compare over how many tokens convolutions go, before the layers and in them."""
    if not read.outside:
        return
    for one in read.outside:
        inside = one["where"] == "in each layer"
        sizes = {
            module.kernel_size[0]
            for name, module in model.encoder.named_modules()
            if isinstance(module, nn.Conv1d) and (".layers." in f".{name}") == inside
        }
        check(f"convolutions {one['where']}", {one["over"]}, sizes - {1}, "all")


def _firsts(read):
    """Return the first layer of each stack."""
    return list({one.stack: one for one in reversed(read.layers)}.values())


def _grids(kind, config):
    """Return how many patches each of Swin's layers has, down and right."""
    if kind != "swin":
        return []
    grid, found = config.image_size // config.patch_size, []
    for stage, depth in enumerate(config.depths):
        found += [(-(-grid // 2**stage),) * 2] * depth
    return found


def _apart(kind, read, n, module, model, scores, grids):
    layer = read.layers[n]
    expected = predicted(kind, read, n, module, model)
    if layer.profiles:
        check("sinks", layer.sinks, scores.shape[-1] == expected.shape[-1] + 1, n)
        scores = scores[..., : expected.shape[-1]]
    scores = scores.reshape(expected.shape)
    seen = sight(layer, scores, grids[n] if grids else None)
    lowest = scores > (MASKED if layer.kind == "square" else -1e20)
    if (lowest != seen).any():
        raise Differs(f"layer {n}: {int((lowest != seen).sum())} pairs of tokens see each other")
    if layer.slopes:  # what all keys share does not matter to the softmax
        scores, expected = (s - s[..., :1] for s in (scores, expected))
    size = scores[seen].abs().max()
    apart = float((scores - expected)[seen].abs().max() / (ROUNDING * size))
    if not apart <= 1:
        raise Differs(f"layer {n}: scores are {apart:.3g} times the tolerance apart")
    return apart


def run(kind, model, length, constant=False):
    """Give the model tokens, or a picture, and keep what its attentions do."""
    WATCHED.scores.clear(), WATCHED.outputs.clear(), WATCHED.inputs.clear()
    draw = torch.Generator().manual_seed(1)
    if kind == "vjepa2":
        one = model.config
        clip = torch.randn(1, one.frames_per_clip, 3, *2 * [one.crop_size], generator=draw)
        return model(pixel_values_videos=clip, skip_predictor=True)
    if kind == "timesfm2_5":
        n = model.config.patch_length * length
        return model(past_values=torch.randn(1, n, generator=draw))
    if hasattr(model.config, "image_size"):
        many = PICTURES if hasattr(model, "patch_positional_embedding") else 1
        shape = (many, 3, *own.sides(model.config.image_size))
        noise = torch.zeros(shape) if constant else torch.randn(shape, generator=draw)
        return model(pixel_values=noise)
    tokens = torch.randint(5, 60, (1, length), generator=draw)
    tokens = torch.full_like(tokens, 7) if constant else tokens
    if kind == "wav2vec2-conformer":
        sound = torch.zeros if constant else lambda *shape: torch.randn(*shape, generator=draw)
        return model(input_values=sound(1, 400 + 320 * (HEARD - 1)))
    if kind == "whisper":
        heard = torch.zeros(1, model.config.num_mel_bins, 2 * model.config.max_source_positions)
        return model(input_features=heard, decoder_input_ids=tokens)
    if model.config.is_encoder_decoder:
        return model(input_ids=tokens, decoder_input_ids=tokens)
    return model(input_ids=tokens)


@torch.no_grad()
def added(kind, model, read, length):
    """Return how far tables are from what makes places differ where all tokens are the same."""
    for name, weight in model.named_parameters():
        if any(part in name for part in ("cls_token", "distillation_token", "class_embedding")):
            weight.zero_()
    for module in model.modules():
        if isinstance(module, nn.Conv1d | nn.Conv2d) and module.bias is not None:
            module.bias.zero_()
    seen = []

    def keep(_module, args):
        if args and torch.is_tensor(args[0]) and args[0].ndim == 3:
            seen.append(args[0][0].double().numpy().copy())

    hooks = [module.register_forward_pre_hook(keep) for module in model.modules()]
    run(kind, model, length, constant=True)
    for hook in hooks:
        hook.remove()
    layers = [one for one in _firsts(read) if one.table and one.table["kind"] != "angles"]
    return max(_found(seen, _rows(model, one, length), one, length) for one in layers)


def _rows(model, layer, length):
    """Return the rows that positions take: as computed here, or of tables with as many rows."""
    table = layer.table
    positions = np.arange(table["length"] if layer.stack == "encoder" else length)
    if table["kind"] == "sinusoidal":
        return [distances.sinusoids(positions + table["offset"], table["width"], table)]
    part = getattr(model, layer.stack) if layer.stack else model
    held = [weight.squeeze(0).numpy() for weight in part.parameters()]
    shape = table["length"] + table["rows_more"], table["width"]
    return [one[table["offset"] :][: table["length"]] for one in held if one.shape == shape]


def _found(seen, tables, layer, length):
    """Return how far the nearest of the inputs seen is from a table, up to a constant vector."""
    best = np.inf
    for given, rows in itertools.product(seen, tables):
        n = min(len(given), len(rows))
        if rows.ndim != 2 or given.shape[1] != rows.shape[1] or n < min(length, len(rows)):
            continue
        change, expected = given[:n] - given[0], rows[:n] - rows[0]
        allowed = ROUNDING * np.abs(rows).max()
        if layer.table["kind"] == "sinusoidal":
            allowed += ANGLES * n
        best = min(best, np.abs(change - expected).max() / allowed)
    if not best <= 1:
        raise Differs(f"{layer.stack or 'input'}: table: {best:.3g} times the tolerance apart")
    return best
