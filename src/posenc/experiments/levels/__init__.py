"""Why are our accuracies not the survey's? One thing changed at a time, on two of its sets."""
