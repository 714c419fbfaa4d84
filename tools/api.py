"""Write the book's reference pages, `book/api/*.md`, from the docstrings of the package.

A tool of our own rather than Sphinx's autodoc, because the site is built where there is no torch,
and in seconds; sphinx-autoapi imports nothing either, but guesses how dataclasses and doors are
called. A test says when a page is stale. Run `python tools/api.py` after a change.
"""

import ast
import enum
import functools
import importlib
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "book" / "api"
README = ROOT / "src" / "posenc" / "README.md"  # of the library


class Room(NamedTuple):
    """One page: a title, what stands on it, the modules whose names it lists, and their package."""

    title: str
    says: str
    modules: tuple[str, ...]
    house: str = "posenc"

    def imported(self) -> dict[str, types.ModuleType]:
        """Return the modules by their names within the package."""
        return {path: importlib.import_module(f"{self.house}.{path}") for path in self.modules}


ROOMS = {
    "mathematics": Room(
        "The mathematics",
        "Frequencies, tables, rotations, their schedules for longer contexts, Fourier coefficients "
        "and measures of faithfulness. NumPy only; positions are integers or real numbers, angles "
        "are in radians. Tensors are taken as well, from any device and in any type of numbers. "
        "What comes back are NumPy arrays, so gradients end here.",
        ("frequencies", "tables", "rotation", "schedules", "fourier", "faithfulness"),
    ),
    "attention": Room(
        "Attention",
        "Layers with five doors through which position may enter, and what a door may ask; for an "
        "attention of your own, `rope` and `cos_sin`. Tensors are (batch, length, d_model), inside "
        "of attention (batch, heads, length, d_head).",
        ("attention",),
    ),
    "encodings": Room(
        "Encodings",
        "Every encoding of the book as a class, and a registry of their names.",
        ("encodings",),
    ),
    "models": Room(
        "Models",
        "Transformers that classify time series, (batch, length, n_channels) to logits "
        "(batch, n_classes), and a causal language model, (batch, length) to logits "
        "(batch, length, n_tokens).",
        ("models", "models.transfer"),
    ),
    "register": Room(
        "Released models",
        "What released architectures do with positions, layer by layer, read from a configuration. "
        "On a command line: `posenc explain config.json --length 131072`. Only `make` needs torch.",
        ("register",),
    ),
    "testing": Room(
        "The checker",
        "Does anybody's attention treat positions rightly? Say what yours promises, and read the "
        "report. On a command line: `posenc check mylayers:make causal cached`; in a suite of "
        "tests, one line: `test_mine = as_tests(make, causal=True)`. `CHECKS` has every check of "
        "one promise; two are asked together as well. A loop that writes is asked by "
        "`check_writing`, or on a command line by `posenc check mymodule:write --writes`.",
        ("testing",),
    ),
    "data": Room(
        "Data",
        "Every data set by name, with its provenance. Needs no torch.",
        ("data", "data.synthetic", "data.lost_samples", "data.tasks", "data.units"),
        "posenc_book",
    ),
    "bench": Room(
        "The benchmark",
        "What runs: settings, the grid of training runs, engines, the store of records. "
        "`posenc bench run --help` is the way in.",
        (
            "records.settings",
            "bench.grid",
            "bench.driver",
            "bench.local",
            "bench.jobs",
            "bench.stages",
            "bench.train",
            "bench.course",
            "bench.parts",
            "bench.ensemble",
            "bench.metrics",
            "records.store",
            "records.records",
            "records.tables",
            "bench.tuning",
            "bench.language",
            "bench.seeded",
            "bench.extrapolation",
            "bench.fingerprints",
            "bench.baselines",
            "figures.score_tables",
        ),
        "posenc_book",
    ),
    "statistics": Room(
        "Statistics",
        "Arrays go in, numbers come out. No file is read, nothing trains.",
        (
            "statistics.summary",
            "statistics.friedman",
            "statistics.mixed",
            "statistics.answers",
            "statistics.equality",
            "statistics.power",
            "statistics.exact",
        ),
        "posenc_book",
    ),
    "experiments": Room(
        "The experiments",
        "One folder each: a protocol, what trains, and what reads the results.",
        (
            "read.results",
            "read.peers",
            "read.libraries",
            "read.classification.protocol",
            "read.classification.baselines",
            "read.classification.edition2",
            "read.lengths.plan",
            "read.lengths.read",
            "read.characters.read",
            "read.range_probe.protocol",
            "read.gaps.protocol",
        ),
        "posenc_book",
    ),
    "audit": Room(
        "The audit",
        "The sources: what they print, what their code was seen to do, verdicts on their claims.",
        (
            "audit.claims",
            "audit.rules",
            "audit.evidence",
            "audit.outcomes",
            "audit.rounding",
            "audit.printed",
            "audit.published",
        ),
        "posenc_book",
    ),
    "teaching": Room(
        "Teaching",
        "What the chapters share: the style of figures, the scorecards of encodings.",
        ("teaching.plots", "teaching.table", "teaching.scorecard", "teaching.scorecard_torch"),
        "posenc_book",
    ),
}


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    index = [
        "# The library",
        "",
        "The public names of `posenc`, the library, and of `posenc_book`, the book's code beside "
        "it, that readers call: one page a room, made from the docstrings of the code. Rooms "
        "import only what stands above them in this list, and those from attention on need torch.",
        "",
    ]
    made = {}
    for name, room in ROOMS.items():
        made[f"{name}.md"] = page(room)
        index.append(f"- [{room.title}](api/{name}.md): {_prose(room.says)}")
    return {"../api.md": "\n".join(index) + "\n", "../../src/posenc/README.md": readme(), **made}


