"""The decision record, as pages show it."""

from posenc_book.guide.record import cases


def said():
    """What is recommended, by case."""
    return {key: one.said for key, one in cases().items()}


def instead():
    """What is taken in its place, by case."""
    return {key: one.instead for key, one in cases().items()}


def unless():
    """When that is, by case."""
    return {key: one.unless for key, one in cases().items()}


def table():
    """Every case in a row."""
    rows = (
        f"| [{one.asks}](#case-{key}) | **{one.said}** | {one.firm} |"
        for key, one in cases().items()
    )
    return "\n".join(["| your case | take | how firm |", "|:--|:--|:--|", *rows]) + "\n"


def evidence():
    """Every case with its reason, its exception, its evidence, its code and its test."""
    return "\n".join(
        f"(case-{key})=\n**{one.asks}.** {one.advice}\n\n"
        f"- {one.firm.capitalize()}: {one.evidence} ([{one.edition}]({one.see})).\n"
        f"- Code: `{one.code}`\n- Test: `{one.test}`\n"
        for key, one in cases().items()
    )
