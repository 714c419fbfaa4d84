"""Print what stands behind a number of the book: its formula, its records, and who prints it.

    python tools/where.py afterwards.mean_of_ten.steps     # or `make where NAME=...`

In the source of a page a number wears its name, `<data value="gains.long_sets">9.3</data>`. The
command runs the function of that name once and watches which functions of ours it calls and which
files it opens. So what it prints is what happened, not what somebody wrote down.
"""

import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import _lru_cache_wrapper, cache
from pathlib import Path

import fill
from posenc_book.read import digests
from repository import ROOT

DATA = {".json", ".jsonl", ".toml", ".yml", ".csv", ".txt", ".ipynb", ".md"}
RESULTS = ROOT / "results"
QUIET = ("records/", "read/results.py", "read/digests.py", "_files.py", "_stored.py")  # they fetch
MARK = re.compile(r'<data value=\\?"|<!-- data ')
ENDS = re.compile(r"(?<=[.?!])\s+(?=[A-Z<*\[`(])|\n\n+|\n(?=[-#|:])")
opened: dict[Path, None] = {}  # the files of data that were opened since the last look


@dataclass
class Behind:
    """What stands behind a quantity."""

    value: object
    code: list[Callable]  # the function itself, those of quantities, and what these call directly
    through: list[Callable]  # the public functions of ours that are called further down
    files: list[Path]  # what they open, in this order


def known() -> list[str]:
    """Return the names of all functions that compute quantities, each with its module."""
    return [f"{module}.{one}" for module in fill.modules() for one in fill.functions(module)]


def function_of(name: str) -> Callable:
    """Return the function behind a name; a wrong name gets an error with the nearest ones."""
    module, function = [*name.split("."), ""][:2]
    found = fill.functions(module).get(function)
    if found is None:
        near = get_close_matches(f"{module}.{function}", known(), n=3, cutoff=0.5)
        near = near or [one for one in known() if module in one][:3] or known()[:3]
        raise ValueError(
            f"NAME must be the name of a quantity, as pages have it in <data value=...>, such as "
            f"{' or '.join(near)}; got {name!r}"
        )
    return inspect.unwrap(found)  # what it keeps of an earlier call would show nothing


def behind(name: str) -> Behind:
    """Return what stands behind a name, seen while its function runs."""
    function = function_of(name)
    _listen()
    _forget()
    opened.clear()
    called: dict[object, bool] = {}  # code, and whether a function of quantities called it

    def see(frame, event: str, _argument: object) -> None:
        if event == "call":
            direct = "/quantities/" in frame.f_back.f_code.co_filename
            called[frame.f_code] = direct or called.get(frame.f_code, False)

    sys.setprofile(see)
    try:
        value = function()
    except Exception as error:
        raise fill.UnsaidError(f"{name} cannot be computed from these results: {error}") from error
    finally:
        sys.setprofile(None)
    files = [path for path in opened if path.name != "lock.json"]
    ours = {found: direct for code, direct in called.items() if (found := _ours(code))}
    shown = [one for one, direct in ours.items() if direct or one is function]
    further = [one for one in ours if one not in shown and one.__name__[0] != "_"]
    return Behind(_chosen(name, value), shown, further, files)


def _forget() -> None:
    """Let go of all that the book's readers have kept: who was asked before opens no file again."""
    ours = [one for name, one in sys.modules.items() if name.startswith("posenc_book")]
    for kept in (one for module in ours for one in vars(module).values()):
        if type(kept) is _lru_cache_wrapper:
            kept.cache_clear()


@cache
def _listen() -> None:
    """Write down from now on which files of data are opened; Python takes no such ear away."""

    def listen(event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str):
            path = Path(arguments[0]).absolute()
            if path.suffix in DATA and path.is_relative_to(ROOT):
                opened[path] = None

    sys.addaudithook(listen)


def _chosen(name: str, value: object) -> object:
    """Return the value that a name means, of several that its function returns."""
    key = [*name.split(".", 2), "", ""][2]
    if not key or not isinstance(value, dict):
        return value
    if key not in value:
        raise ValueError(f"{name} must end with one of {', '.join(value)}")
    return value[key]


