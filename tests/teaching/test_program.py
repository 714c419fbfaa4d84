"""The program that readers write, chapter by chapter: its sections, its chapters, the library."""

import ast
import re
import subprocess
import sys
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

import program_states
from posenc import attention as library
from posenc import encodings, frequencies, rotation, schedules, tables
from posenc.attention import SelfAttention
from posenc_book.teaching import program

ROOT = Path(__file__).resolve().parents[2]
SOURCE = program_states.SOURCE
SECTIONS = dict(zip(*[iter(program_states.HEADING.split(SOURCE)[1:])] * 2, strict=True))

# A line or two that use what a section adds.
USES = {
    "order-blindness": "attention(np.eye(3), *np.ones((3, 3, 3)), causal=True)",
    "raw-indices": "attention(bits(range(5), 3), *np.ones((3, 3, 3)))",
    "oscillations": "attention(embed(np.ones((5, 4))), *np.ones((3, 4, 4)))",
    "four-doors": """
def task(generator):
    words = torch.randint(20, (4, 6), generator=generator)
    return words, words[:, 0] % 2
for position in (Shut(), Sinusoid()):
    assert train(Transformer(position), task, 2)(task(None)[0]).shape == (4, 2)
""",
    "rotary": """
def copy(generator):
    words = torch.randint(20, (4, 6), generator=generator)
    return words, words
position = Rotary(geometric(8))
assert train(PerToken(position, n_classes=20), copy, 2)(copy(None)[0]).shape == (4, 6, 20)
""",
    "relative-and-hybrid": """
for position in (ALiBi(4), Causal()):
    train(PerToken(position, n_classes=20), copy, 2)
""",
    "in-the-message": """
position = Message(geometric(8))
assert train(PerToken(position, n_classes=20), copy, 2)(copy(None)[0]).shape == (4, 6, 20)
""",
    "beyond-training-length": """
x, whole = torch.randn(1, 6, 32), Remembering(32, 4, CausalRotary(stretch(geometric(8), 4, 32)))
whole.kept = []
assert whole(x).shape == x.shape
""",
    "your-gpt": """
text = torch.arange(100) % 7
gpt = train(GPT(CausalRotary(geometric(8)), 7), next_token(text), 2)
assert gpt.write(text[None, :5], 3).shape == (1, 8)
""",
}


def definitions(source):
    """Return the functions and classes of a text by name."""
    nodes = ast.parse(source).body
    return {n.name: n for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def without_words(node):
    """Return what a definition does, as text: docstrings and comments left out."""
    node = ast.parse(ast.unparse(node)).body[0]
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(inner):
            inner.body = inner.body[1:] or [ast.Pass()]
    return ast.unparse(node)


def signature(node):
    """Return how a function or a class is called."""
    if isinstance(node, ast.FunctionDef):
        return f"{node.name}({ast.unparse(node.args)})"
    for n in node.body:
        if isinstance(n, ast.FunctionDef) and n.name == "__init__":
            return f"{node.name}({ast.unparse(n.args).removeprefix('self, ')})"
    return f"{node.name}()"


CONTRACT = {chapter: definitions(source) for chapter, source in SECTIONS.items()}
EVERY = {name: node for names in CONTRACT.values() for name, node in names.items()}


# -- the file ----------------------------------------------------------------------------------


def test_each_chapter_runs_on_what_the_ones_before_it_have_built():
    assert list(USES) == list(SECTIONS)
    names = {"__name__": "program"}
    for chapter, source in SECTIONS.items():
        exec(source, names)
        exec(USES[chapter], names)


def test_the_first_evenings_need_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    names = {"__name__": "program"}
    exec(SOURCE, names)
    assert names["embed"](np.zeros((3, 4))).shape == (3, 4)


def test_authors_read_the_contract_as_it_is():
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", text, re.MULTILINE)
    expected = {
        chapter: " · ".join(f"`{signature(node)}`" for node in names.values())
        for chapter, names in CONTRACT.items()
    }
    assert dict(rows) == expected


# -- its chapters ------------------------------------------------------------------------------


def read(chapter):
    """Return a chapter's notebook."""
    return nbformat.read(ROOT / "book" / f"{chapter}.ipynb", as_version=4)


@cache
def code(chapter):
    """Return the source of each code cell of a chapter."""
    cells = [cell.source for cell in read(chapter).cells if cell.cell_type == "code"]
    return [source.replace("%pip", "pass  #") for source in cells]


def imported(chapter):
    """Return what a chapter imports from the program."""
    nodes = [node for source in code(chapter) for node in ast.walk(ast.parse(source))]
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if node.module == program.__name__]
    return {alias.name for node in ours for alias in node.names}


def strays(chapter):
    """Return what a chapter defines otherwise than the program, and what it does not bring."""
    found = [item for source in code(chapter) for item in definitions(source).items()]
    wrong = {
        name
        for name, node in found
        if name in EVERY and without_words(node) != without_words(EVERY[name])
    }
    return wrong | (set(CONTRACT[chapter]) - imported(chapter) - {name for name, _ in found})


