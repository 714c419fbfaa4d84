"""One reader for each file format. Readers are strict: a wrong file names itself and its line."""
