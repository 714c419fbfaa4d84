"""Learned tables for another length: what was learned stays where it was."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from posenc import encodings, models
from posenc.attention import SelfAttention
from posenc.models.transfer import transfer

GRID, PREFIX = (5, 4), 1
TABLES = {  # the tables, and the row that belongs to a position or an offset
    "learnable": (["vectors"], lambda n, t: t),
    "tupe": (["vectors"], lambda n, t: t),
    "erpe": (["values"], lambda n, t: t + n - 1),
    "deberta": (["vectors"], lambda n, t: t + n),
    "relative": (["keys", "values"], lambda n, t: t + n - 1),
}
OPTIONS = {"relative": {"max_distance": None, "values": True}, "tupe": {"cls_reset": True}}
CLIPPED = ("relative", "deberta", "t5", "cope")


def learned(name, length, **options):
    position = encodings.make(name, 16, 2, length, **{**OPTIONS.get(name, {}), **options})
    with torch.no_grad():
        for parameter in position.parameters():
            parameter += torch.randn_like(parameter)
    return position


def row(position, table, name, t):
    tensor = getattr(position, table)
    return tensor.movedim(0 if name in ("learnable", "tupe", "deberta") else 1, 0)[
        TABLES[name][1](position.max_length, t)
    ]


def output(position, x):
    torch.manual_seed(0)
    return SelfAttention(16, 2, position).eval()(x)


@pytest.mark.parametrize("length", [7, 10, 16])
@pytest.mark.parametrize("name", TABLES)
def test_what_was_learned_stays_at_its_position_or_offset(name, length):
    position = learned(name, 10)
    before = {key: value.clone() for key, value in position.state_dict().items()}
    new = encodings.resize(position, length)
    first = 0 if name in ("learnable", "tupe") else 1 - min(length, 10)
    for table in TABLES[name][0]:
        for t in range(first, min(length, 10)):
            assert torch.equal(row(new, table, name, t), row(position, table, name, t))
    for key, value in new.state_dict().items():
        assert torch.equal(before[key], position.state_dict()[key])  # the old one is left alone
        assert key in TABLES[name][0] or torch.equal(value, before[key])
    assert type(new) is type(position)
    assert new.max_length == length
    fresh = encodings.make(name, 16, 2, length, **OPTIONS.get(name, {}))
    assert [p.shape for p in new.parameters()] == [p.shape for p in fresh.parameters()]
    assert all(p.requires_grad and p.is_leaf for p in new.parameters())
    short = torch.randn(2, min(length, 10), 16)
    torch.testing.assert_close(output(new, short), output(position, short))
    assert output(new, torch.randn(2, length, 16)).isfinite().all()


@pytest.mark.parametrize("name", ["learnable", "tupe", "erpe"])
def test_rows_that_nobody_has_learned_start_as_at_the_beginning(name):
    position = learned(name, 300)
    new = encodings.resize(position, 600)
    table = TABLES[name][0][0]
    rows = torch.stack([row(new, table, name, t) for t in range(300, 600)])
    std = {"learnable": 0.02, "tupe": 1.0, "erpe": 0.02}[name]
    assert rows.std().item() == pytest.approx(std, rel=0.1)


@pytest.mark.parametrize("name", CLIPPED)
def test_offsets_that_shared_a_row_give_what_they_gave(name):
    position, x = learned(name, 10), torch.randn(2, 25, 16)
    torch.testing.assert_close(output(encodings.resize(position, 25), x), output(position, x))


@pytest.mark.parametrize("name", ["relative", "deberta"])
def test_a_distance_that_was_given_stays(name):
    position = learned(name, 10, max_distance=4)
    new = encodings.resize(position, 30)
    assert new.max_distance == position.max_distance == 4
    assert new.max_length == 30
    assert all(map(torch.equal, new.parameters(), position.parameters()))


@pytest.mark.parametrize("interpolate", [False, True])
def test_shared_rows_hang_on_no_length(interpolate):
    position, x = learned("deberta", 12, n_buckets=4), torch.randn(2, 25, 16)
    new = encodings.resize(position, 25, interpolate=interpolate)
    assert new.max_distance == position.max_distance == 12
    torch.testing.assert_close(output(new, x), output(position, x))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_stretched_when_asked(name):
    position = learned(name, 10)
    longer = encodings.resize(position, 19, interpolate=True)
    half = 0.5 if name != "deberta" else 10 / 19  # its offsets reach to 10 and 19
    for table in TABLES[name][0]:
        for t in range(0 if name in ("learnable", "tupe") else -18, 19):
            low = min(int(t * half // 1), 8)
            share = t * half - low
            a, b = (row(position, table, name, low + i) for i in (0, 1))
            wanted = a + min(share, 1) * (b - a)
            torch.testing.assert_close(row(longer, table, name, t), wanted, atol=1e-6, rtol=1e-5)
    if name != "deberta":
        back = encodings.resize(longer, 10, interpolate=True)
        for one, other in zip(back.parameters(), position.parameters(), strict=True):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", [*TABLES, "t5", "cope"])
def test_type_and_training_are_kept(name):
    position = learned(name, 10).to(torch.bfloat16).requires_grad_(False).eval()
    for interpolate in (False, True):
        new = encodings.resize(position, 14, interpolate=interpolate)
        assert not new.training
        assert all(p.dtype == torch.bfloat16 and not p.requires_grad for p in new.parameters())


@pytest.mark.parametrize("name", ["learnable", "tupe", "erpe", "relative"])
def test_a_trained_model_is_resized_as_the_documentation_says(name):
    model = models.TimeSeriesTransformer(2, 3, 10, name, 16, 2, 2, 16, norm="layer").eval()
    x = torch.randn(4, 10, 2)
    before, new = model(x), {}
    for layer in model.layers:
        old = layer.attention.position
        layer.attention.position = new.setdefault(old, encodings.resize(old, 40))
    assert len(new) == (1 if model.position.shared else 2)
    torch.testing.assert_close(model(x), before)
    assert model(torch.randn(4, 40, 2)).isfinite().all()


@pytest.mark.parametrize("length", [5, 14])
def test_rows_before_the_first_position_stay(length):
    position = learned("learnable", 10, offset=2)
    assert position.vectors.shape == (12, 16)
    x = torch.randn(2, 5, 16)
    torch.testing.assert_close(position.embed(x), x + position.vectors[2:7])
    for interpolate_too in (False, True):
        new = encodings.resize(position, length, interpolate=interpolate_too)
        assert new.vectors.shape == (2 + length, 16)
        assert torch.equal(new.vectors[:2], position.vectors[:2])
        if interpolate_too:
            torch.testing.assert_close(new.table(length)[-1], position.table(10)[-1])
        else:
            assert torch.equal(new.table(length)[:5], position.table(5))


def cubic(x, a):
    """Keys (1981): the cubic kernel of width 4."""
    x = np.abs(x)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def hat(x):
    return np.maximum(0, 1 - np.abs(x))


def weights(old, new, mode, *, antialias, overshoot=0.0):
    """Return what each of the new places takes from each old one along an axis, (new, old).

    A kernel that averages is as wide as a new step and cut off at the border; one that does not
    looks up places beyond the border at the border.
    """
    step = old / (new + overshoot)
    wide = max(step, 1.0) if antialias else 1.0
    kernel = hat if mode == "bilinear" else lambda x: cubic(x, -0.5 if antialias else -0.75)
    rows = np.zeros((new, old))
    for i in range(new):
        centre = (i + 0.5) * step - 0.5
        if mode == "bilinear" and not antialias:
            centre = max(centre, 0)
        for j in range(-4, old + 4):
            if antialias and not 0 <= j < old:
                continue
            rows[i, min(max(j, 0), old - 1)] += kernel((j - centre) / wide)
    return rows / rows.sum(1, keepdims=True) if antialias else rows


RESAMPLED = [
    {},
    {"antialias": False},
    {"antialias": False, "overshoot": 0.1},
    {"mode": "bilinear"},
    {"mode": "bilinear", "antialias": False},
]


@pytest.mark.parametrize("options", RESAMPLED, ids=str)
@pytest.mark.parametrize("new", [(10, 7), (3, 2), (2, 9), (5, 5)])
@pytest.mark.parametrize("name", ["learnable", "tupe"])
def test_a_grid_is_resampled_as_an_image(name, new, options):
    position = learned(name, PREFIX + GRID[0] * GRID[1]).double()
    before = position.vectors.detach().clone()
    resized = encodings.resize_grid(position, GRID, new, prefix=PREFIX, **options)
    said = {"mode": "bicubic", "antialias": True} | options
    along = [weights(m, n, **said) for m, n in zip(GRID, new, strict=True)]
    image = position.vectors[PREFIX:].detach().numpy().reshape(*GRID, -1)
    wanted = np.einsum("ih,jw,hwd->ijd", *along, image).reshape(new[0] * new[1], -1)
    got = resized.vectors.detach()
    np.testing.assert_allclose(
        got[PREFIX:], wanted, atol=1e-6 if options.get("overshoot") else 1e-9
    )
    assert torch.equal(got[:PREFIX], position.vectors[:PREFIX])
    assert torch.equal(position.vectors, before)
    assert resized.max_length == PREFIX + new[0] * new[1]
    assert resized.vectors.requires_grad
    others = [k for k in resized.state_dict() if k != "vectors"]
    assert all(torch.equal(resized.state_dict()[k], position.state_dict()[k]) for k in others)


def test_a_grid_is_resampled_in_float32_and_behind_the_rows_that_are_no_positions():
    position = learned("learnable", 13, offset=2).bfloat16().requires_grad_(False)
    resized = encodings.resize_grid(position, (3, 4), (6, 6), prefix=1)
    image = position.vectors[3:].float().view(1, 3, 4, 16).permute(0, 3, 1, 2)
    wanted = functional.interpolate(image, (6, 6), mode="bicubic", antialias=True)
    wanted = wanted.permute(0, 2, 3, 1).view(36, 16).bfloat16()
    assert torch.equal(resized.vectors, torch.cat((position.vectors[:3], wanted)))
    assert not resized.vectors.requires_grad
    same = encodings.resize_grid(position, (3, 4), (3, 4), prefix=1)
    assert torch.equal(same.vectors, position.vectors)


FITTING = {"name": "learnable", "old": (3, 4), "prefix": 1}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prefix": 0}, r"old must be the grid of the table, whose 13 rows .* \(3, 4\) w"),
        ({"old": 12}, "old must be two numbers, height and width, got 12"),
        ({"old": (3, 0)}, "old must be an integer of at least 1, got 0"),
        ({"prefix": -1}, "prefix must be an integer of at least 0, got -1"),
        ({"mode": "nearest"}, "mode must be one of bicubic, bilinear, got"),
        ({"antialias": 1}, "antialias must be True or False, got 1"),
        ({"overshoot": 1.0}, "overshoot must be a probability, 0 <= overshoot < 1"),
        ({"name": "relative"}, "a learned row for each position, got Relative"),
        ({"name": "rotary"}, "a learned row for each position, got Rotary"),
    ],
)
def test_grids_that_do_not_fit_are_named(wrong, message):
    given = FITTING | wrong
    position = encodings.make(given.pop("name"), 16, 2, 13)
    with pytest.raises(ValueError, match=message):
        encodings.resize_grid(position, given.pop("old"), (6, 6), **given)


def test_what_has_no_learned_table_is_refused():
    for name in ("rotary", "sinusoidal", "kerple", "dft", "none"):
        with pytest.raises(ValueError, match="position must be an encoding with a learned table"):
            encodings.resize(encodings.make(name, 16, 2, 9), 20)
    for wrong in ("learnable", None, torch.nn.Linear(2, 2)):
        with pytest.raises(ValueError, match="position must be an encoding with a learned table"):
            encodings.resize(wrong, 20)
    with pytest.raises(ValueError, match="max_length must be an integer of at least 1, got 0"):
        encodings.resize(learned("learnable", 9), 0)
    with pytest.raises(ValueError, match="interpolate must be True or False, got 'linear'"):
        encodings.resize(learned("learnable", 9), 12, interpolate="linear")
    with pytest.raises(ValueError, match=r"vectors has shape .*; posenc\.encodings\.resize makes"):
        transfer(learned("learnable", 9), learned("learnable", 12))
