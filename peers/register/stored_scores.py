"""Store what small models of families with attention of their own score, for tests without them.

python -m peers.register.stored_scores        # writes tests/register/scored.json

Slopes, rows and places in tables are read off scores and inputs, by nothing of the register.
"""

import json
from pathlib import Path

import numpy as np
import torch

from peers.register import own, probe, scores

STORED = Path(__file__).parents[2] / "tests/register/scored.json"
PLACES = [0, 1, 7, 60, 99]
TURNED = {"gptj": "8 heads", "codegen": "8 heads", "roformer": "default", "falcon": "yarn",
          "esm": "rotary"}  # fmt: skip
SLOPES = {"bloom": "6 heads", "mpt": "6 heads", "falcon": "alibi, 6 heads"}
ROWS = {"t5": "buckets", "umt5": "far", "mpnet": "default", "deberta": "span",
        "deberta-v2": "buckets"}  # fmt: skip
TABLES = {"gpt2": "length 40", "opt": "length 40", "bart": "length 40", "roberta": "length 40",
          "marian": "length 40", "xglm": "length 40", "whisper": "lengths", "mpnet": "length",
          "gpt_neo": "length", "deit": "size", "esm": "default"}  # fmt: skip
SIGHT = {"bert": "default", "roberta": "length 90", "xlnet": "uni", "gpt_neo": "window"}


def main() -> None:
    probe.limit_memory()
    found = []
    for what, cases in (
        (turned, TURNED), (slopes, SLOPES), (rows, ROWS), (tables, TABLES), (sight, SIGHT),
    ):  # fmt: skip
        for kind, name in cases.items():
            changes = own.variations(kind)[name]
            found.append({"kind": kind, "what": what.__name__} | case(what, kind, changes))
    found.append(squares())
    STORED.write_text("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]\n")


@torch.no_grad()
def case(what, kind, changes):
    """Return a configuration with what a small model of it does."""
    small = own.small(kind) | changes
    said = json.loads(json.dumps(small))
    model = scores.build(probe.CONFIG_MAPPING[kind](**small))
    entries = {name for name in said if not name.endswith("_size") or name == "hidden_size"}
    entries |= {"image_size", "patch_size", "window_size"} & set(said)
    return {
        "config": {"model_type": kind} | {name: said[name] for name in sorted(entries)},
        "seen": what(kind, model),
    }


def turned(kind, model):
    """Return one head's queries and keys before they are turned, and its scores."""
    scores.run(kind, model, 100)
    module, given = scores.WATCHED.scores[0]
    d = model.config.hidden_size // model.config.num_attention_heads
    layer = scores.register.Layer(head_dim=d)
    query, key = scores.heads(kind, module, layer, model.config)
    picked = given.reshape(query.shape[0], query.shape[1], 100, 100)[0, 0]
    return {
        "places": PLACES,
        "query": rounded(query[0, 0, PLACES]),
        "key": rounded(key[0, 0, PLACES]),
        "scores": [row[: n + 1] for n, row in enumerate(rounded(picked[PLACES][:, PLACES]))],
    }


def slopes(kind, model):
    """Return how much each head's score rises from the first key to the second."""
    scores.run(kind, model, 9, constant=True)
    _, given = scores.WATCHED.scores[0]
    last = given.reshape(-1, 9, 9)[:, -1]
    return rounded(last[:, 1] - last[:, 0])


