"""What reads a submitted notebook in the sandbox, so that nothing foreign is parsed outside.

It stands alone. It gets the bytes of the file on standard input and writes one line of JSON for the
notebook and one for each cell, without outputs: pictures may be large, and nobody marks them.
"""

import json
import sys


def cells_of(notebook):
    """Yield what marking needs of each cell."""
    for cell in notebook["cells"]:
        text = cell["source"]
        text = "".join(text) if isinstance(text, list) else text
        if not isinstance(text, str):
            raise TypeError("a cell without text")
        note = (cell.get("metadata") or {}).get("course") or {}
        kind, role = str(cell["cell_type"]), str(note.get("role", ""))
        yield {
            "kind": kind,
            "text": text if kind == "code" or role == "answer" else "",
            "role": role,
            "question": str(note.get("question", "")),
        }


def main():
    """Write the lines, or nothing where this is no notebook."""
    try:
        notebook = json.loads(sys.stdin.buffer.read())
        cells = list(cells_of(notebook))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    about = notebook.get("metadata")
    course = about.get("course") if isinstance(about, dict) else None
    name = course.get("assignment") if isinstance(course, dict) else None
    for line in ({"assignment": name if isinstance(name, str) else None}, *cells):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
