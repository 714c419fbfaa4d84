"""Statistics of scores: arrays go in, numbers come out. No file is read, nothing trains."""
