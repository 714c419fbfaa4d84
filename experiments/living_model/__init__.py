"""What does each letter cost a small GPT that lives in a page? It learns the book's own prose."""
