"""What runs in the sandbox: a submission's cells, then the functions that are asked for.

It stands alone, for nothing of this repository exists in the sandbox. It reads one JSON request
from standard input and answers in lines of JSON. It knows no right answer: nothing that it, or a
submission that takes its place, could look up or change decides a mark.
"""

import json
import os
import re
import sys

MOST_TEXT, MOST_NUMBERS = 10_000, 400_000


def encode(value):
    """Return a value in the form that JSON knows, arrays and tensors as shape and numbers."""
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        if value.size > MOST_NUMBERS:
            raise ValueError(f"an array of shape {value.shape} is larger than any answer")
        if value.dtype.kind == "c":
            raise ValueError("complex numbers are no answer here, return real ones")
        if value.dtype.kind not in "biuf":
            raise ValueError(f"an array of {value.dtype} is no answer, return numbers")
        return {"shape": list(value.shape), "numbers": value.ravel().tolist()}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return value[:MOST_TEXT]
    if isinstance(value, (list, tuple)):
        if len(value) > MOST_NUMBERS:
            raise ValueError(f"a list of {len(value)} entries is longer than any answer")
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {"keys": [str(key) for key in value], "values": [encode(v) for v in value.values()]}
    raise ValueError(f"a {type(value).__name__} is no answer, return numbers, arrays or lists")


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


def readable(source):
    """Return a cell as Python; lines that only a notebook knows, such as `%pip`, do nothing."""
    try:
        compile(source, "cell", "exec")
    except SyntaxError:
        return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    return source


def told(error):
    """Return an error as one short line."""
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]


def main():
    """Run the cells in order, each error kept to its cell; then call what is asked for."""
    request = json.loads(sys.stdin.read())
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a submission prints goes nowhere

    def say(**line):
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    names = {"__name__": "__main__"}
    say(begin="start")
    for number, source in request["cells"]:
        say(begin="cell", cell=number)
        try:
            exec(compile(readable(source), f"cell {number}", "exec"), names)
        except BaseException as error:  # a SystemExit must not end the marking
            say(cell=number, error=told(error))
    for call in request["calls"]:
        say(begin="call", call=call["id"])
        for number, case in enumerate(call["cases"]):
            try:
                if call["name"] not in names:
                    raise NameError(f"there is no function {call['name']}")
                value = encode(names[call["name"]](*decode(case)))
                say(call=call["id"], case=number, value=value)
            except BaseException as error:
                say(call=call["id"], case=number, error=told(error))
    say(begin="end")
    os._exit(0)  # no time for what libraries or a submission do at the end


if __name__ == "__main__":
    main()
