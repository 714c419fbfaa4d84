"""What runs in the sandbox: a submission's cells, then the functions that are asked for.

It stands alone, for nothing of this repository exists in the sandbox. It reads one JSON request
from standard input and answers in lines of JSON. It knows no right answer: nothing that it, or a
submission that takes its place, could look up or change decides a mark.
"""

import ast
import contextlib
import itertools
import json
import os
import signal
import sys
import types
from time import monotonic

MOST_TEXT, MOST_NUMBERS = 10_000, 400_000
SETS = set, frozenset
STUB = "raise NotImplementedError('write this part')"  # as the student edition has it


def encode(value):
    """Return a value in the form that JSON knows, arrays and tensors as shape and numbers."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    if hasattr(value, "to_numpy"):  # frames and series of pandas
        value = value.to_numpy()
    if hasattr(value, "__array__"):
        return _encode_array(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value[:MOST_TEXT]
    if isinstance(value, dict):
        return {"keys": [str(key) for key in value], "values": [encode(v) for v in value.values()]}
    if hasattr(value, "__index__"):
        return int(value)
    if hasattr(value, "__float__"):  # fractions and other exact numbers
        return float(value)
    if not hasattr(value, "__iter__") or isinstance(value, (bytes, bytearray)):
        raise ValueError(f"a {type(value).__name__} is no answer, return numbers, arrays or lists")
    parts = list(itertools.islice(value, MOST_NUMBERS + 1))
    if len(parts) > MOST_NUMBERS:
        raise ValueError(f"more than {MOST_NUMBERS} entries are longer than any answer")
    return [encode(part) for part in (sorted(parts) if isinstance(value, SETS) else parts)]


def _encode_array(value):
    import numpy as np

    if isinstance(value, np.ma.MaskedArray):
        value = value.astype(float).filled(np.nan) if np.any(value.mask) else value.data
    value = np.asarray(value)
    if value.size > MOST_NUMBERS:
        raise ValueError(f"an array of shape {value.shape} is larger than any answer")
    if value.dtype.kind == "O":
        return encode(value.tolist())
    if value.dtype.kind == "c":
        raise ValueError("complex numbers are no answer here, return real ones")
    if value.dtype.kind not in "biuf":
        raise ValueError(f"an array of {value.dtype} is no answer, return numbers")
    value = value.astype(float) if value.dtype.kind == "f" else value
    return {"shape": list(value.shape), "numbers": value.ravel().tolist()}


def decode(value):
    """Return what `encode` was given; arrays come as arrays."""
    if isinstance(value, list):
        return [decode(part) for part in value]
    if isinstance(value, dict) and "shape" in value:
        import numpy as np

        return np.array(value["numbers"]).reshape(value["shape"])
    if isinstance(value, dict):
        return dict(zip(value["keys"], map(decode, value["values"]), strict=True))
    return value


def parsed(source):
    """Return the tree of a cell; what only a notebook knows, such as `%pip`, calls the shell."""
    try:
        return ast.parse(source)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        return ast.parse(TransformerManager().transform_cell(source))


class Output(list):
    """Lines of a command, as IPython's SList; there are no commands here, so there are none."""

    n = s = nlstr = spstr = ""
    l = p = list = ()  # noqa: E741 - its names


class Timing:
    """What `%timeit -o` returns: one short run."""

    average = best = worst = 1e-6
    stdev, loops, repeat = 0.0, 1, 1
    all_runs = timings = (1e-6,)


class Nothing:
    """Answers whatever it is asked: each attribute is a function that does nothing."""

    def __getattr__(self, name):
        return lambda *_, **__: None


class Shell(Nothing):
    """Stand for the shell of a notebook: run the code that a magic holds, and do nothing else."""

    RUN = "time", "capture", "prun"

    def __init__(self, names):
        self.user_ns, self.events = names, Nothing()

    def run_line_magic(self, name, line, *_, **__):
        """Run the statement behind `%time`."""
        if name in self.RUN:
            exec(compile(parsed(line), "magic", "exec"), self.user_ns)
        return {"timeit": Timing(), "who_ls": sorted(self.user_ns)}.get(name)

    def run_cell_magic(self, name, line, cell):
        """Run the cell below `%%time` or `%%capture`."""
        words = [word for word in line.split() if word.isidentifier()]
        self.user_ns.update(dict.fromkeys(words if name == "capture" else (), self))
        return self.run_line_magic(name, cell)

    def getoutput(self, *_, **__):
        """Return what a command printed."""
        return Output()


class Bar(Nothing):
    """Stand for a progress bar of tqdm: hand on what it is given, and show nothing."""

    write = pandas = staticmethod(lambda *_, **__: None)

    def __init__(self, iterable=(), *_, **__):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)

    def __len__(self):
        return len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def take_the_place_of_tqdm():
    """Make all of tqdm's modules show nothing, whether it is installed here or not."""
    for name in ("tqdm", "tqdm.notebook", "tqdm.auto", "tqdm.autonotebook", "tqdm.std"):
        module = sys.modules[name] = types.ModuleType(name)
        module.tqdm = module.tqdm_notebook = Bar
        module.trange = module.tnrange = lambda *numbers, **_: Bar(range(*numbers))
        if parent := name.rpartition(".")[0]:
            setattr(sys.modules[parent], name.rpartition(".")[2], module)


