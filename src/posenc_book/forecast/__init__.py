"""Forecasters, and what position is worth on a file of one's own: `posenc bench forecast`.

`units` names the data, `files` and `sources` read them, `windows` cuts them; `readers` builds the
models, `train` and `fit` train them, `baselines` are what they must be held against.

Of a file of one's own, `table` reads the rows, `grid` puts them on regular steps, `blocks` cuts the
blocks that test, `cells` says what is trained on them, `verdict` what they can decide, and `run`
does all of it. `demand` is the series that the chapter on forecasting begins with.
"""
