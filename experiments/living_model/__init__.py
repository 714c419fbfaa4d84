"""The model that lives in the page: the reader's GPT, trained on the book's own prose."""
