"""The tables of what is new since 2025, and how much of it is here."""

from collections import Counter

from posenc_book.atlas.news import QUESTIONS, News, news
from posenc_book.audit import ledger

HEAD = "| first public | paper or release | what it does | here | looked at |\n|--|--|--|--|--|\n"
PAGE_OF_ARXIV = "https://arxiv.org/abs/"


def tables():
    """One for each question, the newest first."""
    rows = {one: [_row(row) for row in news() if row.question == one] for one in QUESTIONS}
    return {one: HEAD + "".join(found) for one, found in rows.items()}


def counted():
    """Rows, and those with each status."""
    found = Counter(status for one in news() for status in one.statuses)
    words = {name.replace(" ", "_"): str(n) for name, n in found.items()}
    return {"all": str(len(news()))} | words


def _row(one: News) -> str:
    name = f"{one.title} {{cite}}`{one.paper}`" if one.paper else f"{one.title} ({_place(one)})"
    return f"| {one.when} | {name} | {one.does} | {_here(one)} | {one.looked} |\n"


def _place(one: News) -> str:
    number = one.where.removeprefix("arXiv:")
    return one.where if number == one.where else f"[{one.where}]({PAGE_OF_ARXIV}{number})"


def _here(one: News) -> str:
    if one.read:
        return f"read only: {one.read}"
    if one.named_by:
        return f"not read; named by {one.named_by}"
    says = {
        "card": f"[card](#card-{one.card.replace('_', '-')})",
        "claim judged": "claims judged: "
        + ", ".join(f"[{id}]({ledger.row(id)['anchor']})" for id in one.claims),
        "measured": f"[measured]({one.page})",
    }
    return "; ".join(says[status] for status in one.known)
