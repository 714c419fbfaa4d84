"""What the page on the checker tells of well-known models."""

from posenc_book.read import checks

STORED = checks.load_checks()


def test_each_model_is_told_once_as_passed_or_as_found():
    table, told = checks.passed(), checks.found()
    for case in (*STORED["correct"], *STORED["found"]):
        name = case["case"].removeprefix(f"{case['package']}, ")
        assert (name in table) == case["passed"] or name in told
        assert (f"**{name}**" in told) == bool(case["who"])


def test_each_word_on_who_is_right_is_told_once_for_its_model():
    told = checks.found()
    for case in STORED["found"]:
        for question, word in case["who"].items():
            assert question in told
            assert word in told