def readme() -> str:
    """Return the library's README with its table of encodings by door."""
    from posenc import encodings

    says = {
        "embed": "added to the tokens",
        "rotate": "in queries and keys",
        "bias": "added to the scores",
        "mix": "added to the weights",
        "carry": "in values, before they are summed",
        "deliver": "in the sum, once it is made",
    }
    uses = {name: encodings.get(name).doors() for name in encodings.names("all")}
    rows = []
    for door, said in says.items():
        found = " ".join(f"`{name}`" for name, doors in uses.items() if door in doors)
        rows.append(f"| `{door}` | {said} | {found} |")
    table = "\n".join(["| door | position is | encodings |", "|---|---|---|", *rows])
    text = README.read_text(encoding="utf-8")
    return re.sub(r"(?<=<!-- doors -->\n).*?(?=\n<!-- /doors -->)", table, text, flags=re.DOTALL)


def page(room: Room) -> str:
    """Return the page of a room."""
    parts = [f"# {room.title}", _prose(room.says)]
    contents, sections = [], []
    for path, module in room.imported().items():
        members = entries(module)
        links = (f"[`{one}`](#{_label(path, one, value)})" for one, value in members.items())
        contents.append(f"- `{room.house}.{path}`: {', '.join(links)}")
        sections += [f"## `{room.house}.{path}`", _text(inspect.getdoc(module) or "")]
        sections += [_member(path, member, value) for member, value in members.items()]
    return "\n\n".join([*parts, "\n".join(contents), *sections]) + "\n"


def entries(module: types.ModuleType) -> dict[str, object]:
    """Return all names of a module that have an entry on a page, with their values."""
    found = {**public(module), **constants(module)}
    return dict(sorted(found.items(), key=lambda pair: pair[0].lower()))


def public(module: types.ModuleType) -> dict[str, object]:
    """Return public classes and functions: those in `__all__`, or defined there without `_`."""
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    found = {name: getattr(module, name) for name in sorted(names, key=str.lower)}
    return {name: value for name, value in found.items() if _has_docstring(value)}


class Constant(NamedTuple):
    """A name that stands for a value: the value in short, and the string below it."""

    value: str
    says: str