@pytest.mark.parametrize("chapter", SECTIONS)
def test_a_chapter_brings_what_its_section_holds(chapter):
    assert strays(chapter) == set()


def test_the_whole_transformer_has_nearly_sixty_lines_as_the_book_says():
    names = ("Shut", "Attention", "Layer", "Transformer", "Sinusoid")
    lines = [line for name in names for line in without_words(EVERY[name]).splitlines() if line]
    assert round(len(lines), -1) == 60


# -- its states --------------------------------------------------------------------------------

STATES = program_states.states()
NOTEBOOKS = [c for c in program_states.chapters() if (ROOT / "book" / f"{c}.ipynb").is_file()]
USERS = [chapter for chapter in NOTEBOOKS if imported(chapter)]
# Imports the program, and says what it then holds and whether that took the library.
ALONE = """
import importlib, sys
for state in sys.argv[1:]:
    made = vars(importlib.import_module(state))
    print(*(name for name, one in made.items() if getattr(one, "__module__", "") == state))
print([name for name in sys.modules if name.startswith("posenc")])
"""


def gained(chapter):
    """Return what the closing line of a chapter says that the program has gained."""
    text = "".join(cell.source for cell in read(chapter).cells if cell.cell_type == "markdown")
    said = re.search(r"Your program has gained (.*?)\{download\}", text)[1]
    return re.findall(r"`(\w+)`", said)


def test_each_state_is_the_beginning_of_the_next_and_the_last_is_the_program():
    assert list(STATES) == [c for c in program_states.chapters() if c in SECTIONS]
    grown = [*STATES.values(), SOURCE]
    assert all(b.startswith(a) for a, b in pairwise(grown))
    assert grown[-2] == SOURCE


def test_a_state_runs_alone_and_holds_what_the_chapters_up_to_there_gained(tmp_path):
    for number, source in enumerate(STATES.values()):
        (tmp_path / f"state{number}.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-c", ALONE, *(f"state{number}" for number in range(len(STATES)))]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    held = [" ".join(names) for names in accumulate(map(gained, STATES), list.__add__)]
    assert run.stdout.splitlines() == [*held, "[]"]


@pytest.mark.parametrize("chapter", USERS)
def test_a_chapter_imports_only_what_is_there_when_it_begins(chapter):
    known = program_states.names(STATES[program_states.at_start(chapter)])
    assert imported(chapter) <= set(known)


def test_a_chapter_that_uses_the_program_says_what_it_needs():
    text = f"from {program.__name__} import attention"
    cells = [
        {"cell_type": "markdown", "source": "# No needs"},
        {"cell_type": "code", "source": text},
    ]
    with pytest.raises(ValueError, match=r"book/rotary .* \*\*You need\*\*"):
        program_states.lead({"cells": cells}, "book/rotary", program_states.ON_SITE)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", USERS)
def test_a_chapter_runs_on_the_file_that_the_last_one_left(chapter, tmp_path):
    state = STATES[program_states.at_start(chapter)]
    (tmp_path / "program.py").write_text(state, encoding="utf-8")
    notebook = read(chapter)
    for cell in notebook.cells:
        cell.source = cell.source.replace(f"from {program.__name__} import", "from program import")
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()


# -- the library says the same -----------------------------------------------------------------


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(7, 8))


@pytest.fixture
def maps():
    return np.random.default_rng(1).normal(size=(3, 8, 8)) / np.sqrt(8)


