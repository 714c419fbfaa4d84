"""Tables of accuracies in per cent: ours alone, and beside the survey's."""

import pandas as pd

from posenc.audit import printed
from posenc.audit.survey.ours import PAIRS, common, theirs
from posenc.study.tables import Scores


def levels(scores: Scores) -> pd.DataFrame:
    """Return our mean accuracies, encodings by data sets."""
    found = pd.DataFrame(100 * scores.mean().T, index=scores.encodings, columns=scores.datasets)
    return found.rename_axis("encoding", axis="columns")


def beside(scores: Scores) -> pd.DataFrame:
    """Return printed accuracies, and below each row our mean and deviation over seeds."""
    labels, rows = [], []
    for d in common(scores):
        table = dict(zip(printed.COLUMNS, 100 * theirs(scores.model, [d])[0], strict=True))
        ours = [100 * scores.cells[d, name] for _, name in PAIRS]
        labels += [d, "here"]
        rows.append([f"{table[column]:.1f}" for column, _ in PAIRS])
        rows.append([f"{c.mean():.1f}±{c.std(ddof=1):.1f}" for c in ours])
    names = [name if column == "SPE" else column for column, name in PAIRS]
    found = pd.DataFrame(rows, labels, names)
    return found.rename_axis("data set", axis="columns")
