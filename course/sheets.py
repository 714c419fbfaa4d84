"""Read a table as spreadsheets save it: with commas, semicolons or tabs, in UTF-8 or UTF-16."""

import codecs
import csv
import io
from pathlib import Path

ADVICE = "save it as CSV in UTF-8: in Excel 'CSV UTF-8', in LibreOffice 'Unicode (UTF-8)'"


def read(path: Path) -> list[list[str]]:
    """Return the rows of a table, the heading first.

    A line `sep=;` in front, which Excel asks for, is left out.

    Raises
    ------
    ValueError
        Where there is no such file, or its letters cannot be read.
    """
    try:
        data = path.read_bytes()
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeError as error:
        raise ValueError(f"{path} cannot be read as a table ({error}); {ADVICE}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read as a table ({error})") from None
    first, _, rest = text.partition("\n")
    if first.strip().strip('"').lower().startswith("sep="):
        text, first = rest, rest.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
