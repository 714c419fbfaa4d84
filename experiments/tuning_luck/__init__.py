"""How much of a score is the luck of tuning? Thirty cells of the third edition, tuned anew."""
