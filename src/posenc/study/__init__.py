"""What reads results: tests, intervals, statements of equality, power, and one mixed model."""
