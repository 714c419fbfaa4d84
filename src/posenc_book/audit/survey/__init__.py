"""The survey beside what we run: its tables, its formulas and its sentences.

`posenc_book.audit.printed` holds what the survey printed; `trained` judges its statements by
trainings.
"""
