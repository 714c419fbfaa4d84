"""Whatever stands in the ledger's file, it is read, or a message says what to put right."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ledger

EXAMPLES = int(os.environ.get("POSENC_FUZZ", "60"))
GOOD = "- id: B2\n  source: B\n  place: Eq. 1\n  find: two words\n  claim: It is.\n"
STUMBLING = (
    "&a", "*a", "[", "{", "[" * 2000, "!!python/object:os.system", "\t", "\x00", "- ", ": ", "? ",
    "1: 2", "[1, 2]", "{a: b}", "null", "B" + "9" * 5000, "%", "|", "''", "2026-01-01", "<<: *a",
)  # fmt: skip
BOMB = "- &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"- &{name} [{', '.join(9 * ['*' + before])}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@st.composite
def damaged(draw) -> str:
    """Return two claims with some damage."""
    text = GOOD + "\n" + GOOD.replace("B2", "B3")
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 20))
        piece = draw(st.sampled_from(STUMBLING) | st.text(max_size=3))
        text = text[:start] + piece + text[end:]
    return text


def test_damage_gives_claims_or_a_message(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "claims.yml"

    @settings(max_examples=EXAMPLES)
    @given(damaged())
    def check(text: str) -> None:
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            said = [claim["id"] for claim in ledger.read(path)]
        except ledger.LedgerError as error:
            said = str(error)
            assert path.name in said
        assert len(said) < 10_000

    check()


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "claims.yml"
    path.write_bytes(GOOD.encode() + b"\xff\xfe")
    with pytest.raises(ledger.LedgerError, match=r"claims\.yml is not YAML"):
        ledger.read(path)


def test_what_grows_without_end_is_shown_in_short(tmp_path):
    path = tmp_path / "claims.yml"
    path.write_text(BOMB)
    with pytest.raises(ledger.LedgerError, match=r"must have the fields") as caught:
        ledger.read(path)
    assert len(str(caught.value)) < 500
    path.write_text(f"{BOMB}- {{id: *j}}\n".replace("- &a", "- x: &a", 1).replace("- &", "  &"))
    with pytest.raises(ledger.LedgerError, match=r"claims\.yml"):
        ledger.read(path)
