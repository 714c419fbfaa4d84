"""One folder an experiment: its protocol, its training and its reading.

Each says of itself what trains it, by which rules, where the lines lie, who reads and shows them.
"""
