"""One synthetic task: which of two pulses came first, told from near and far."""
