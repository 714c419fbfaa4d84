"""What transformers' models do with positions: a probe, the register made from it, a comparison."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
