"""The benchmark, as far as it runs: settings -> grid -> engine -> training -> store.

`posenc bench run --help` is the way in. torch is imported where training starts.
`posenc_book.records` holds what a training is asked and gives, `posenc_book.read` reads it.
"""
