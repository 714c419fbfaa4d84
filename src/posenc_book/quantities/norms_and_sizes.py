"""Another norm and a larger model, beside the plain ones of the benchmark."""

from posenc_book.quantities import _read
from posenc_book.read.classification import edition2, found, variants
from posenc_book.read.classification import protocol as protocols

MODELS = {tokens: model for model, tokens in edition2.TOKENS.items()}
LARGER = ("large", "patch")


def _changes():
    return variants.changes(_read.norms_and_sizes())


def _norm(tokens):
    return _changes()["other-norm", MODELS[tokens]]


def _moves(change):
    """Return by how many points the mean gain on each unit is larger in the other model."""
    by = 100 * (change.varied - change.plain).mean(1)
    return dict(zip(change.datasets, by, strict=True))


def _far(change):
    """Return the units on which it moves by two points or more: +1 where it grows, -1 else."""
    return {name: 1 if by > 0 else -1 for name, by in _moves(change).items() if abs(by) >= 2}


def _gains(variant, tokens):
    return variants.variant_gains(_read.norms_and_sizes())[variant, MODELS[tokens]]


def change():
    """Of the gain with the other norm."""
    return {tokens: _read.formula(_norm(tokens).effect) for tokens in MODELS}


def change_is_open():
    return all(_norm(tokens).answer == "undecided" for tokens in MODELS)


def grows_on_two_with_steps():
    return _far(_norm("steps")) == {"SyntheticControl": 1, "MedicalImages": 1}


def shrinks_on_two_with_patches():
    return _far(_norm("patches")) == {"Pedestrians": -1, "BasicMotions": -1}


def larger_with_patches_on():
    return _read.word(sum(by > 0 for by in _moves(_norm("patches")).values()))


def one_set_less_with_steps():
    return {*_norm("patches").datasets} - {*_norm("steps").datasets} == {"FingerMovements"}


def all_help_with_steps_alone():
    """Each of four with steps, none with patches."""
    steps, patches = ([g.answer for g in _gains("other-norm", t)] for t in MODELS)
    return steps == 4 * ["ahead"] and {*patches} == {"undecided"}


def is_not_the_norm():
    """Its effect is small beside that of the token, which is as large with either norm."""
    norm, tokens = _effects()
    small = norm.low < 0 < norm.high and max(-norm.low, norm.high) < abs(tokens.estimate) / 5
    steps, patches = _norm("steps"), _norm("patches")
    apart = steps.plain.mean() - patches.varied.mean(), steps.varied.mean() - patches.plain.mean()
    return bool(small and 100 * min(apart) > 10)


def _effects():
    names = ("norm: layer - batch", "tokens: steps - patches")
    return [_read.with_norms().coefficients[name] for name in names]


def token_just_reaches_zero():
    _, tokens = _effects()
    return bool(tokens.low < 0 < tokens.low + 0.5)


def one_set_gains_much_more():
    """SyntheticControl, with steps."""
    steps = edition2.load_grid("time_series").only(protocols.VARIED)
    gains = dict(zip(steps.datasets, found.mean_gains(steps), strict=True))
    return bool(gains.pop("SyntheticControl") > 1.5 * max(gains.values()))


def larger_change():
    return _read.formula(_changes()[LARGER].effect)


def larger_is_open():
    """The change, and whether the three help there."""
    gains = _gains("large", "patches")
    return {_changes()[LARGER].answer, *(one.answer for one in gains)} == {"undecided"}


def larger_moves_on_four():
    moved = {"Pedestrians": -1, "SyntheticControl": -1, "Phalanges": -1, "BasicMotions": 1}
    return _far(_changes()[LARGER]) == moved


def _levels():
    return variants.level_rows(_read.norms_and_sizes())


def larger_without():
    """Its accuracy without an encoding."""
    return _levels()["a larger model, patches"]["there, none"]


def as_much_as_the_plain_with_one():
    row = _levels()["a larger model, patches"]
    return row["there, none"] == row["plain, mean of three"]


def none_is_better_without():
    return all(_read.around_zero(row["none, there less plain"]) for row in _levels().values())


def larger_is_twice_the_size():
    plain, larger = protocols.TRAINING["settings"], protocols.VARIANTS["large"]["patch"]
    sizes = [(larger[key], plain[key]) for key in ("d_model", "n_layers", "n_heads")]
    return sizes == [(128, 64), (4, 2), (8, 4)]
