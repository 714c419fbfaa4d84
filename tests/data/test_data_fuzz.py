"""Whatever bytes a reader gets, it gives a value or the package's own error, and soon.

Files in order are damaged at random: bytes are changed, cut out, doubled, and put in from a list of
what readers stumble over. POSENC_FUZZ says how many damaged files each reader gets.
"""

import os
import re
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from readers import ODD, READERS, judged, npy, outcome

from posenc_book.bench.grid import parse
from posenc_book.data import packed
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import array

EXAMPLES = int(os.environ.get("POSENC_FUZZ", "40"))
STUMBLING = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xd9\xa1", b"\r", b"\n", b'"', b"'", b",",
    b":", b"@", b"{", b"}", b"{" * 3000, b"[" * 3000, b"(" * 3000, b"-" * 3000, b"9" * 5000, b"#",
    b"1e400", b"-1", b"nan", b"inf", b"?", b"1_0", b"%", b"e", b"*a", b"null", b"true", b"@data\n",
    b"@classLabel true a a\n", b"@seriesLength 999999999\n", b"9" * 20, b"x" * 140_000,
)  # fmt: skip


@st.composite
def damaged(draw, good: bytes) -> bytes:
    """Return a file with some damage, or bytes that are no such file at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    data = bytearray(good)
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(
                st.sampled_from(STUMBLING),
                st.binary(min_size=1, max_size=4),
                st.just(bytes(data[start:end]) * 2),
                st.just(b""),
            )
        )
        data[start:end] = piece
    return bytes(data)


@pytest.mark.parametrize("name", READERS)
def test_damage_gives_a_value_or_the_readers_own_error(name, tmp_path_factory):
    reader, folder = READERS[name], tmp_path_factory.mktemp("damaged")

    @settings(
        max_examples=EXAMPLES,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(reader.good))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        judged(reader, path)

    path = folder / f"Tiny{reader.ending}"
    path.write_bytes(reader.good)
    assert not isinstance(outcome(reader, path), Exception)
    assert name == "zip" or reader.read(path) is not None
    check()


@pytest.mark.parametrize("name", [n for n, one in READERS.items() if one.is_text])
def test_an_odd_field_gives_a_value_or_the_readers_own_error(name, tmp_path_factory):
    reader, folder = READERS[name], tmp_path_factory.mktemp("odd")
    fields = list(re.finditer(r"[^\s,;:(){}\[\]\"]+", reader.good.decode()))

    @settings(max_examples=EXAMPLES)
    @given(st.sampled_from(fields), st.sampled_from(ODD))
    def check(field: re.Match, odd: str) -> None:
        path = folder / f"Tiny{reader.ending}"
        text = field.string[: field.start()] + odd + field.string[field.end() :]
        path.write_text(text, encoding="utf-8")
        judged(reader, path)

    check()


def test_a_header_that_promises_too_much_takes_no_memory(tmp_path):
    path = tmp_path / "huge.npy"
    good = npy(np.ones((3, 4)))
    path.write_bytes(good.replace(b"(3, 4), }" + 10 * b" ", b"(3000000000, 4), }  "[:19]))
    with pytest.raises(FileFormatError, match=r"huge\.npy: promises 96,000,000,000 bytes, over"):
        array.read_npy(path, 4)
    path.write_bytes(good[:-8])
    with pytest.raises(FileFormatError, match="promises 96 bytes, holds 88"):
        array.read_npy(path, 4)
    path.write_bytes(good + b"x")
    with pytest.raises(FileFormatError, match="promises 96 bytes, holds more"):
        array.read_npy(path, 4)


def test_a_packed_file_that_is_another_kind_of_file_is_made_anew(tmp_path):
    path = tmp_path / "Tiny.npz"
    path.write_bytes(npy(np.ones(3)))
    assert packed.read_packed(path, "train") is None
    with zipfile.ZipFile(path, "w") as content:
        content.writestr("train_x.npy", b"no array")
    assert packed.read_packed(path, "train") is None


@settings(max_examples=10 * EXAMPLES)
@given(st.text(alphabet="ab:=,[]{}\"'0123456789.eE+-NTa \\\n", max_size=60))
def test_options_of_the_command_line(text):
    try:
        said = parse(text).name
    except ValueError as error:
        said = str(error)
    assert text.startswith(said) or said.startswith("options must be written key=value")
