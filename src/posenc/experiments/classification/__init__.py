"""The benchmark: do positional encodings help to classify time series, and which?"""
