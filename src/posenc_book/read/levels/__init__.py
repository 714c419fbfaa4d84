"""Why are our accuracies not the survey's? One thing changed at a time, on two of its sets.

trained by   experiments/levels
rules        `protocol`
stored in    results/levels.jsonl
read by      `read`
shown in     book/audit/survey-results.ipynb
"""