def constants(module: types.ModuleType) -> dict[str, Constant]:
    """Return a module's public constants: in `__all__`, or with a string below the assignment."""
    if hasattr(module, "__all__"):
        names = [name for name in module.__all__ if name not in public(module)]
        return {name: _constant(module, name) for name in names}
    named = [name for name in vars(module) if not name.startswith("_")]
    found = {name: _constant(module, name, imported=False) for name in named}
    return {name: constant for name, constant in found.items() if constant.says}


def _constant(module: types.ModuleType, name: str, *, imported: bool = True) -> Constant:
    """Return what the code assigns to a name, here or in the module that it is imported from."""
    body = _body(module)
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ImportFrom) and imported:
            origin = [one.name for one in node.names if (one.asname or one.name) == name]
            if origin:
                return _constant(importlib.import_module(node.module), origin[0])
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            below = after.value if isinstance(after, ast.Expr) else None
            is_text = isinstance(below, ast.Constant) and isinstance(below.value, str)
            says = inspect.cleandoc(below.value) if is_text else ""
            return Constant(_in_short(getattr(module, name), node.value), says)
    return Constant("", "")


def _in_short(value: object, code: ast.expr | None) -> str:
    """Return a mapping's keys, and anything else as the code has it."""
    if isinstance(value, Mapping):
        keys = (key.value if isinstance(key, enum.Enum) else key for key in value)
        return f"{{{', '.join(f'{key!r}: ...' for key in keys)}}}"
    return ast.unparse(code) if code else ""


@functools.cache
def _body(module: types.ModuleType) -> list[ast.stmt]:
    return ast.parse(inspect.getsource(module)).body


def methods(cls: type) -> dict[str, object]:
    """Return the public methods and properties that a class defines itself, with a docstring."""
    own = {}
    for name, value in vars(cls).items():
        function = getattr(value, "__func__", value)
        if name.startswith("_") or not (inspect.isroutine(function) or isinstance(value, property)):
            continue
        if _doc(cls, name) and "__wrapped__" not in vars(cls):
            own[name] = value
    return own


def sections(doc: str) -> dict[str, str]:
    """Return a docstring by its headings; what comes first has the heading ''.

    Lines that begin with `Source:` are a section of their own, wherever they stand.
    """
    doc = re.sub(r"^Source: ", "Source\n------\n", doc, flags=re.M)
    found, heading = {"": []}, ""
    lines = doc.splitlines()
    for i, line in enumerate(lines):
        after = lines[i + 1] if i + 1 < len(lines) else ""
        if line and re.fullmatch("-{3,}", after) and len(after) >= len(line) - 2:
            heading = line.strip()
            found[heading] = []
        elif not re.fullmatch("-{3,}", line):
            found[heading].append(line)
    return {name: "\n".join(text).strip("\n") for name, text in found.items()}


def _doc(cls: type, name: str) -> str:
    """Return the docstring of a method, or of the one of ours that it overrides."""
    ours = (vars(base) for base in cls.__mro__ if base.__module__.startswith("posenc"))
    functions = (getattr(names[name], "__func__", names[name]) for names in ours if name in names)
    return next((inspect.cleandoc(f.__doc__) for f in functions if f.__doc__), "")


def _has_docstring(value: object) -> bool:
    """Return whether this is a class or a function, whose results may be kept."""
    return inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value))


def _is_protocol(value: object) -> bool:
    """Return whether a class only says what others must have, and is never called."""
    return inspect.isclass(value) and getattr(value, "_is_protocol", False)


def _label(path: str, name: str, value: object) -> str:
    """Return the address of a name; a class may be called like a function, in capitals."""
    kind = "-value" if isinstance(value, Constant) else "-class" if name[0].isupper() else ""
    return f"api-{path}-{name}{kind}".replace(".", "-").lower()


