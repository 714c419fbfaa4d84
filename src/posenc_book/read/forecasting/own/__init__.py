"""What is position worth on a file of one's own? `posenc bench forecast sales.csv ...`.

`table` reads the file, `grid` puts its rows on regular steps, `blocks` cuts the blocks that test,
`cells` says what is trained on them, `verdict` what they can decide.
"""
