"""Window statistics: mean, spread and slope of the tokens around."""

from posenc_book.atlas.card import Card

CARD = Card(
    name="window_statistics",
    title="Window statistics",
    year=2025,
    family="signal",
    sentence=(
        "It adds a learned linear map of the mean, the standard deviation and the slope of a "
        "window of tokens around each token."
    ),
    formula=(
        r"e(t) = W\, \big[\operatorname{mean}_{|u| \le 4} x_{t+u},\ "
        r"\operatorname{std}_{|u| \le 4} x_{t+u},\ \operatorname{slope}_{|u| \le 4} x_{t+u}\big]"
    ),
    doors=("embed",),
    parameters="3 * d_model**2",
    longer="as it is",
    beyond=(
        "A window knows its own steps only, so neither a longer nor a later series is anything "
        "new. Windows are cut at both ends of a series."
    ),
    real_times=False,
    causal=False,
    cached=False,
    use=(
        "Use it where a step's surroundings say more than the step: level, spread and trend. "
        "Compare it with its control, `encodings.with_window_statistics`, which gives such "
        "numbers of each step to a model without an encoding: on two sets with steps as tokens, "
        "and over nine with patches, the control gained at least as much, within luck. With "
        "`past=True` windows end at their token and serve causal layers. "
        "`statistics='winstat'` takes the paper's numbers, 'winstat_lag' also its differences "
        "from earlier values; its three mixtures with other encodings are not here."
    ),
    code="""\
module = make("window_statistics")
windows, u = x.unfold(1, 9, 1), torch.arange(-4.0, 5.0)  # whole windows: not at the ends
slope = (windows * u).sum(-1) / u.square().sum()
found = torch.cat([windows.mean(-1), windows.std(-1, correction=0), slope], -1)
added = found @ module.project.weight.mT
assert torch.allclose(module.embed(x)[:, 4:-4], x[:, 4:-4] + added)""",
    papers=("moyamota2025winstat",),
    chapter="time-and-space",
)
