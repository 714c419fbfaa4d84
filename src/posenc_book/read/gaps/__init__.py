"""What are true times worth where steps were lost?

Steps are lost in `posenc_book.data.lost_samples`.

trained by   experiments/gaps
rules        results/small-protocols.md, from `protocol`
stored in    results/gaps.jsonl
read by      `read`
shown in     book/time-and-space.ipynb
"""
