"""The figures of the chapters: one module a chapter, one function a figure."""
