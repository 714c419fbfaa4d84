"""The benchmark, as far as it runs: settings -> grid -> engine -> training -> store.

`python -m posenc_book.bench run --help` is the way in. Reading stored records (`store`) needs the
standard library only; torch is imported where training starts. `posenc_book.read` reads results.
"""
