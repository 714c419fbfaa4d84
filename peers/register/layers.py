"""Compare outputs: transformers' attention layers, and ours with their weights.

Of each architecture a small model with random weights runs on a short input, a long one, one with a
cache, which is reordered for beams or cropped, one that is padded in front, and two documents in a
row. What goes into its attention layers goes into layers of ours, which are made from what the
register reads in the configuration, and the outputs are compared.

python -m peers.register.layers [ARCHITECTURE ...]
"""

import copy
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import transformers
from torch import Tensor, nn

from peers.register import own, probe
from peers.register.ours import NotBuilt, build
from posenc import register
from posenc.attention import Cache
from posenc.models.packed import counted, same_document

RESULTS = Path(__file__).parents[2] / "results/layers.json"
SHORT, LONG, PROMPT, STEPS, PADDED = 12, 150, 20, 4, 5
WINDOW = 8
ROUNDING = 64 * torch.finfo(torch.float32).eps  # of the largest output, as in `make peers`
ANGLES = 2 * LONG * 2**-24  # theirs are float32: of LONG radians, once for a query, once for a key
LIMITS = dict.fromkeys(
    ("short", "cache", "padded", "beams", "cropped", "packed", "axes"), ROUNDING
) | {"long": ROUNDING + ANGLES}
TOLD = ("bamba",)  # counts from 0 in each call, cache or not, unless it is told positions
CHANGES = {  # what makes a class's own rules show within few tokens
    "gemma2": {"attn_logit_softcapping": 2.0},
    "llama4_text": {"attention_chunk_size": 8, "floor_scale": 5},
    "ministral3": {
        "rope_parameters": {
            "rope_type": "yarn",
            "rope_theta": 1e6,
            "factor": 16.0,
            "original_max_position_embeddings": 16,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "llama_4_scaling_beta": 0.1,
        }
    },
    "deepseek_v4": {
        "layer_types": ["sliding_attention"] * 8
    },  # others have keys for several tokens
    "moshi": {"sliding_window": 3000},  # its cache keeps this window, its mask sees everything
    "deepseek_v3": {
        "rope_parameters": {
            "rope_type": "yarn",
            "rope_theta": 1e4,
            "factor": 40.0,
            "original_max_position_embeddings": 4096,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
        }
    },
}


@dataclass
class Call:
    """Tokens that go into a model together."""

    tokens: Tensor
    padding: Tensor | None = None
    documents: Tensor | None = None
    on_axes: Tensor | None = None  # places on three axes, (3, batch, length)
    rows: list[int] | None = None  # with which the cache goes on
    length: int | None = None  # to which it is cropped before

    @property
    def real(self) -> Tensor:
        return torch.ones_like(self.tokens).bool() if self.padding is None else self.padding

    @property
    def places(self) -> Tensor:
        found = counted(self.padding, self.documents)
        return torch.arange(self.tokens.shape[1]).expand_as(self.tokens) if found is None else found

    def named(self) -> dict:
        """Return what transformers' models are told of it."""
        if self.on_axes is not None:
            return {"position_ids": self.on_axes}
        if self.documents is not None:
            return {"position_ids": self.places}
        if self.padding is not None:
            return {"position_ids": self.places, "attention_mask": self.padding.long()}
        return {}


class Watched:
    """What went into the attention layers of a model and what came out, call by call."""

    def __init__(self, model: nn.Module, read: register.Description) -> None:
        self.modules = {
            module.layer_idx: module
            for module in model.modules()
            if hasattr(module, "layer_idx")
            and type(module).__name__.endswith("Attention")
            and read.layers[module.layer_idx].kind != "none"
        }
        self.seen: dict[int, list[tuple[Tensor, Tensor]]] = {}
        for number, module in self.modules.items():
            module.register_forward_hook(self._keeper(number), with_kwargs=True)

    def _keeper(self, number: int):
        def keep(_module, args, named, output):
            x = args[0] if args else named["hidden_states"]
            made = output[0] if isinstance(output, tuple) else output
            self.seen.setdefault(number, []).append((x.detach().clone(), made.detach().clone()))

        return keep


