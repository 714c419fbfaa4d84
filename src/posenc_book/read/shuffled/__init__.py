"""What does a forecaster lose when the past that it is shown is shuffled?

Zeng and others (2023) ask this of trained models: the windows are shuffled in the test only. The
sets are two of theirs; a linear map, a transformer of patches and one of steps are trained on them.

trained by   experiments/shuffled
stored in    results/shuffled.json
read by      `read`
shown in     book/audit/forecasters.ipynb
"""
