"""How a layer turns its queries: dimensions, pairs, direction, and the order of the weights."""

import numpy as np
import torch

STILL = 1e-6  # of a query's norm: what float32 changes in dimensions that do not turn
SAME = 1e-4  # of a pair's norm


class Differs(ValueError):
    """A layer that does otherwise than is read."""


def describe(call):
    """Return what one attention does, from its queries at positions that begin with 0 and 1."""
    q = call.q  # (heads, length, d_head)
    scale = np.abs(q).max()
    moves = (np.abs(q - q[:, :1]).max((0, 1)) > STILL * scale).nonzero()[0]
    found = {
        "head_dim": q.shape[2],
        "scale": call.options.get("scaling"),
        "window": call.options.get("sliding_window"),
        "sinks": call.options.get("s_aux") is not None,
        "softcap": call.options.get("softcap"),
        "turning": len(moves),
        "size": float(np.linalg.norm(q[:, 0])),
    }
    if not len(moves):
        return found
    for layout in _layouts(moves, q.shape[2]):
        if (turned := _direction(q, layout[3])) is not None:
            name, first, width, _ = layout
            found |= {"pairing_after": name, "first": first, "block": width, "direction": turned}
            found["pairing"] = _of_weights(call, layout)
            return found
    return found | {"pairing_after": None, "moves": moves.tolist()}


def sees(call, query):
    """Return how many keys a query of a call sees, all of them where there is no mask."""
    if call.mask is None:
        return call.k.shape[1]
    mask = call.mask[0, 0, query]
    return int((mask if mask.dtype == torch.bool else mask > -1e30).sum())


def pairs(layer, n_pairs):
    """Return the first and the second dimensions of all pairs, as they are turned."""
    n = np.arange(n_pairs)
    if layer.pairing_after == "half":
        return layer.first + n, layer.first + n + n_pairs
    return layer.first + 2 * n, layer.first + 2 * n + 1


def _layouts(moves, d_head):
    """Yield ways of pairing the dimensions that move: name, first one, width, pairs."""
    first, end = int(moves[0]), int(moves[-1]) + 1
    blocks = [(first, end), (0, d_head)]
    for start, stop in blocks:
        width = stop - start
        if width % 2:
            continue
        n = np.arange(width // 2)
        yield "half", start, width, (start + n, start + n + width // 2)
        yield "interleaved", start, width, (start + 2 * n, start + 2 * n + 1)


def _direction(q, pairs):
    """Return 1 or -1, the way all pairs turn, or None where these are no pairs."""
    z = q[..., pairs[0]] + 1j * q[..., pairs[1]]
    size = np.abs(z)
    if (np.abs(size - size[:, :1]) > SAME * np.maximum(size[:, :1], 1e-2 * size.max())).any():
        return None
    angles = np.angle(z[0, 1] / z[0, 0])
    return 1 if angles[np.abs(angles).argmax()] > 0 else -1


def _of_weights(call, layout):
    """Return how the projection's outputs are paired, or None where they cannot be recognised."""
    name, first, width, _ = layout
    turned = call.q[0, 0, first : first + width]
    n = width // 2
    orders = {name: np.arange(width)}
    if name == "half":
        orders["interleaved"] = np.arange(width).reshape(n, 2).T.ravel()
    else:
        orders["half"] = np.arange(width).reshape(2, n).T.ravel()
    for out in call.projected:
        if len(out) < width:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(out, width)
        for pairing, order in orders.items():
            rows = windows[:, order]
            for some, row in (
                (rows, turned),
                (rows - rows.mean(1, keepdims=True), turned - turned.mean()),
            ):
                alike = np.abs(some @ row) / (
                    np.linalg.norm(some, axis=1) * np.linalg.norm(row) + 1e-30
                )
                if alike.max() > 1 - 1e-6:
                    return pairing
    return None
