"""What the stored trainings of forecasting say, by the analysis that was frozen before.

`complete` says what is whole, `registered` which comparisons the protocol names, `effects` and
`answers` compute them, `rivals` holds the readers against simpler forecasters, and `show` and
`figure` put all of it before a reader.

    python -m posenc_book.read.forecasting.reading

The units kept apart are refused everywhere, unless the caller says `last_check=True`.
"""
