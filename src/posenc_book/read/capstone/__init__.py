"""What the two trained examples of the capstone rest on: a GPT that is stretched, and an encoding.

trained by   python -m posenc_book.read.capstone.stretching, and posenc bench for `nearby`
rules        `stretching`, and the protocol of `posenc_book.read.classification.second`
stored in    results/capstone.json
read by      `read`
shown in     book/capstone.ipynb
"""
