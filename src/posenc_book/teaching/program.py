"""The program of the Positional Encoding Book: it begins with attention and ends as a small GPT.

Each section is what one chapter of the Positional Encoding Book adds, and needs only what stands
above it. The book's library is checked against this file.
"""

# == order-blindness: attention, which cannot see order ============================================
import numpy as np


def softmax(scores):
    """Turn scores into weights that are positive and sum to 1."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(x, w_q, w_k, w_v, causal=False):
    """Let each token gather from all tokens, or only from those up to itself."""
    queries, keys, values = x @ w_q, x @ w_k, x @ w_v  # (length, d_model) each
    scores = queries @ keys.T / np.sqrt(x.shape[1])  # (length, length)
    if causal:
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
    return softmax(scores) @ values


# == raw-indices: numbers for the words ============================================================
def bits(positions, d_model):
    """Write each position as a binary number, its last bit first."""
    return np.asarray(positions)[:, None] >> np.arange(d_model) & 1


# == oscillations: clocks ==========================================================================
def geometric(d_model, base=10_000.0):
    """Give each pair of numbers a clock, in radians a position: from 1 down to nearly 1 / base."""
    return base ** (-np.arange(0, d_model, 2) / d_model)


def encode(positions, omega):
    """Read all clocks at each position: their sines and cosines, side by side."""
    angles = np.outer(positions, omega)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), -1)


def embed(x, base=10_000.0):
    """Add to each token what the clocks show at its position."""
    return x + encode(np.arange(len(x)), geometric(x.shape[1], base))


# == four-doors: a whole transformer, in PyTorch ===================================================
try:
    import torch
    from torch import nn
except ModuleNotFoundError:  # what stands above works without PyTorch
    from types import SimpleNamespace

    nn = SimpleNamespace(Module=object)


class Shut(nn.Module):
    """Five doors through which positions can enter, all of them shut; the last has two wings."""

    start = 0  # the position of the first token

    def embed(self, x):
        return x

    def rotate(self, q, k):
        return q, k

    def bias(self, x, q, k):
        return None

    def mix(self, x):
        return None

    def carry(self, v):
        return v

    def deliver(self, out):
        return out


class Attention(nn.Module):
    """Attention with several heads, which opens all doors but the first."""

    def __init__(self, d_model, n_heads, position):
        super().__init__()
        self.n_heads, self.d_head, self.position = n_heads, d_model // n_heads, position
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def project(self, x):  # (batch, length, d_model)
        qkv = self.qkv(x).unflatten(-1, (3 * self.n_heads, -1)).transpose(1, 2)
        q, k, v = qkv.chunk(3, dim=1)  # (batch, heads, length, d_head) each
        return *self.position.rotate(q, k), self.position.carry(v)

    def weights(self, x, q, k):
        scores = q @ k.mT / self.d_head**0.5  # (batch, heads, length, length)
        bias, extra = self.position.bias(x, q, k), self.position.mix(x)
        weights = (scores if bias is None else scores + bias).softmax(-1)
        return weights if extra is None else weights + extra

    def forward(self, x):
        q, k, v = self.project(x)
        heard = self.position.deliver(self.weights(x, q, k) @ v)  # (batch, heads, length, d_head)
        return self.out(heard.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Attention, then a small network for each token by itself."""

    def __init__(self, d_model, n_heads, position):
        super().__init__()
        self.attention = Attention(d_model, n_heads, position)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
        wide = 2 * d_model
        self.feed = nn.Sequential(nn.Linear(d_model, wide), nn.GELU(), nn.Linear(wide, d_model))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.feed(self.norms[1](x))


class Transformer(nn.Module):
    """Words go in, one answer for the whole sentence comes out."""

    def __init__(self, position, n_words=20, d_model=32, n_heads=4, n_layers=2, n_classes=2):
        super().__init__()
        self.words, self.position = nn.Embedding(n_words, d_model), position
        layers = [Layer(d_model, n_heads, position) for _ in range(n_layers)]
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(d_model, n_classes)

    def tokens(self, words):  # (batch, length)
        return self.layers(self.position.embed(self.words(words)))  # (batch, length, d_model)

    def forward(self, words):
        return self.head(self.tokens(words).mean(dim=1))  # (batch, n_classes)


class Sinusoid(Shut):
    """The first door: add what the clocks show."""

    def embed(self, x):
        positions = self.start + np.arange(x.shape[1])
        return x + torch.tensor(encode(positions, geometric(x.shape[2]))).to(x)


