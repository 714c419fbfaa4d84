"""Equal definitions, and questions that can be answered: what trained the third edition."""
