"""What is position worth in forecasting?

`units` names the data, `sources` reads their files, `windows` cuts them, `readers` builds the
models, `train` fits them, `baselines` are what they must be held against, and `protocol` says by
which rules all of it is done. `python -m posenc.experiments.forecasting` trains what is missing.
"""
