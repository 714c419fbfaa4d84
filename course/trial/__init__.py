"""A trial of the book with a class: questions before and after, consent, and what was gained."""
