"""Runs the cells of a page in the browser, as a notebook would, and says what they put out.

It knows nothing of the page: what a cell prints, shows or fails with is handed to a function as
text. The tool that makes the pages uses `digest`, so both mean the same by "the stored output".
"""

import ast
import base64
import hashlib
import io
import json
import linecache
import sys
import time
import traceback
import types
import warnings

MOST_TEXT = 200_000  # characters that one cell may print
KINDS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
}
DRAWN = "figure drawn by this cell"


def digest(outputs):
    """Return a checksum of what outputs say; of pictures only that there is one.

    Parameters
    ----------
    outputs : list of dict
        In the form of stored notebooks: {"output_type": "stream", "name", "text"}, or any other
        type with "data", whose values are strings.
    """
    said = []
    for output in outputs:
        if output["output_type"] == "stream":
            if said and said[-1][0] == output["name"]:
                said[-1][1] += output["text"]
            else:
                said.append([output["name"], output["text"]])
        elif "data" in output:
            data = {k: v for k, v in output["data"].items() if k.startswith("text/")}
            if any(kind.startswith("image/") for kind in output["data"]):
                data["image"] = ""
            if data:  # scripts that an explorable brings along are none
                said.append(["data", sorted(data.items())])
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def bundle(value):
    """Return what a value looks like, by kind, as notebooks ask it, and what is said of it."""
    if hasattr(value, "_repr_mimebundle_") and not isinstance(value, type):
        found = value._repr_mimebundle_(include=None, exclude=None)
        data, metadata = found if isinstance(found, tuple) else (found, {})
        if data:
            return {"text/plain": repr(value), **data}, metadata
    data = {"text/plain": repr(value)}
    if not isinstance(value, type):
        for method, kind in KINDS.items():
            shown = getattr(value, method, lambda: None)()
            if isinstance(shown, bytes):
                shown = base64.b64encode(shown).decode()
            if shown is not None:
                data[kind] = shown
    return data, {}


class Shown:
    """What `IPython.display.HTML` and its like make of a text."""

    kind = "_repr_html_"

    def __init__(self, data=""):
        self.data = data
        setattr(self, self.kind, lambda: self.data)

    def __repr__(self):
        return f"<{type(self).__name__}>"


class Stream(io.TextIOBase):
    """A file that hands on what is written to it."""

    def __init__(self, name, put):
        self.name, self.put = name, put

    def writable(self):
        return True

    def write(self, text):
        self.put({"output_type": "stream", "name": self.name, "text": str(text)})
        return len(text)


class Kernel:
    """One run of a notebook: its names, and where its outputs go.

    Parameters
    ----------
    send : callable
        Takes each output as JSON as soon as it is there.
    """

    def __init__(self, send):
        self.send = send
        self.outputs, self.printed = [], 0
        self.module = types.ModuleType("__main__")
        sys.modules["IPython.display"] = self._display_module()
        sys.modules["IPython"] = types.ModuleType("IPython")
        sys.modules["IPython"].display = sys.modules["IPython.display"]
        sys.modules["IPython"].get_ipython = lambda: None  # Matplotlib asks, and for the version
        sys.modules["IPython"].version_info = (9, 0, 0)

    def _display_module(self):
        module = types.ModuleType("IPython.display")
        module.publish_display_data = self.publish
        module.display = self.display
        for name, kind in {"HTML": "_repr_html_", "Markdown": "_repr_markdown_"}.items():
            setattr(module, name, type(name, (Shown,), {"kind": kind}))
        return module

    def put(self, output):
        """Keep an output and hand it on; what a cell prints beyond all measure is cut."""
        if output["output_type"] == "stream":
            room = MOST_TEXT - self.printed
            self.printed += len(output["text"])
            if self.printed > MOST_TEXT:
                if room <= 0:
                    return
                output["text"] = f"{output['text'][:room]}\n[the rest is left out]\n"
            if self.outputs and self.outputs[-1].get("name") == output["name"]:
                self.outputs[-1]["text"] += output["text"]
            else:
                self.outputs.append(dict(output))
        else:
            self.outputs.append(output)
        self.send(json.dumps(output))

    def publish(self, data, metadata=None, **_):
        """Put out data by kind, as `IPython.display.publish_display_data` does."""
        self.put({"output_type": "display_data", "data": dict(data), "metadata": metadata or {}})

    def display(self, *values, **_):
        """Show values, as `IPython.display.display` does."""
        for value in values:
            self.publish(*bundle(value))

    def imports(self, code):
        """Return the packages that a cell names in its imports, as JSON."""
        found = set()
        try:
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add(node.module.partition(".")[0])
        except SyntaxError:
            pass  # said when the cell runs
        return json.dumps(sorted(found))

    def run(self, code, name):
        """Run a cell and return, as JSON, whether it went well, its seconds, and its digest.

        Parameters
        ----------
        code : str
        name : str
            What tracebacks call the cell, such as "cell 3".
        """
        self.outputs, self.printed = [], 0
        kept, started = (sys.stdout, sys.stderr, sys.modules.get("__main__")), time.perf_counter()
        sys.stdout, sys.stderr = Stream("stdout", self.put), Stream("stderr", self.put)
        sys.modules["__main__"] = self.module
        fine = True
        try:
            self._run(code, f"<{name}>")
        except BaseException as error:  # also what ends a program: it may not end this one
            fine = False
            self.put(failure(error, f"<{name}>"))
        finally:
            sys.stdout, sys.stderr = kept[:2]
            if kept[2] is not None:
                sys.modules["__main__"] = kept[2]
        seconds = time.perf_counter() - started
        told = {"ok": fine, "seconds": seconds, "digest": digest(self.outputs)}
        return json.dumps(told)

    def _run(self, code, name):
        lines = code.splitlines(keepends=True)
        linecache.cache[name] = (len(code), None, lines, name)
        tree = ast.parse(code, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec"), self.module.__dict__)
        if last is not None:
            value = eval(compile(last, name, "eval"), self.module.__dict__)
            if value is not None and not code.rstrip().endswith(";"):
                data, metadata = bundle(value)
                self.put({"output_type": "execute_result", "data": data, "metadata": metadata})
        self._open_figures()

    def _open_figures(self):
        """Show what was drawn by Matplotlib itself and not by a function of the book."""
        plots = sys.modules.get("matplotlib.pyplot")
        for number in plots.get_fignums() if plots else []:
            drawn = io.BytesIO()
            plots.figure(number).savefig(drawn, format="png", dpi=150, bbox_inches="tight")
            plots.close(number)
            encoded = base64.b64encode(drawn.getvalue()).decode()
            self.publish({"image/png": encoded, "text/plain": f"[{DRAWN}]"})


def failure(error, name):
    """Return an error as an output, with the lines of cells and the last one in a library."""
    told = traceback.TracebackException.from_exception(error, lookup_lines=True)
    own = [frame for frame in told.stack if frame.filename.startswith("<cell")]
    last = told.stack[-1:] if told.stack and told.stack[-1] not in own else []
    if isinstance(error, SyntaxError) and error.filename == name:
        own, last = [], []
    stack = traceback.StackSummary.from_list([*own, *last])
    lines = [*stack.format(), *told.format_exception_only()]
    return {
        "output_type": "error",
        "ename": type(error).__name__,
        "evalue": str(error),
        "text": "".join(lines).rstrip(),
    }


warnings.filterwarnings("ignore", message=".*non-interactive.*")  # plt.show(): shown anyway
