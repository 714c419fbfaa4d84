"""The figures of the chapters, one module a chapter."""
