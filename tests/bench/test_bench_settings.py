"""The settings of a training: a key that stays, and values that are refused by name."""

import itertools
import tracemalloc
from dataclasses import asdict, replace

import pytest

from posenc.encodings.window_statistics import STATISTICS
from posenc_book.bench import build
from posenc_book.bench.driver import deadline
from posenc_book.bench.grid import make, parse
from posenc_book.records.settings import INPUT_STATISTICS, PROFILES, Settings, complete, profile


def test_every_setting_changes_the_key():
    base = Settings("none", "patch", "LSST")
    other = {
        "encoding": "tape", "model": "time_series", "dataset": "SMD", "profile": "full",
        "encoding_options": {"a": 1}, "dataset_options": {"a": 1}, "encoding_source": "x",
        "dataset_source": "x", "scale": "unit", "optimizer": "radam", "precision": "bfloat16",
        "norm": "layer", "n_heads": 8, "dropout": 0.2, "learning_rate": 2e-3, "weight_decay": 0.0,
        "warmup": 0.2, "validation": 0.3, "schedule": "constant", "tuned": "x", "protocol": "x",
        "input_statistics": "winstat", "input_scaling": "asinh",
    }  # fmt: skip
    changed = {n: replace(base, **{n: other.get(n, getattr(base, n))}) for n in asdict(base)}
    for name, value in asdict(base).items():
        if name not in other:  # counts
            step = base.n_heads if name == "d_model" else 1
            changed[name] = replace(base, **{name: value + step})
    keys = [base.key, *(item.key for item in changed.values())]
    assert len(set(keys)) == len(asdict(base)) + 1


def test_a_setting_that_came_later_leaves_old_keys_as_they_were():
    cell = Settings("none", "patch", "LSST")
    assert "norm" not in cell.stored()
    assert complete(cell.stored())["norm"] == "own"
    assert replace(cell, norm="layer").stored()["norm"] == "layer"
    assert "input_statistics" not in cell.stored()


def test_one_and_one_point_zero_are_one_cell():
    a, b = (Settings("none", "patch", "LSST", learning_rate=x) for x in (1, 1.0))
    assert a.key == b.key


def test_the_statistics_of_the_input_are_those_of_the_library():
    assert ("", *STATISTICS) == INPUT_STATISTICS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_model": 0}, "d_model must be an integer of at least 1, got 0"),
        ({"n_heads": 5}, "n_heads must divide d_model = 64, got 5"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"dropout": 1.0}, "dropout must be a probability"),
        ({"learning_rate": 0}, "learning_rate must be a finite number above 0"),
        ({"weight_decay": -1}, "weight_decay must be"),
        ({"optimizer": "adam"}, "did you mean 'radam'|did you mean 'adamw'"),
        ({"scale": "units"}, "did you mean 'unit'"),
        ({"norm": "bach"}, "did you mean 'batch'"),
        ({"validation": 0.0}, "validation must be a finite number above 0, got 0.0"),
        ({"steps": 10, "least_steps": 20}, "least_steps must be at most steps = 10, got 20"),
        ({"input_statistics": "nope"}, "must be one of mean_std_slope, winstat, winstat_lag, got"),
    ],
)
def test_bad_values_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        Settings("none", "patch", "LSST", **change)


def test_profiles_are_valid_and_named():
    for name in PROFILES:
        assert Settings("none", "patch", "LSST", **profile(name)).profile == name
    assert profile("smoke")["epochs"] == 2
    with pytest.raises(ValueError, match="did you mean 'laptop'"):
        profile("labtop")


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("rotary:pairing=half", "rotary", {"pairing": "half"}),
        ("t5:n_buckets=8,bidirectional=true", "t5", {"n_buckets": 8, "bidirectional": True}),
        ("relative:max_distance=None", "relative", {"max_distance": None}),
        ("mine:Mine", "mine:Mine", {}),
        ("mine:Mine:gain=0.5", "mine:Mine", {"gain": 0.5}),
        ("t5:a=[1,2],b=3", "t5", {"a": [1, 2], "b": 3}),
        ('x:a={"b": [1, 2], "c": 3},d=e', "x", {"a": {"b": [1, 2], "c": 3}, "d": "e"}),
        ("x:a=b:c=d", "x", {"a": "b:c=d"}),
    ],
)
def test_parse(text, name, options):
    spec = parse(text)
    assert (spec.name, spec.options) == (name, options)


LISTS = '{"short_factor":[1,1,1,1],"long_factor":[2,2,2,2]}'


