"""One module for each way in which a data set is laid out: which files, which windows and splits.

Each has `find(folder, name) -> list of files` ([] where they are not) and
`build(paths, name) -> {"train": Dataset, "test": Dataset}`.
"""
