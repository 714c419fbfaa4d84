"""What are real times worth to a model that tells variable stars apart? Planned, not run."""