def rows(kind, model):
    """Return the rows of offsets for each stack, less the row of offset 0.

    Row n of each table is n times the same vector, so that scores count rows.
    """
    for module in model.modules():
        for name in ("relative_attention_bias", "rel_embeddings"):
            if (table := getattr(module, name, None)) is not None:
                n, width = table.weight.shape
                same = torch.ones(width) if name == "relative_attention_bias" else table.weight[0]
                table.weight.copy_(torch.arange(n)[:, None] * same)
        if (table := getattr(module, "position_embeddings", None)) is not None:
            table.weight.zero_()
    length = 250
    scores.run(kind, model, length, constant=True)
    found = []
    for layer in (0, -1):
        _, given = scores.WATCHED.scores[layer]
        one = given.reshape(-1, length, length)[0]
        offsets, middle = range(-length + 1, length), one.diagonal()[:1]
        last, first = one[-1] - middle, one[0] - middle  # offsets below 0, and above
        change = torch.cat((last, first[1:]))
        unit = change[length - 2]  # a key just before its query is one row from the query's own
        seen = change > -1e20
        count = torch.round(change / unit).int()
        assert (change / unit - count)[seen].abs().max() < 1e-2
        found.append([[o, int(c)] for o, c, s in zip(offsets, count, seen, strict=True)
                      if s and (abs(o) < 40 or o % 7 == 0)])  # fmt: skip
    return found


def tables(kind, model):
    """Return for each stack its table's rows, the row of position 0, and some of its numbers."""
    found = {}
    for stack in ("encoder", "decoder") if model.config.is_encoder_decoder else (None,):
        part = getattr(model, stack) if stack else model
        held = [w.squeeze(0).numpy() for w in part.parameters() if w.squeeze(0).ndim == 2]
        held += [b.numpy() for b in part.buffers() if b.ndim == 2]
        scores.WATCHED.scores.clear()
        added = inputs(kind, model)
        found[str(stack)] = place(added, held)
    return found


def inputs(kind, model):
    """Return all inputs of modules where every token is the same."""
    for name, weight in model.named_parameters():
        if any(part in name for part in ("cls_token", "distillation_token")):
            weight.zero_()
    for module in model.modules():
        if isinstance(module, torch.nn.Conv1d | torch.nn.Conv2d) and module.bias is not None:
            module.bias.zero_()
    seen = []

    def keep(_module, args):
        if args and torch.is_tensor(args[0]) and args[0].ndim == 3:
            seen.append(args[0][0].numpy().copy())

    hooks = [module.register_forward_pre_hook(keep) for module in model.modules()]
    scores.run(kind, model, 30, constant=True)
    for hook in hooks:
        hook.remove()
    return seen


def place(added, held):
    """Return which table was added, from which row on, and some of its numbers."""
    for table in held:
        for first in range(4):
            for given in added:
                n = min(len(given), len(table) - first, 30)
                if n < 20 or given.shape[1] != table.shape[1]:
                    continue
                here = table[first : first + n]
                if np.abs(given[:n] - given[0] - here + here[0]).max() < 1e-4 * np.abs(here).max():
                    half = table.shape[1] // 2
                    shown = table[first:][[1, 19]][:, [0, 1, half - 1, half, half + 1, -1]]
                    return {"rows": len(table), "first": first, "numbers": rounded(shown)}
    raise ValueError("no table was found that is added")


def sight(kind, model):
    """Return how many keys the first and the last of 20 queries see in each layer."""
    scores.run(kind, model, 20)
    return [
        [int((given.reshape(-1, 20, 20)[0, query] > -1e20).sum()) for query in (0, -1)]
        for _, given in scores.WATCHED.scores
    ]


def squares():
    """Return Swin's rows in a square of 3 x 3 patches."""
    model = scores.build(probe.CONFIG_MAPPING["swin"](**own.small("swin") | {"window_size": 3}))
    bias = next(m for m in model.modules() if hasattr(m, "relative_position_index"))
    return {
        "kind": "swin",
        "what": "squares",
        "config": {"model_type": "swin", "window_size": 3},
        "seen": bias.relative_position_index.reshape(9, 9).tolist(),
    }


def rounded(numbers):
    return json.loads(
        json.dumps(np.asarray(numbers, float).tolist()),
        parse_float=lambda text: float(f"{float(text):.6g}"),
    )


if __name__ == "__main__":
    main()