def test_softmax_gives_weights():
    scores = np.array([[0.0, np.log(3.0), -np.inf], [1000.0, 1000.0, 1000.0]])
    assert np.allclose(program.softmax(scores), [[0.25, 0.75, 0], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_that_of_the_library(x, maps, causal):
    layer = SelfAttention(8, 1, encodings.make("none", 8, 1, 7), causal=causal).double()
    with torch.no_grad():
        layer.qkv.weight.copy_(torch.tensor(np.concatenate(maps.swapaxes(1, 2))))
        layer.out.weight.copy_(torch.eye(8))
        for bias in (layer.qkv.bias, layer.out.bias):
            if bias is not None:
                bias.zero_()
        expected = layer(torch.tensor(x)[None])[0].numpy()
    assert np.allclose(program.attention(x, *maps, causal=causal), expected, atol=1e-12)


def test_numbers_and_clocks_are_the_tables_of_the_library(x):
    assert np.array_equal(program.bits(range(50), 6)[:, ::-1], tables.binary(50))
    omega = program.geometric(64, 500.0)
    assert np.allclose(omega, frequencies.geometric(64, 500.0), rtol=1e-14)
    positions = [0, 1, 2.5, 1000]
    assert np.allclose(
        program.encode(positions, omega), tables.encode(positions, omega), atol=1e-12
    )
    assert np.allclose(program.embed(x) - x, tables.sinusoidal(7, 8), atol=1e-12)
    assert np.allclose(program.embed(x, 100.0) - x, tables.sinusoidal(7, 8, 100.0), atol=1e-12)


def both(position, theirs, **how):
    """Return what the program's attention and the library's make of the same tokens."""
    layer = SelfAttention(32, 4, theirs, **how).eval()
    mine = program.Attention(32, 4, position)
    own = {k: v for k, v in layer.state_dict().items() if not k.startswith("position.")}
    mine.load_state_dict(own, strict=False)
    x = torch.randn(2, 12, 32)
    return mine(position.embed(x)), layer(x)  # the library's layer opens the first door itself


@pytest.mark.parametrize("name", encodings.names())
def test_every_encoding_of_the_library_goes_through_the_doors(name):
    position = encodings.make(name, 32, 4, 12).eval()
    torch.testing.assert_close(*both(position, position), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("mine", "theirs", "how"),
    [
        (program.Shut, "none", {}),
        (program.Sinusoid, "sinusoidal", {}),
        (lambda: program.Rotary(program.geometric(8)), "rotary", {}),
        (lambda: program.ALiBi(4), "alibi", {}),
        (program.Causal, "none", {"causal": True}),
        (lambda: program.CausalRotary(program.geometric(8)), "rotary", {"causal": True}),
    ],
)
def test_a_door_lets_through_what_the_library_does(mine, theirs, how):
    results = both(mine(), encodings.make(theirs, 32, 4, 12).eval(), **how)
    torch.testing.assert_close(*results, rtol=0, atol=1e-5)


def test_rope_turns_as_the_library_does(x):
    positions, omega = torch.arange(7) + 1_000_000, torch.tensor(program.geometric(8))
    turned = program.rope(torch.tensor(x), positions, omega)
    torch.testing.assert_close(
        turned, library.rope(torch.tensor(x), positions, omega), rtol=0, atol=1e-12
    )
    theirs = rotation.rotate(x, positions.numpy(), frequencies.geometric(8))
    assert np.allclose(turned, theirs, atol=1e-9)


def test_stretched_clocks_are_those_of_llama_and_of_yarn():
    omega = program.geometric(128, 500_000.0)
    ours = program.stretch(omega, 8, 8192)
    assert np.allclose(ours, schedules.llama3(omega, 8, 8192), rtol=1e-12)
    assert np.allclose(
        program.stretch(omega, 4, 4096, slow=1, fast=32),
        schedules.yarn(omega, 4, 4096, ramp="turns"),
        rtol=1e-12,
    )


class CausalALiBi(program.Causal, program.ALiBi):
    """Two things through one door."""


class CausalSinusoid(program.Causal, program.Sinusoid):
    """The first door, and nobody looks ahead."""


@pytest.mark.parametrize(
    "position",
    [program.CausalRotary(program.geometric(8)), CausalALiBi(4), CausalSinusoid()],
    ids=lambda position: type(position).__name__,
)
def test_a_gpt_that_remembers_answers_as_one_that_reads_all_again(position):
    torch.manual_seed(0)
    gpt, words = program.GPT(position, 20), torch.randint(20, (2, 9))
    with torch.no_grad():
        whole = gpt(words)
        for layer in gpt.layers:
            layer.attention.kept = []
        pieces = []
        for piece in words.split([3, 1, 1, 4], dim=1):
            pieces.append(gpt(piece))
            gpt.position.start += piece.shape[1]
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, rtol=0, atol=1e-5)


def clocks():
    return program.CausalRotary(program.geometric(8))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (clocks(), clocks()),
        (clocks(), program.Causal()),
        (program.Causal(), clocks()),
        (CausalSinusoid(), clocks()),
        (CausalALiBi(4), CausalSinusoid()),
    ],
    ids=lambda position: type(position).__name__,
)
def test_a_gpt_whose_layers_disagree_writes_what_it_reads_at_every_word(first, second):
    torch.manual_seed(1)
    gpt, words = program.GPT(first, 20), torch.randint(20, (2, 5))
    gpt.layers[1].attention.position = second
    with torch.no_grad():
        for layer in gpt.layers:
            layer.attention.qkv.weight.mul_(5)  # sharp heads, for which a wrong place is another
        read, while_writing = words, []
        for _ in range(30):
            read = torch.cat([read, gpt(read)[:, -1:].argmax(-1)], dim=1)
        handle = gpt.register_forward_hook(lambda *call: while_writing.append(call[2][:, -1]))
        written = gpt.write(words, 30, temperature=1e-6)
        handle.remove()
        fresh = gpt(read[:, :-1])[:, 4:]
    assert torch.equal(written, read)
    torch.testing.assert_close(torch.stack(while_writing, dim=1), fresh, rtol=0, atol=1e-4)
    assert first.start == second.start == 0
    assert all(layer.attention.kept is None for layer in gpt.layers), "nothing is kept"
