"""Why are our accuracies not the survey's? One thing changed at a time, on two of its sets.

trained by   python -m posenc.bench levels, by `posenc.bench.train`
rules        `protocol`
stored in    results/levels.jsonl
read by      `read`
shown in     book/survey-tables.ipynb
"""
