"""Which versions of the audited papers were judged, and of which newer ones the book knows."""

from posenc_book.audit import versions
from posenc_book.quantities import _read

CALLED = {
    "survey": "The survey",
    "DFT": "The faithful encoding",
    "PI": "Position interpolation",
    "Random": "Random places",
    "base": "RoPE's base",
    "partial": "Partial RoPE",
    "lengths": "Length generalisation",
    "limits": "RoPE's limits",
}
JUDGED_ABSTRACT = ("FIRE", "CoPE", "partial", "limits")  # of which no more was at hand
STANDS, CHANGED = "still stands", "changed"
SURVEY = {STANDS: ("S21", "S37"), CHANGED: ("S1", "S2", "S11", "S12"), "withdrawn": ()}
NEWEST = "stand: the newest is what was judged"
IN_COPIES = {  # what copies show where the judged version is another, or is not known
    "survey": "as above",
    "T5": "N19 stands, in a copy of the newest; N17 and N18 not known",
    "Transformer-XL": "stand: our copy has the abstract of v3",
    "xPos": "stand: no other version is known",
    "YaRN": "as below",
    "DyWPE": "stand: we judged the text of the conference, which is younger",
}


def rows_of_the_survey():
    return str(len(versions.PAPERS["survey"].rows()))


def marks_of_the_survey():
    """Each of its rows under one mark."""
    every = [row["id"] for row in versions.PAPERS["survey"].rows()]
    marked = {name for names in SURVEY.values() for name in names}
    under = {**SURVEY, versions.UNKNOWN: [name for name in every if name not in marked]}
    rows = [
        (mark, len(names), _ranges([n for n in every if n in names]))
        for mark, names in under.items()
    ]
    return _read.table(("in the newer versions", "how many", "rows"), rows, numbers_from=3)


def papers():
    rows = []
    for name, paper in versions.PAPERS.items():
        judged = paper.judged or versions.UNKNOWN
        judged += ", the abstract" * (name in JUDGED_ABSTRACT)
        known = paper.known or versions.UNKNOWN
        same = NEWEST if paper.judged and paper.judged == paper.known else versions.UNKNOWN
        ids = _ranges([row["id"] for row in paper.rows()])
        now = IN_COPIES.get(name, same)
        rows.append((CALLED.get(name, name), paper.number, judged, known, ids, now))
    head = ("paper", "arXiv", "version judged", "newest that we know of", "rows", "in the newest")
    return _read.table(head, rows, numbers_from=len(head))


def only_the_survey_and_yarn_are_older():
    """Of the papers whose judged version is known."""
    judged = {name: paper for name, paper in versions.PAPERS.items() if paper.judged}
    return {name for name, one in judged.items() if one.judged != one.known} == {"survey", "YaRN"}


def _ranges(ids):
    """Return "S3 to S10, S13" for ids in the order of the ledger."""
    runs = []
    for one in ids:
        if runs and int(one[1:]) == int(runs[-1][-1][1:]) + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    said = [", ".join(run) if len(run) < 3 else f"{run[0]} to {run[-1]}" for run in runs]
    return ", ".join(said) or "none"
