"""One folder an experiment: its protocol, its training and its reading."""
