"""What is position worth in forecasting?

`plan` says what is compared, `complete` what is whole, `registered` which comparisons the protocol
names; `effects` and `answers` compute them, `rivals` holds the readers against simpler forecasters,
and `show` and `figure` put all of it before a reader.

    python -m posenc_book.read.forecasting

The units kept apart are refused everywhere, unless the caller says `last_check=True`.

trained by   python -m experiments.forecasting
rules        results/forecasting/protocol.md, held by `plan`
stored in    results/forecasting
read by      book/forecasting.ipynb, with `tables`, `read_out` and `figure`
"""
