"""An exam from the questions of the book, with other numbers for each seed."""
