"""A model of characters that reads farther than it was trained for.

trained by   posenc bench text, in `train`
rules        results/small-protocols.md, from `train` and `told`
stored in    results/text.jsonl
read by      `read`
shown in     book/length-lab.ipynb
"""
