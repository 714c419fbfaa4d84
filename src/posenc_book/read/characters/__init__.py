"""A model of characters that reads farther than it was trained for.

trained by   python -m experiments.characters
rules        results/small-protocols.md, and the stored plan, in `plan`
stored in    results/text.jsonl
read by      `read`
shown in     book/length-lab.ipynb
"""