def train(model, task, n_steps=300):
    """Train on fresh examples, which `task(generator)` deals together with their answers."""
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(n_steps):
        x, answers = task(generator)
        loss = nn.functional.cross_entropy(model(x).flatten(0, -2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# == rotary: turn queries and keys =================================================================
def rope(x, positions, omega):
    """Turn each pair of numbers by its clock's angle at the token's position."""
    angles = positions[:, None] * omega  # (length, d_head / 2)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Rotary(Shut):
    """The second door: turn queries and keys."""

    def __init__(self, omega):
        super().__init__()
        self.omega = torch.as_tensor(omega)

    def rotate(self, q, k):
        positions = self.start + torch.arange(q.shape[-2])
        return rope(q, positions, self.omega), rope(k, positions, self.omega)


class PerToken(Transformer):
    """One answer for each token."""

    def forward(self, words):
        return self.head(self.tokens(words))  # (batch, length, n_classes)


# == relative-and-hybrid: distance in the score ====================================================
def offsets(q, k):
    """Count from each query to each key; the queries are the last of the tokens."""
    positions = torch.arange(k.shape[-2])
    return positions - positions[-q.shape[-2] :, None]  # (queries, keys), negative to the left


class ALiBi(Shut):
    """The third door: take off the score for every step, in each head another amount."""

    def __init__(self, n_heads):
        super().__init__()
        self.slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)[:, None, None]

    def bias(self, x, q, k):
        return -self.slopes * offsets(q, k).abs()


class Causal(Shut):
    """The third door again: no token looks at what comes after it."""

    def bias(self, x, q, k):
        bias = super().bias(x, q, k)
        return torch.where(offsets(q, k) > 0, -torch.inf, 0.0 if bias is None else bias)


# == in-the-message: turn the values, and the sum back =============================================
class Message(Rotary):
    """The fifth door as well: turn the values, and turn their sum back by the query's place."""

    def carry(self, v):
        return rope(v, self.start + torch.arange(v.shape[-2]), self.omega)

    def deliver(self, out):
        return rope(out, -self.start - torch.arange(out.shape[-2]), self.omega)


# == beyond-training-length: a memory, and slower clocks ===========================================
class CausalRotary(Causal, Rotary):
    """Two doors open: queries and keys turn, and nobody looks ahead."""


class Remembering(Attention):
    """Attention that can keep the keys, turned, and the values of earlier tokens."""

    kept = None  # [] begins to keep

    def project(self, x):
        q, k, v = super().project(x)
        if self.kept is not None:
            self.kept.append((k, v))
            k, v = (torch.cat(parts, dim=-2) for parts in zip(*self.kept, strict=True))
        return q, k, v


def stretch(omega, factor, length, slow=1, fast=4):
    """Slow the clocks down, except those that turn `fast` times within the trained length."""
    turns = length * omega / (2 * np.pi)
    keep = np.clip((turns - slow) / (fast - slow), 0, 1)
    return omega * (keep + (1 - keep) / factor)


# == your-gpt: a small GPT ========================================================================
from copy import deepcopy


class GPT(PerToken):
    """Say at each token which comes next, and write."""

    def __init__(self, position, n_words, d_model=32, n_heads=4, n_layers=2):
        super().__init__(position, n_words, d_model, n_heads, n_layers, n_classes=n_words)
        for layer in self.layers:
            layer.attention = Remembering(d_model, n_heads, position)

    def count_from(self, place):
        """Say to every layer where the next words begin, as each may have its own clocks."""
        for holder in (self, *(layer.attention for layer in self.layers)):
            holder.position.start = place

    def write(self, words, n_new, temperature=0.5):
        """Go on from some words; a low temperature prefers the likeliest word."""
        writer, new = deepcopy(self), words  # what a copy keeps is gone when it has written
        for layer in writer.layers:
            layer.attention.kept = []
        with torch.no_grad():
            for _ in range(n_new):
                writer.count_from(words.shape[1] - new.shape[1])
                new = (writer(new)[:, -1] / temperature).softmax(-1).multinomial(1)
                words = torch.cat([words, new], dim=1)
        return words


def next_token(text, n=32, length=32):
    """Return the task to say, at each token of a text, which comes next."""

    def task(generator):
        first = torch.randint(len(text) - length, (n, 1), generator=generator)
        pieces = text[first + torch.arange(length + 1)]
        return pieces[:, :-1], pieces[:, 1:]

    return task
