"""Learn a task from short sequences, be asked about long ones.

trained by   python -m experiments.lengths, with --repairs what people would try first
rules        results/small-protocols.md, and the stored plans, in `plan` and `plan_repairs`
stored in    results/lab.jsonl
read by      `read` and `read_repairs`
shown in     book/length-lab.ipynb
"""
