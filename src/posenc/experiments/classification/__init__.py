"""The benchmark: do positional encodings help to classify time series, and which?

trained by   python -m posenc.bench protocol, in `tiers`, by `posenc.bench.train`
rules        results/protocol.md, from `protocol` (training) and `analysis`
stored in    results/second-*.jsonl, results/tuning-*.jsonl, results/baselines
read by      `second`, for pages by `found`
shown in     book/benchmark.ipynb, book/found-details.ipynb, book/found-further.ipynb
"""
