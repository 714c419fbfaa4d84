"""Tables of accuracies in per cent: ours alone, and beside the survey's."""

import pandas as pd

from posenc.study.tables import Scores


def levels(scores: Scores) -> pd.DataFrame:
    """Return our mean accuracies, encodings by data sets."""
    found = pd.DataFrame(100 * scores.mean().T, index=scores.encodings, columns=scores.datasets)
    return found.rename_axis("encoding", axis="columns")
