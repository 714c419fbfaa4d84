"""The quantities that prose names: a function each, of no argument, in a module for each subject.

A function returns the text that stands in the prose, a dictionary of such texts, or for a condition
whether it holds. `tools/fill.py` of the repository says how they are named.
"""
