"""Odd but legal files are read rightly, as aeon and scipy read them; all others name their line.

Files are made at random, each with what it must be read as. POSENC_FUZZ says how many.
"""

import csv
import io
import os
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io.arff import ParseArffError, loadarff

from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import arff, ts

EXAMPLES = int(os.environ.get("POSENC_FUZZ", "40"))
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"  # what the bytes of a byte-order mark are decoded to
VALUES = st.integers(-999, 999).map(lambda n: n / 8)
GAPS = st.text(" \t", min_size=1, max_size=3)
ENDS = st.text(" \t", max_size=2)


@pytest.fixture(autouse=True, scope="module")
def limit_of_fields():
    """SciPy's reader raises the limit of a whole process, which other tests ask for."""
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)


@st.composite
def cases(draw, name) -> st.SearchStrategy:
    """Return class names, values (n, length), and a label for each series."""
    classes = draw(st.lists(name, min_size=1, max_size=4, unique_by=str.lower))
    n, length = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    values = draw(st.lists(VALUES, min_size=n * length, max_size=n * length))
    labels = draw(st.lists(st.integers(0, len(classes) - 1), min_size=n, max_size=n))
    return classes, np.array(values).reshape(n, length), labels


def letters(text: str) -> st.SearchStrategy[str]:
    """Return a text in capitals, in small letters, and as it is."""
    return st.sampled_from((text, text.upper(), text.lower(), text.title()))


@st.composite
def ts_files(draw):
    """Return the text of an odd .ts file and what it must be read as."""
    classes, values, labels = draw(cases(st.text("abcXYZ019_", min_size=1, max_size=4)))
    equal = draw(st.sampled_from(("true", "false")))
    tags = [
        ("univariate", "true"),
        ("equalLength", draw(letters(equal))),
        ("missing", draw(letters("false"))),
        ("classLabel", draw(GAPS).join(["true", *classes])),
    ]
    if equal == "true" and draw(st.booleans()):
        tags.append(("seriesLength", str(values.shape[1])))
    lines = []
    for tag, value in draw(st.permutations(tags)):
        lines.append(f"@{draw(letters(tag))}{draw(GAPS)}{value}{draw(ENDS)}")
    for odd in draw(st.lists(st.sampled_from(("", "  ", "# a comment", "#")), max_size=3)):
        lines.insert(draw(st.integers(0, len(lines))), odd)
    lines.insert(0, draw(st.sampled_from(("# a comment", "@problemName\tTiny"))))
    lines.append("@" + draw(letters("data")) + draw(ENDS))
    for row, label in zip(values, labels, strict=True):
        lines.append(",".join(map(repr, row.tolist())) + ":" + classes[label])
    mark = draw(st.sampled_from(("", BOM)))
    text = mark + draw(st.sampled_from(("\n", "\r\n"))).join([*lines, ""])
    return text, equal == "true", classes, values, labels


@settings(max_examples=EXAMPLES)
@given(ts_files())
def test_an_odd_ts_file_is_read_as_it_is_meant_and_as_aeon_reads_it(tmp_path_factory, file):
    text, equal, classes, values, labels = file
    path = tmp_path_factory.mktemp("odd") / "Tiny.ts"
    path.write_bytes(text.encode())
    series, y, header = ts.read_series(path)
    np.testing.assert_array_equal(np.array(series)[:, :, 0], values)
    assert [header.classes[i] for i in y] == [classes[i] for i in labels]
    assert header.equal_length == equal
    theirs = pytest.importorskip("aeon.datasets").load_from_ts_file
    x, found, meta = theirs(str(path), return_meta_data=True)
    np.testing.assert_array_equal(np.array(x)[:, 0], values)
    assert found.tolist() == [classes[i].lower() for i in labels]
    assert meta["equallength"] == equal


def quoted(name: str, mark: str) -> str:
    """Return a name in quotes, those within it escaped."""
    return mark + name.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


@st.composite
def arff_files(draw, label):
    """Return the text of an odd .arff file and what it must be read as."""
    classes, values, labels = draw(cases(label))
    marks = st.sampled_from("'\"")
    lines = [f"@{draw(letters('relation'))} {quoted('some prices, in %', draw(marks))}"]
    for i in range(values.shape[1]):
        name = draw(st.sampled_from((f"t{i}", f"t-{i}", f"at {i}, in s", f"{{{i}}}", f"it's {i}")))
        plain = not set(name) & set(" ,{}'")
        name = name if plain and draw(st.booleans()) else quoted(name, draw(marks))
        kind = draw(letters(draw(st.sampled_from(("numeric", "real", "integer")))))
        tag = draw(letters("attribute"))
        lines.append(f"@{tag}{draw(GAPS)}{name}{draw(GAPS)}{kind}{draw(ENDS)}")
    written = [
        name if name.isalnum() and draw(st.booleans()) else quoted(name, draw(marks))
        for name in classes
    ]
    between = draw(st.sampled_from((",", ", ", " ,\t")))
    lines.append(f"@attribute{draw(GAPS)}'the class'{draw(GAPS)}{{{between.join(written)}}}")
    for odd in draw(st.lists(st.sampled_from(("", "  ", "% a comment")), max_size=3)):
        lines.insert(draw(st.integers(0, len(lines))), odd)
    lines.append("@" + draw(letters("data")))
    for row, i in zip(values, labels, strict=True):
        lines.append(",".join([*map(repr, row.tolist()), written[i]]) + draw(ENDS))
    mark = draw(st.sampled_from(("", BOM)))
    return mark + draw(st.sampled_from(("\n", "\r\n"))).join([*lines, ""]), classes, values, labels


