"""Which code of an encoding a training used: a short hash that survives moves and comments.

The fingerprint of one of the book's encodings covers its class, the classes it derives from up to
`Position`, and every function and constant of `posenc` that they reach, without docstrings,
comments and layout. A change of wording leaves it alone; a change of code does not.

Code may also be written anew and compute the same. `fingerprints.json` beside this file lists for
each encoding the versions that stored trainings used, each with a *probe*: numbers that it gave.
It does so for the registered ones and for the re-enactments that records name by their class. A
later version whose probe agrees to six digits counts as the same one:

    python -m posenc_book.bench.fingerprints
"""

import ast
import hashlib
import importlib
import inspect
import io
import json
import sys
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from posenc import encodings
from posenc._wall import behind
from posenc.attention import Position, SelfAttention
from posenc_book import _files
from posenc_book.bench import names

TOLERANCE = 1e-6
FILE = Path(__file__).with_name("fingerprints.json")
# What stored trainings name by its class, with what a probe must say besides the sizes.
BY_CLASS: dict[str, dict[str, int]] = {
    "posenc.audit.matched:LoudDFT": {},
    "posenc.audit.one_hot:OneHot": {"max_length": 16},
    "posenc.audit.published:BatchIndexed": {},
    "posenc.audit.published:ConfiguredTAPE": {"n_steps": 80},
    "posenc.audit.published:DecayingDFT": {},
    "posenc.audit.published:InputOnlyTPE": {},
    "posenc.audit.published:RescaledSinusoidal": {},
    "posenc.audit.published:TiedTUPE": {},
    "posenc.audit.published:TokenConvolution": {},
    "posenc.audit.published:UnmaskedSkew": {},
    "posenc.experiments.edition3.hybrids:Kernel": {},
    "posenc.experiments.edition3.hybrids:SinusoidalT5": {},
    "posenc.experiments.edition3.hybrids:TAPEandERPE": {},
    "posenc.experiments.forecasting.placebo:Placebo": {},
}
_SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
}


