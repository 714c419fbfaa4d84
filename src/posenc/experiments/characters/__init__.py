"""A model of characters that reads farther than it was trained for."""
