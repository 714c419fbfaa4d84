"""Learn a task from short sequences, be asked about long ones.

trained by   python -m posenc.bench lab, in `train`
rules        results/small-protocols.md, from `train` and `told`
stored in    results/lab.jsonl
read by      `read`
shown in     book/length-lab.ipynb
"""