def _member(path: str, name: str, value: object) -> str:
    """Return the section of one name."""
    heading = f"({_label(path, name, value)})=\n### `{name}`"
    if isinstance(value, Constant):
        shown = textwrap.shorten(f"{name} = {value.value}", 92, placeholder=" ...")
        return "\n\n".join([heading, _code(shown), _text(value.says)])
    parts = [heading, _code(f"{name}{_signature(value)}")]
    parts.append(_documented(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        for method, function in methods(value).items():
            parts.append(_method(method, function, _doc(value, method)))
    return "\n\n".join(part for part in parts if part)


def _method(name: str, value: object, doc: str) -> str:
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    call = name if isinstance(value, property) else f"{name}{_signature(function, method=True)}"
    return f"**`.{call}`**\n\n{_documented(doc)}"


def _signature(value: object, *, method: bool = False) -> str:
    """Return the arguments of a call, without annotations, which the text explains."""
    if _is_protocol(value):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    if method and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    return re.sub(r"<(?:function|class) '?([\w.]+)[^>]*>", r"\1", str(plain))


def _documented(doc: str) -> str:
    """Return a docstring in Markdown."""
    parts = []
    for heading, text in sections(doc).items():
        if not text.strip():
            continue
        if heading in ("Parameters", "Attributes", "Raises") or (
            heading in ("Returns", "Yields") and re.search(r"^\S.*\n    ", text, re.M)
        ):
            parts += [f"**{heading}**", _entries(text)]
        elif heading:
            parts += [f"**{heading}**", _text(text)]
        else:
            parts.append(_text(text))
    return "\n\n".join(parts)


def _entries(text: str) -> str:
    """Return numpydoc's list of names and what they mean as a list."""
    items: list[list[str]] = []
    for line in text.splitlines():
        if line and not line.startswith(" "):
            items.append([line])
        elif items:
            items[-1].append(line)
    listed = []
    for first, *rest in items:
        name, colon, kind = first.partition(" : ")
        shown = ", ".join(f"`{one}`" for one in name.split(", ")) if _is_names(name) else ""
        head = f"{shown}{': ' if colon else ''}{_prose(kind)}" if shown else _prose(first)
        body = " ".join(line.strip() for line in rest if line.strip())
        listed.append(f"- {head}" + (f". {_prose(body)}" if body else ""))
    return "\n".join(listed)


def _is_names(text: str) -> bool:
    return bool(re.fullmatch(r"\**\w+(?:, \**\w+)*", text))


def _text(text: str) -> str:
    """Return paragraphs, lists, doctests and indented blocks in Markdown."""
    made = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.splitlines()
        if lines[0].lstrip().startswith(">>>"):
            made.append(_code(textwrap.dedent(block), "pycon"))
        elif all(line.startswith("    ") or not line for line in lines):
            made.append(_code(textwrap.dedent(block), "text"))
        elif all(line.startswith("|") for line in lines):
            made.append("\n".join(_prose(line, table=True) for line in lines))
        elif lines[0].startswith(("- ", "* ")):
            made.append("\n".join(_prose(line) for line in lines))
        else:
            made.append(_prose(" ".join(line.strip() for line in lines)))
    return "\n\n".join(made)


def _prose(text: str, *, table: bool = False) -> str:
    """Return text whose signs mean themselves, but code in backticks."""
    parts = re.split(r"(`+[^`]+`+)", text)
    special = r"([\\*_$\[\]<>{}#~])" if table else r"([\\*_$\[\]<>{}|#~])"
    return "".join(
        part if i % 2 else re.sub(special, r"\\\1", part) for i, part in enumerate(parts)
    )


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


def stale() -> list[str]:
    """Return the pages that are not what the docstrings say, or are not wanted any more."""
    wanted = {(FOLDER / name).resolve(): text for name, text in pages().items()}
    there = {path.resolve() for path in FOLDER.glob("*.md")}
    wrong = [p for p, t in wanted.items() if not p.is_file() or p.read_text("utf-8") != t]
    return sorted(path.name for path in [*wrong, *(there - wanted.keys())])


def main() -> int:
    """Write the pages, and remove those that are not wanted any more."""
    FOLDER.mkdir(exist_ok=True)
    wanted = {(FOLDER / name).resolve(): text for name, text in pages().items()}
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    for path in {path.resolve() for path in FOLDER.glob("*.md")} - wanted.keys():
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