@pytest.mark.parametrize(
    "options",
    [
        "scaling=yarn,original_length=10",
        "scaling=dynamic_ntk,original_length=10",
        f"scaling=longrope,original_length=10,scaling_options={LISTS}",
        "scaling=linear,factor=4",
    ],
)
def test_a_scaling_whose_factor_follows_from_the_length_is_taken(options):
    """The command line knows no length yet; the factor is that of the series it meets."""
    grid = make(["range_probe:n=8"], [f"rotary:{options}"], ["patch"], [0], "smoke")
    [cell] = next(grid.groups())
    made = build.position(cell)(16, 2, 40)
    assert made.stretching.scaling == cell.encoding_options["scaling"]
    assert made.omega[-1] < 10_000 ** (-6 / 8)


def test_grid_makes_every_combination_once():
    grid = make(["BasicMotions", "range_probe"], ["none", "tape"], ["patch"], range(3), "smoke")
    groups = list(grid.groups())
    cells = [cell for group in groups for cell in group]
    assert len(cells) == len(grid) == 12 == len({cell.key for cell in cells})
    assert all(len({c.with_seed(0).key for c in group}) == 1 for group in groups)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["x"], ["rotory"], ["patch"], [0]), "did you mean 'rotary'"),
        ((["x"], ["rotary:paring=half"], ["patch"], [0]), "did you mean 'pairing'"),
        ((["x"], ["none", "none"], ["patch"], [0]), "encodings must not repeat"),
        (([], ["none"], ["patch"], [0]), "datasets must name at least one"),
        ((["x"], ["none"], ["patch"], [0, -1]), "seeds must be an integer of at least 0, got -1"),
        ((["x"], ["nowhere:Mine"], ["patch"], [0]), "cannot import 'nowhere'"),
        ((["x"], ["rotary:pairing=quarter"], ["patch"], [0]), "'rotary': pairing must be one of"),
        ((["x"], ["erpe:per_head=no"], ["patch"], [0]), "'erpe': per_head must be True or False"),
        ((["x"], ["rotary:pairing:half"], ["patch"], [0]), "options are written rotary:key=value"),
        ((["x"], ["none:slope=2"], ["patch"], [0]), "none takes no options, got slope"),
        ((["x"], ["axial_rotary"], ["patch"], [0]), "'axial_rotary' wants several numbers a token"),
        ((["x"], ["axial"], ["patch"], [0]), "of none, .*, dywpe, window_statistics, got 'axial'"),
        ((["x"], ["rope"], ["patch"], [0]), "encoding 'rope' has the name 'rotary' here"),
        ((["x"], ["posenc.attention:Position"], ["patch"], [0]), "overrides none of the doors emb"),
        ((["x"], ["posenc:tables"], ["patch"], [0]), "derived from posenc.attention.Position"),
        ((["x"], ["posenc.encodings.tupe:Nearby"], ["patch"], [0]), "no 'Nearby', it has .*TUPE"),
        ((["x"], ["./mine:Nearby"], ["patch"], [0]), r"'./mine' is no name of a module"),
        ((["x"], ["Nearby"], ["patch"], [0]), "one of your own is written module:Class"),
    ],
)
def test_bad_grids_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments)


@pytest.mark.parametrize(
    ("ends", "refused"),
    [
        (["bias = x"], True),
        (["if self.n_heads > 2:", "    return x", "return None"], False),
        (["raise NotImplementedError"], False),
    ],
)
def test_an_own_bias_that_returns_nothing_is_refused(ends, refused, tmp_path, monkeypatch):
    lines = ["from posenc.attention import Position", "class Mine(Position):"]
    lines += ["    def bias(self, x, q, k):", *(f"        {line}" for line in ends)]
    name = f"own_bias_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    if not refused:
        assert build.find_class(f"{name}:Mine").doors() == ("bias",)
        return
    with pytest.raises(ValueError, match=r"method bias returns nothing.*end it with return"):
        build.find_class(f"{name}:Mine")


def test_million_cells_are_planned_in_constant_memory(monkeypatch):
    monkeypatch.setattr("posenc_book.bench.grid.data.fingerprint", lambda name: name)
    grid = make(["a", "b"], ["none"], ["patch", "time_series"], range(10))
    grid = replace(grid, datasets=[grid.datasets[0]] * 25_000)
    tracemalloc.start()
    n = sum(len(group) for group in itertools.islice(grid.groups(), 1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(grid) == 500_000
    assert n == 10_000
    assert peak < 2**20  # of ten thousand that were kept each would have a hundred bytes


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("bad_name", "x = unknown", "bad_name.py, line 1, NameError: name 'unknown' is not"),
        ("bad_syntax", "def x(:", "bad_syntax cannot be imported, SyntaxError"),
        ("bad_import", "import lacking", "bad_import imports 'lacking', which is not installed"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named_with_its_line(
    name, source, message, tmp_path, monkeypatch
):
    (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=message):
        make(["x"], [f"{name}:Mine"], ["patch"], [0])


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("nan"), float("inf")])
def test_a_slice_has_a_finite_time_above_zero(seconds):
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        deadline(seconds)
