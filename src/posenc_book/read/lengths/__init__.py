"""Learn a task from short sequences, be asked about long ones.

trained by   python -m experiments.lengths, with --repairs what people would try first, and with
             --message the message turned, too
rules        results/small-protocols.md, and the stored plans, in `plan`, `plan_repairs` and
             `plan_message`
stored in    results/lab.jsonl
read by      `read`, `read_repairs` and `read_message`
shown in     book/length-lab.ipynb
"""
