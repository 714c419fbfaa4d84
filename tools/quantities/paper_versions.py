"""Which versions of the audited papers were judged, and of which newer ones the book knows."""

from posenc.audit import versions
from quantities import _read

CALLED = {
    "survey": "The survey",
    "DFT": "The faithful encoding",
    "PI": "Position interpolation",
    "Random": "Random places",
}
JUDGED_ABSTRACT = ("FIRE", "CoPE")  # of which no more was at hand


def rows_of_the_survey():
    return str(len(versions.PAPERS["survey"].rows()))


def papers():
    rows = []
    for name, paper in versions.PAPERS.items():
        judged = paper.judged or versions.UNKNOWN
        judged += ", the abstract" * (name in JUDGED_ABSTRACT)
        known = paper.known or versions.UNKNOWN
        rows.append((CALLED.get(name, name), paper.number, judged, known))
    head = ("paper", "arXiv", "version judged", "newest that we know of")
    return _read.table(head, rows, numbers_from=len(head))


def only_the_survey_and_yarn_are_older():
    """Of the papers whose judged version is known."""
    judged = {name: paper for name, paper in versions.PAPERS.items() if paper.judged}
    return {name for name, one in judged.items() if one.judged != one.known} == {"survey", "YaRN"}