def _ours(code) -> Callable | None:
    """Return the function of a code object, if it is one of ours that computes."""
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT) or "<" in code.co_qualname:
        return None
    shown = path.relative_to(ROOT).as_posix()
    if shown.startswith((".venv", "src/posenc/")) or any(quiet in shown for quiet in QUIET):
        return None
    module = next(
        (m for m in [*sys.modules.values()] if getattr(m, "__file__", "") == str(path)), None
    )
    found = module
    for part in code.co_qualname.split("."):
        found = getattr(found, part, None)
    found = inspect.unwrap(getattr(found, "fget", found)) if found else None
    return found if getattr(found, "__code__", None) is code else None


def place(function: Callable) -> str:
    """Return where a function stands, as editors and terminals open it."""
    code = function.__code__
    return f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_firstlineno}"


@cache
def record(path: Path) -> str:
    """Return a file with its digest: of the lines that an edition locks, or of all that it has."""
    own = path.parent if (path.parent / digests.FILE).is_file() else RESULTS
    name = path.relative_to(ROOT).as_posix()
    if not path.is_relative_to(RESULTS):
        return f"{name}  {digests.digest(path)}"
    scores = json.loads((own / digests.FILE).read_text(encoding="utf-8")).get("scores", {})
    key = path.relative_to(own).with_suffix("").as_posix()
    lock = digests.LOCK if path.suffix != ".jsonl" or key not in scores else digests.FILE
    n_lines = int(scores[key].split()[0]) if lock == digests.FILE else None
    holder = (own if lock == digests.FILE else RESULTS) / lock
    lines = f"lines 1 to {n_lines}: " if n_lines else ""
    return f"{name}  {lines}{digests.digest(path, n_lines)}, locked by {holder.relative_to(ROOT)}"


@cache
def printed(path: Path) -> list[tuple[str, int, str]]:
    """Return (name, line, sentence) for each number of a file that has a name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    at = [n for n, line in enumerate(lines, 1) for _ in MARK.findall(line)]
    said = [(found, piece) for piece in fill.prose(path) for found in fill.NAMED.finditer(piece)]
    return [(f["name"], n, _sentence(p, f)) for n, (f, p) in zip(at, said, strict=True)]


def sentences(name: str) -> Iterator[tuple[str, str]]:
    """Yield (file:line, sentence) for whatever prints a number, or one of all its keys."""
    for path in fill.holders():
        for one, line, sentence in printed(path):
            if one == name or (name.count(".") == 1 and one.startswith(f"{name}.")):
                yield f"{path.relative_to(ROOT).as_posix()}:{line}", sentence


def _sentence(text: str, found: re.Match) -> str:
    """Return the sentence around a number, without marks."""
    if found[0].startswith("<!--"):
        return "a table"
    begin = max([0, *(end.end() for end in ENDS.finditer(text, 0, found.start()))])
    ends = ENDS.search(text, found.end())
    around = text[begin : ends.start() if ends else None]
    return " ".join(re.sub(r"</?data[^>]*>", "", around).split())


def told(name: str) -> str:
    """Return all that stands behind a name, for people."""
    seen = behind(name)
    values = seen.value if isinstance(seen.value, dict) else {name: seen.value}
    parts = ["\n".join(f"{key}: {value}" for key, value in values.items()), "FORMULA"]
    parts += [
        f"{place(one)}\n{textwrap.dedent(inspect.getsource(one))}".rstrip() for one in seen.code
    ]
    through = [f"{place(one)}  {one.__qualname__}: {_first(one)}" for one in seen.through]
    parts += ["THROUGH", *through] if through else []
    parts += ["RECORDS", *(map(record, seen.files))] if seen.files else ["RECORDS: none is read"]
    printed = [f"{at}\n    {sentence}" for at, sentence in sentences(name)]
    parts += ["PRINTED BY", *printed] if printed else ["PRINTED BY: no page"]
    return "\n".join(("\n" + part + "\n") if part.isupper() else part for part in parts)


def _first(function: Callable) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def main(arguments: list[str]) -> None:
    """Print what stands behind the one name that is given."""
    if len(arguments) != 1:
        sys.exit("name one number, such as: make where NAME=afterwards.mean_of_ten.steps")
    try:
        print(told(arguments[0]))
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
