"""Learn a task from short sequences, be asked about long ones.

trained by   posenc bench lab, in `train`; with --repairs, in `repairs`
rules        results/small-protocols.md, from `train` and `told`, `repairs` and `told_repairs`
stored in    results/lab.jsonl
read by      `read` and `read_repairs`
shown in     book/length-lab.ipynb
"""