def of_code(cls: type[Position]) -> str:
    """Return the fingerprint of a class as its code stands now: 12 hexadecimal digits."""
    found: dict[str, str] = {}
    for base in cls.__mro__:
        if issubclass(base, Position) and base is not Position:
            _collect(base, found)
    text = "\n".join(f"{name}\n{code}" for name, code in sorted(found.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def of_name(name: str, known: Path | None = None) -> str:
    """Return the fingerprint under which trainings of an encoding of this package are stored.

    That is the one of its code, or of an earlier version with the same probe.
    """
    code = of_code(_class(name))
    for version in _versions(known or FILE).get(name, []):
        if code in (version["code"], *version["same"]):
            return version["code"]
    return code


def probe(name: str) -> list[float]:
    """Return what the encoding computes at two lengths, with parameters that are set by a rule."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sizes = {"d_model": 16, "n_heads": 2, "max_length": 40, **BY_CLASS.get(name, {})}
        position = _class(name)(**sizes)
        spread = [float(p.detach().double().square().mean().sqrt()) for p in position.parameters()]
        attention = SelfAttention(16, 2, position).double().eval()
        with torch.no_grad():
            for number, parameter in enumerate(attention.parameters()):
                parameter.copy_(_wave(parameter.shape, number))
        short, long = (_outputs(attention, length) for length in (5, sizes["max_length"]))
        return [*np.round(spread, 2).tolist(), *short, *long]


def agree(one: list[float], other: list[float]) -> bool:
    """Return whether two probes are the same to six digits."""
    return len(one) == len(other) and np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE)


def register(path: Path) -> list[str]:
    """Enter the present code of every encoding in a file of versions."""
    versions, news = _versions(path), []
    for name in (*encodings.names("series"), *BY_CLASS):
        code, now = of_code(_class(name)), probe(name)
        listed = versions.setdefault(name, [])
        if any(code in (v["code"], *v["same"]) for v in listed):
            continue
        if listed and agree(listed[-1]["probe"], now):
            listed[-1]["same"].append(code)
            news.append(f"{name}: {code} computes what {listed[-1]['code']} did")
        else:
            listed.append({"code": code, "same": [], "probe": [round(x, 9) for x in now]})
            news.append(f"{name}: {code} is new")
    _files.replace(path, json.dumps(versions, indent=1) + "\n")
    return news


def _class(name: str) -> type[Position]:
    """Return the class of a name, which may be "module:Class"."""
    module, colon, qualified = names.present(name).partition(":")
    return getattr(importlib.import_module(module), qualified) if colon else encodings.get(name)


def _outputs(attention: SelfAttention, length: int) -> list[float]:
    x = _wave((2, length, 16), 1)
    attention.zero_grad()
    out = attention(x)
    out.square().sum().backward()
    gradients = [float(p.grad.sum()) for p in attention.position.parameters() if p.grad is not None]
    return [*out[:, :: length - 1, ::5].flatten().tolist(), *gradients]


def _wave(shape: tuple[int, ...], number: int) -> torch.Tensor:
    n = torch.arange(int(np.prod(shape)), dtype=torch.float64)
    return (0.3 * torch.sin(1 + 0.7 * n + number) + 0.05).view(shape)


@cache
def _read(path: Path) -> dict[str, list[dict]]:
    return json.loads(_files.text(path))


def _versions(path: Path) -> dict[str, list[dict]]:
    return _read(path) if path.is_file() else {}


def _collect(item: Any, found: dict[str, str]) -> None:
    """Add the code of a class or function and of what it reaches in `posenc`."""
    name = f"{item.__qualname__}"
    if name in found:
        return
    source = textwrap.dedent(inspect.getsource(item))
    tree = ast.parse(source)
    found[name] = _bare(source, tree)
    space = vars(sys.modules[item.__module__])
    for reached in _reached(tree, space):
        is_code = inspect.isclass(reached) or inspect.isfunction(reached)
        if is_code and _is_ours(reached.__module__):
            _collect(reached, found)
    for constant in _constants(tree, space):
        found[constant] = repr(space[constant])


def _reached(tree: ast.AST, space: dict) -> list[object]:
    """Return the objects that names, entries of dicts and attributes of our modules stand for."""
    reached = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            named = space.get(node.id)
            reached += named.values() if isinstance(named, dict) else [named]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = space.get(node.value.id)
            if isinstance(module, ModuleType) and _is_ours(module.__name__):
                reached.append(getattr(module, node.attr, None))
    return [item for item in reached if item is not None]


def _constants(tree: ast.AST, space: dict) -> list[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return sorted(n for n in names if isinstance(space.get(n), int | float | str | tuple))


def _is_ours(module: str) -> bool:
    """Return whether a module's code decides what an encoding computes."""
    apart = ("posenc.attention", "posenc._checks")
    return module.startswith(names.OURS) and not module.startswith(apart)


def _bare(source: str, tree: ast.AST) -> str:
    """Return the source without docstrings, comments and layout."""
    dropped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                dropped.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return "".join(text for line, text in _pieces(source) if line not in dropped)


def _pieces(source: str) -> Iterator[tuple[int, str]]:
    """Yield each token that counts with its line; an f-string is one, as it was before 3.12."""
    lines, depth, begin = source.splitlines(keepends=True), 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":
            begin = begin if depth else token.start
            depth += 1
        elif kind == "FSTRING_END":
            depth -= 1
            if not depth:
                yield begin[0], _between(lines, begin, token.end)
        elif not depth and token.type not in _SKIPPED:
            yield token.start[0], token.string


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text from one (line, column) to another, lines counted from 1."""
    text = "".join(lines[start[0] - 1 : end[0]])
    return text[start[1] : len(text) - len(lines[end[0] - 1]) + end[1]]


def main(_: Sequence[str] = ()) -> int:
    """Register the present code in the book's file, and print what is new."""
    for line in register(FILE) or ["nothing new"]:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
