"""The benchmark: do positional encodings help to classify time series, and which?

trained by   python -m experiments.classification
rules        results/protocol.md, in short `protocol` (training) and `analysis`
stored in    results/second-*.jsonl, results/tuning-*.jsonl, results/baselines
read by      `edition2`, for pages by `found`
shown in     book/benchmark.ipynb, book/asked-again.ipynb
"""