def main() -> None:
    probe.limit_memory()
    asked = sys.argv[1:] or register.names()
    held = json.loads(RESULTS.read_text()) if RESULTS.exists() and sys.argv[1:] else {}
    rows, left = (
        {kind: row for kind, row in held.get(name, {}).items() if kind in register.names()}
        for name in ("architectures", "not_compared")
    )
    for kind in asked:
        rows.pop(kind, None), left.pop(kind, None)
        try:
            rows[kind] = architecture(kind)
        except Exception as error:  # recorded as this architecture's result
            left[kind] = f"{type(error).__name__}: {error}".split("\n")[0][:150]
            print(f"{kind:22} {left[kind]}", flush=True)
            continue
        print(line(kind, rows[kind]), flush=True)
    print(f"{sum(map(equal, rows.values()))} of {len(rows)} equal within {LIMITS}")
    found = {
        "transformers": transformers.__version__,
        "tolerances": LIMITS,
        "architectures": dict(sorted(rows.items())),
        "not_compared": dict(sorted(left.items())),
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def line(kind: str, row: dict) -> str:
    numbers = "  ".join(
        f"{name} {size if isinstance(size, str) else format(size, '.1e')}"
        for name, size in row["differences"].items()
    )
    unturned = "" if row["unturned"] is None else f"  unturned {row['unturned']:.1e}"
    return f"{kind:22} {row['layers']} layers  {numbers}{unturned}"


@torch.no_grad()
def architecture(kind: str) -> dict:
    """Return the largest difference for each kind of input, of the largest output."""
    config, read = configured(kind)
    torch.manual_seed(0)
    try:
        model = probe.class_of(config)._from_config(config, attn_implementation="eager")
    except ValueError as error:
        raise NotBuilt(str(error)) from None
    wake(model.eval())
    watched = Watched(model, read)
    layers = {n: build(module, read.layers[n]) for n, module in watched.modules.items()}
    if not layers:
        raise NotBuilt("no attention that is known by its layer")
    found: dict[str, float | str] = {}
    unturned: list[float] = []
    sections = any(layer.sections for layer in read.layers)
    for name, calls in inputs(sections).items():
        watched.seen.clear()
        try:
            run(model, calls, told=kind in TOLD)
        except (AttributeError, NotImplementedError, RuntimeError, ValueError) as error:
            if name not in ("beams", "cropped"):  # their cache need not do all that ours does
                raise
            found[name] = f"not theirs: {type(error).__name__}: {error}".split("\n")[0][:80]
            continue
        kinds = [(layers[n], read.layers[n], seen, calls) for n, seen in watched.seen.items()]
        found[name] = rounded(max(distances(*one)[0] for one in kinds))
        if name == "short":
            unturned = [distances(*one)[1] for one in kinds if one[1].door == "rotate"]
        elif name == "packed" and found[name] > LIMITS[name]:
            together = rounded(max(distances(*one, apart=False)[0] for one in kinds))
            if together <= LIMITS[name]:
                found[name] = f"documents see each other: {together:g}"
    return {
        "layers": len(layers),
        "what": sorted({what(read.layers[n]) for n in layers}),
        "differences": found,
        "unturned": rounded(min(unturned)) if unturned else None,
    }


def distances(
    ours: nn.Module, layer: register.Layer, seen, calls: list[Call], **how
) -> list[float]:
    """Return how far from theirs ours are, and those of tokens at 0, of the largest output."""
    theirs, *others = outputs(ours, layer, seen, calls, **how)
    return [((one - theirs).abs().max() / theirs.abs().max()).item() for one in others]


def rounded(number: float) -> float:
    return float(f"{number:.2g}")


def equal(row: dict) -> bool:
    """Return whether all differences are as small as rounding allows."""
    found = row["differences"].items()
    return all(size <= LIMITS[name] for name, size in found if not isinstance(size, str))


def configured(kind: str):
    """Return a small configuration of an architecture, and what the register reads in it."""
    small = own.small(kind) if kind in own.RULES else probe.small(kind, 8)
    default = probe.CONFIG_MAPPING[kind]().to_dict()
    small |= dict.fromkeys(probe.windows(kind, default), WINDOW) | CHANGES.get(kind, {})
    given = copy.deepcopy(small)  # classes change what they are given
    return probe.CONFIG_MAPPING[kind](**small), register.read(given | {"model_type": kind})


def wake(model: nn.Module) -> None:
    """Give weights sizes at which all of them matter: maps keep the size of what they get."""
    draw = torch.Generator().manual_seed(0)
    for name, weight in model.named_parameters():
        if weight.ndim >= 2:
            weight.normal_(0, 1.5 * weight.shape[-1] ** -0.5, generator=draw)
        elif "norm" in name:
            weight.add_(torch.randn(weight.shape, generator=draw), alpha=0.2)
        else:
            weight.normal_(0, 0.5, generator=draw)


def inputs(sections: bool) -> dict[str, list[Call]]:
    """Return all kinds of input, by name: calls that follow each other with a cache."""
    axes = {"axes": [picture()]} if sections else {}
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(3, 60, (2, LONG), generator=draw)
    prompt = Call(tokens[:, :PROMPT])
    singles = [Call(tokens[:, t : t + 1]) for t in range(PROMPT, PROMPT + STEPS)]
    swapped = [singles[0], replace(singles[1], rows=[1, 1]), singles[2]]
    return {
        "short": [Call(tokens[:, :SHORT])],
        "long": [Call(tokens[:1])],
        "cache": [prompt, *singles],
        "padded": [Call(prompt.tokens, torch.arange(PROMPT) >= torch.tensor([[0], [PADDED]]))],
        "beams": [prompt, *swapped],
        "cropped": [prompt, replace(singles[0], length=PROMPT - 5), singles[1]],
        "packed": [
            Call(tokens[:1, :PROMPT], documents=(torch.arange(PROMPT) >= SHORT)[None].long())
        ],
        **axes,
    }


def picture() -> Call:
    """Return four tokens of text, a picture of 3 x 4 patches, and four tokens more."""
    patches = torch.cartesian_prod(torch.tensor([4]), torch.arange(4, 7), torch.arange(4, 8))
    before, behind = (torch.arange(first, first + 4)[:, None].expand(4, 3) for first in (0, 8))
    at = torch.cat((before, patches, behind))
    tokens = torch.randint(3, 60, (1, len(at)), generator=torch.Generator().manual_seed(2))
    return Call(tokens, on_axes=at.T[:, None])


def run(model: nn.Module, calls: list[Call], *, told: bool = False) -> None:
    """Let a model of transformers see all calls, and tell it places behind a cache if asked to."""
    past = None
    for call in calls:
        if call.rows is not None:
            past.reorder_cache(torch.tensor(call.rows))
        if call.length is not None:
            past.crop(call.length - past.get_seq_length())
        named = {"past_key_values": past} if past is not None else {}
        if told and past is not None:
            named["position_ids"] = past.get_seq_length() + call.places
        past = model(call.tokens, use_cache=len(calls) > 1, **named, **call.named()).past_key_values


def outputs(ours: nn.Module, layer: register.Layer, seen, calls: list[Call], *, apart: bool = True):
    """Return their outputs, ours, and those of tokens that all stand at 0, of all calls.

    Packed documents do not see each other if they are `apart`.
    """
    cache = Cache() if len(calls) > 1 else None
    found, before = [], 0
    for (x, theirs), call in zip(seen, calls, strict=True):
        if call.length is not None:
            cache.crop(call.length)
            before = call.length
        if call.rows is not None:
            cache.reorder(call.rows)
        at, length = before + call.places, x.shape[1]
        keys = at if before == 0 else torch.arange(before + length).expand(len(x), -1)
        sight = torch.ones(len(x), length, keys.shape[1], dtype=torch.bool)
        if layer.kind == "chunk":
            sight &= at[:, :, None] // layer.window == keys[:, None] // layer.window
        if call.documents is not None and apart:
            sight &= same_document(call.documents)
        stand = at
        if layer.door == "none" and layer.query_scaling and before == 0:
            stand = torch.arange(length)  # Llama 4 counts padding and packed documents there
        if layer.sections:
            axes = stand[..., None].expand(*stand.shape, 3)
            stand = axes if call.on_axes is None else call.on_axes.movedim(0, -1)
        told = {"padding": call.real, "positions": stand, "cache": cache, "pairs": sight}
        if cache is None and not call.named() and layer.kind != "chunk" and not layer.sections:
            told = {}  # nothing but the tokens is said
        both = [ours(x, **told)]
        if cache is None:
            both.append(ours(x, padding=call.real, positions=0 * stand, pairs=sight))
        found.append([one[call.real] for one in (theirs, both[0], both[-1])])
        before += length
    return (torch.cat(one) for one in zip(*found, strict=True))


def what(layer: register.Layer) -> str:
    """Return in words what a layer does with positions."""
    parts = [layer.door, layer.kind]
    if layer.door == "rotate":
        parts.append(f"{layer.turning} of {layer.head_dim} {layer.pairing or layer.pairing_after}")
        parts += [layer.scaling["type"]] if layer.scaling else []
    for name in ("sinks", "softcap", "query_scaling", "sections"):
        parts += [name] if getattr(layer, name) else []
    return ", ".join(parts)


if __name__ == "__main__":
    main()
