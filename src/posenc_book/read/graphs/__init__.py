"""Small transformers on three sets of graphs, with positions of nodes and without.

trained by   experiments/graphs
stored in    results/graphs.json
read by      `read`
shown in     book/graphs.ipynb
"""
