"""Equal definitions, and questions that can be answered: the third edition.

`plan` reads what was frozen beforehand; `questions` and `claims` say what is asked of which sets
and encodings.

trained by   experiments/edition3
rules        results/edition-3/protocol.md
stored in    results/edition-3
read by      `reading`
shown in     book/asked-again.ipynb, by `figure`, `choice`, `tables` and `words`
"""