def written(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("odd") / "Tiny.arff"
    path.write_bytes(text.encode())
    return path


@settings(max_examples=EXAMPLES)
@given(arff_files(st.text("ab 1,{}%'\"\\", min_size=1, max_size=5).filter(lambda s: s.strip())))
def test_an_odd_arff_file_is_read_as_it_is_meant(tmp_path_factory, file):
    text, classes, values, labels = file
    series, y, found = arff.read_series(written(tmp_path_factory, text))
    np.testing.assert_array_equal(np.array(series)[:, :, 0], values)
    assert found == tuple(classes)
    assert y.tolist() == labels


@settings(max_examples=EXAMPLES)
@given(arff_files(st.text("abXY019", min_size=1, max_size=4)))
def test_an_odd_arff_file_is_read_as_aeon_and_scipy_read_it(tmp_path_factory, file):
    text, *_ = file
    path = written(tmp_path_factory, text)
    series, y, found = arff.read_series(path)
    x = np.array(series)[:, :, 0]
    table = None
    with suppress(ParseArffError, ValueError):  # blanks before a comma are too much for it
        table, _ = loadarff(io.StringIO(text.removeprefix(BOM)))
    if table is not None:
        *columns, named = (table[name] for name in table.dtype.names)
        np.testing.assert_array_equal(x, np.stack(columns, axis=1))
        assert [found[i] for i in y] == [name.decode().strip("'\"") for name in named]
    theirs, named = pytest.importorskip("aeon.datasets").load_from_arff_file(str(path))
    np.testing.assert_array_equal(x, theirs[:, 0])
    assert [found[i] for i in y] == [name.strip("'\"") for name in named.tolist()]


TS = "@univariate true\n@equalLength true\n@classLabel true a b\n@data\n1,2:a\n3,4:b\n"


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("@equalLength true", "@equalLenght false"), 2, "did you mean @equallength?"),
        (("@equalLength true", "@equalLength:false"), 2, "did you mean @equallength?"),
        (("@classLabel", "@classLabels"), 3, "did you mean @classlabel?"),
        (("@equalLength true", "@equalLength\tfalsch"), 2, "must be true or false, got 'falsch'"),
        (("@data\n", "@data 1,2:a\n"), 4, "@data must stand alone"),
    ],
)
def test_a_tag_that_was_meant_is_not_overlooked(tmp_path, change, line, said):
    path = tmp_path / "Tiny.ts"
    path.write_text(TS.replace(*change))
    with pytest.raises(FileFormatError, match=r"Tiny\.ts") as caught:
        ts.read_ts(path)
    assert (caught.value.line, said in str(caught.value)) == (line, True)


def test_a_tag_of_somebodys_own_is_let_be(tmp_path):
    path = tmp_path / "Tiny.ts"
    path.write_text("@recordedBy me\n" + TS)
    assert len(ts.read_ts(path)) == 2


ARFF = "@relation r\n@attribute a integer\n@attribute c {'x, y', z}\n@data\n1,'x, y'\n2,z\n"


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("2,z", "2,'z"), 6, 'label "\'z" is not among'),
        (("2,z", "2,x, y"), 6, "expected 1 values, got 2"),
        (("a integer", "a b integer"), 2, "names with spaces in quotes"),
        (("a integer", "'a integer"), 2, "only numeric columns"),
        (("a integer", "a relational"), 2, "only numeric columns"),
        (("{'x, y', z}", "{'x, y', z"), 3, "only numeric columns"),
        (("{'x, y', z}", "{'x, y, z}"), 3, "only numeric columns"),
        (("{'x, y', z}", "{'x, y',, z}"), 3, "only numeric columns"),
        (("{'x, y', z}", "{z, 'z'}"), 3, "names a class twice"),
    ],
)
def test_an_arff_file_that_cannot_be_read_rightly_names_its_line(tmp_path, change, line, said):
    path = tmp_path / "Tiny.arff"
    path.write_text(ARFF.replace(*change))
    with pytest.raises(FileFormatError, match=r"Tiny\.arff") as caught:
        arff.read_series(path)
    assert (caught.value.line, said in str(caught.value)) == (line, True), str(caught.value)
