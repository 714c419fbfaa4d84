"""Papers and releases on positions since 2025 from `news.toml`, and what is here of each."""

from dataclasses import dataclass
from importlib.resources import files

from posenc_book import _stored

QUESTIONS = ("longer", "message", "tokens", "without", "rules", "things")


@dataclass(frozen=True)
class News:
    """A paper or a release.

    Whoever looked may have left a card, claims in the ledger, or a stored result. Where there is
    none of these, `read` says what was read, or `named_by` who told of it.

    Attributes
    ----------
    title : str
        The name that people use.
    question : str
        What a reader asks to whom it is an answer: one of `QUESTIONS`.
    when : str
        Its first month, as 2026-06, or the year alone where nothing more is known.
    does : str
        What it does, in one plain sentence.
    looked : str
        The last day on which somebody here looked at it.
    paper : str
        Key of the bibliography; empty where its authors are not known here.
    where : str
        Where it is to be found, if it is not in the bibliography.
    card : str
        The encoding whose card cites it.
    claims : tuple of str
        Claims of the ledger.
    result, about, page : str
        A file of results, the name in it that is meant, and the page that shows it.
    read, named_by : str
        What was read of it, and who told of it.
    """

    title: str
    question: str
    when: str
    does: str
    looked: str
    paper: str = ""
    where: str = ""
    card: str = ""
    claims: tuple[str, ...] = ()
    result: str = ""
    about: str = ""
    page: str = ""
    read: str = ""
    named_by: str = ""

    def __post_init__(self) -> None:
        if self.question not in QUESTIONS:
            raise ValueError(f"question must be one of {', '.join(QUESTIONS)}, got {self.question}")
        if bool(self.paper) == bool(self.where):
            raise ValueError(f"{self.title} must have either a paper or where it is to be found")
        if sum(map(bool, (self.known, self.read, self.named_by))) != 1:
            raise ValueError(
                f"{self.title} must have a card, claims or a result, or say what was read, or who "
                "named it, and only one of the three"
            )

    @property
    def known(self) -> tuple[str, ...]:
        """What is here of it, beyond having read it: card, claim judged, measured."""
        has = {"card": self.card, "claim judged": self.claims, "measured": self.result}
        return tuple(name for name, value in has.items() if value)

    @property
    def statuses(self) -> tuple[str, ...]:
        """The words for what is here of it."""
        return self.known or (("read only",) if self.read else ("not read",))


def news() -> list[News]:
    """Return all of them, the newest first; of one month, those of which more is here."""
    path = files(__package__).joinpath("news.toml")
    found = [
        _stored.record(News, values | {"title": title}, f"{path}, {title}")
        for title, values in _stored.read(path).items()
    ]
    return sorted(found, key=lambda one: (one.when, len(one.known)), reverse=True)
