"""Why are our accuracies not the survey's? One thing changed at a time, on two of its sets.

trained by   posenc bench levels, by `posenc_book.bench.train`
rules        `protocol`
stored in    results/levels.jsonl
read by      `read`
shown in     book/survey-tables.ipynb
"""
