"""The benchmark, as far as it runs: settings -> grid -> engine -> training -> store.

`python -m posenc.bench run --help` is the way in. Reading stored records (`store`) needs the
standard library only; torch is imported where training starts. `posenc.experiments` reads results.
"""
