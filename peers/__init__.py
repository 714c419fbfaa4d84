"""Comparisons of posenc's encodings with other people's code: a suite of its own.

`make peers` installs the packages of `requirements.txt`, runs `python -m peers` and writes
`results/peers.json`, which the book shows. Nothing of the references is part of this repository.
`README.md` says how to add one.
"""
