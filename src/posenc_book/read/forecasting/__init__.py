"""What is position worth in forecasting?

`units` names the data, `sources` reads their files, `windows` cuts them, `readers` builds the
models, `baselines` are what they must be held against.

trained by   python -m posenc_book.read.forecasting, in `train`
rules        results/forecasting/protocol.md, from `protocol`
stored in    results/forecasting
read by      `reading`, and by `store` while it grows
"""
