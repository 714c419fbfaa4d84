"""One synthetic task: which of two pulses came first, told from near and far.

The task is `posenc_book.data.range_probe`.

trained by   experiments/range_probe
rules        results/small-protocols.md, from `protocol`
stored in    results/probes.jsonl, results/kernels.jsonl
read by      `read` and, on longer series, `longer`
shown in     book/anomaly-windows.ipynb, book/beyond-training-length.ipynb
"""
