"""The survey beside what we run: its columns, its formulas and its sentences.

`posenc.audit.printed` holds what the survey printed; `trained` judges its statements by trainings.
"""

from posenc.audit.survey.ours import columns, theirs

__all__ = ["columns", "theirs"]
