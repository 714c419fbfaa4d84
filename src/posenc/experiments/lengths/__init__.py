"""Learn a task from short sequences, be asked about long ones."""
