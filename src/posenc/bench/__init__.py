"""The benchmark: grid -> train -> store -> statistics -> report, and the command line.

`python -m posenc.bench run --help` is the way in. Reading results (`store`, `statistics`) needs
numpy and scipy only; torch is imported where training starts.
"""
