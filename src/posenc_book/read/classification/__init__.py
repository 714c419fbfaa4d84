"""The benchmark: do positional encodings help to classify time series, and which?

trained by   posenc bench protocol, in `tiers`, by `posenc_book.bench.train`
rules        results/protocol.md, from `protocol` (training) and `analysis`
stored in    results/second-*.jsonl, results/tuning-*.jsonl, results/baselines
read by      `second`, for pages by `found`
shown in     book/benchmark.ipynb, book/found-details.ipynb, book/found-further.ipynb
"""
