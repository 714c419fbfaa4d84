"""The quantities that prose names and that the repository itself says: pages, marks, benchmarks.

Those of data and results are in `posenc_book.quantities`, which says what such a function returns.
"""
