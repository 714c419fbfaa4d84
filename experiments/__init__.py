"""The laboratory: one folder for each experiment, with its plan and what trains it."""