def take_the_place_of_ipython(names, cells):
    """Give cells what they find in a notebook: `display` and `get_ipython`."""
    shell = Shell(names)
    names |= {"display": shell.display, "get_ipython": lambda: shell}
    if not any("IPython" in source for _, source in cells):
        return
    with contextlib.suppress(ImportError):
        import IPython

        IPython.get_ipython = IPython.core.getipython.get_ipython = names["get_ipython"]


class OutOfTime(BaseException):
    """Raised in the middle of what ran too long; `except Exception` does not hold it up."""


class Budget:
    """Seconds that belong to one thing, over all times that it runs."""

    def __init__(self, seconds):
        self.left = self.seconds = seconds

    def __enter__(self):
        self.start = monotonic()
        signal.signal(signal.SIGALRM, self.ring)
        signal.setitimer(signal.ITIMER_REAL, max(self.left, 1e-3))

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.left -= monotonic() - self.start

    def ring(self, *_):
        """Interrupt what runs."""
        self.left = 0
        raise OutOfTime(f"ran longer than {self.seconds:.0f} s")


def told(error):
    """Return an error as one short line."""
    if isinstance(error, OutOfTime):
        return str(error)
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]


LACKING = ImportError, OSError, EOFError  # raised by what is not here: a package, a drive, a reader


def run_statements(tree, name, names):
    """Run a cell; what fails for want of something in the sandbox costs only its statement.

    After such a failure, statements that miss a name which it would have made are passed over too.

    Returns the first of these errors in a list, and raises any other one, as a notebook does.
    """
    lacking, body = [], tree.body
    while body:
        passed = (*LACKING, NameError) if lacking else LACKING
        try:
            exec(compile(ast.Module(body, tree.type_ignores), name, "exec"), names)
            break
        except passed as error:
            lacking = lacking or [error]
            where = error.__traceback__.tb_next
            failed = where.tb_lineno if where else body[-1].end_lineno
            body = [node for node in body[1:] if node.lineno > failed]
    return lacking


def is_stub(node):
    """Say whether nothing was written into a function of ours yet, or a method of a class."""
    parts = getattr(node, "body", [])
    if isinstance(node, ast.ClassDef):
        return any(map(is_stub, parts))
    return isinstance(node, ast.FunctionDef) and ast.unparse(parts[-1]) == STUB


def without_stubs(tree, names):
    """Return a cell without stubs of what a cell above has written, which they would replace."""
    body = [node for node in tree.body if not (is_stub(node) and node.name in names)]
    return ast.Module(body, tree.type_ignores)


def run_cells(request, names, say):
    """Run the cells in order, each error kept to its cell."""
    asked, together = set(request["asked"]), request["cell_seconds"]
    for number, source in request["cells"]:
        say(begin="cell", cell=number)
        budget, defined = Budget(min(request["seconds"], max(together, 1))), set()
        try:
            with budget:
                tree = without_stubs(parsed(source), names)
                defined = {getattr(node, "name", None) for node in tree.body} & asked
                for error in run_statements(tree, f"cell {number}", names):
                    say(cell=number, error=told(error), late=False)
        except BaseException as error:  # a SystemExit must not end the marking
            late = isinstance(error, OutOfTime)
            say(cell=number, error=told(error), late=late)
        if defined:
            say(cell=number, defines=sorted(defined))
        together -= budget.seconds - budget.left
    say(missing=sorted(asked - names.keys()))


def call_functions(request, names, say):
    """Call each function with its cases; one that is out of time is not called again."""
    budgets = {}
    for call in request["calls"]:
        budget = budgets.setdefault(call["name"], Budget(request["seconds"]))
        if budget.left <= 0:
            say(call=call["id"], case=0, error=request["too_late"])
            continue
        say(begin="call", call=call["id"])
        for number, case in enumerate(call["cases"]):
            try:
                with budget:
                    if call["name"] not in names:
                        raise NameError(f"there is no function {call['name']}")
                    value = encode(names[call["name"]](*decode(case)))
                say(call=call["id"], case=number, value=value)
            except BaseException as error:
                late = isinstance(error, OutOfTime)
                say(call=call["id"], case=number, error=told(error), late=late)
                if late:
                    break


def main():
    """Run the cells, then call what is asked for."""
    request = json.loads(sys.stdin.read())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a submission prints goes nowhere

    def say(**line):
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    names = {"__name__": "__main__"}
    say(begin="start")
    take_the_place_of_ipython(names, request["cells"])
    take_the_place_of_tqdm()
    run_cells(request, names, say)
    call_functions(request, names, say)
    say(begin="end")
    os._exit(0)  # no time for what libraries or a submission do at the end


if __name__ == "__main__":
    main()
