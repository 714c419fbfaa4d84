"""On request: do a compiled and an exported module answer as the module does?"""

from collections.abc import Iterator

import torch

from posenc.testing.asking import Asked, Seen, difference
from posenc.testing.checks.making import check

COMPILER = ("torch._dynamo", "torch._inductor.compile_fx", "torch.export")


@check(
    "compiled equals eager",
    promise="compiled",
    page="rotary",
    hint="something is decided while tracing, such as the length of a table.",
    on_request=True,
    needs=COMPILER,
)
def compiles(asked: Asked) -> Iterator[Seen]:
    """Compile with a backend that needs no compiler, and ask at several lengths in turn."""
    subject = asked.with_module("is no module")
    compiled = torch.compile(subject.call, backend="aot_eager")
    for length in asked.lengths(2):
        x = subject.tokens(1, length)
        out = type(subject).outputs(subject, x)
        came = _first(compiled(subject.there(x)))
        yield Seen(difference(came.flatten(2), out), f"{length} tokens")


@check(
    "export keeps buffers",
    promise="exported",
    page="rotary",
    hint="a table that is made at the first call becomes a constant of that length.",
    on_request=True,
    needs=COMPILER,
)
def exports(asked: Asked) -> Iterator[Seen]:
    """Export, and ask the program for the same."""
    subject = asked.with_module("is no module")
    x = subject.tokens(1, max(asked.lengths()))
    module = subject.module
    assert module is not None
    due = subject.outputs(x)
    program = torch.export.export(module, (subject.there(x),))
    kept = {name for name, _ in module.named_buffers()}
    held = {*program.state_dict, *getattr(program, "constants", {})}
    came = _first(program.module()(subject.there(x))).flatten(2)
    missing = sorted(kept - held)
    note = f"without {', '.join(missing)}" if missing else ""
    yield Seen(difference(came, due), f"{x.shape[1]} tokens", note=note)


def _first(out: object) -> torch.Tensor:
    for name in ("logits", "last_hidden_state"):
        out = getattr(out, name, out)
    first = out[0] if isinstance(out, tuple | list) else out
    assert isinstance(first, torch.Tensor)
    return first
