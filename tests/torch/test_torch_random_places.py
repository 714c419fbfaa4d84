"""Random positions in the models of series: where tokens stand in training, and who refuses."""

from functools import partial

import pytest
import torch
from layers import close
from torch.func import functional_call

from posenc import encodings
from posenc.attention import Places
from posenc.models import LanguageModel, PatchTransformer, TimeSeriesTransformer
from posenc.models.random_places import RandomPlaces

STEPS, PATCH, RANDOM = 20, 4, 60
MODELS = [TimeSeriesTransformer, PatchTransformer]
EACH = pytest.mark.parametrize("cls", MODELS)
POOLED = pytest.mark.parametrize("pooling", ["mean", "cls"])
SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "dropout": 0.0, "norm": "layer"}


def build(cls, position="rotary", random_positions=RANDOM, **options):
    """Return a model in training whose passes differ by nothing but drawn places."""
    torch.manual_seed(0)
    sizes = {**SMALL, **({"patch": PATCH} if cls is PatchTransformer else {}), **options}
    return cls(3, 5, STEPS, position, random_positions=random_positions, **sizes).double()


def series(length=STEPS, batch=4):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, length, 3, generator=generator, dtype=torch.float64)


def n_counted(cls):
    """Return how many tokens a series has, a class token apart."""
    return STEPS if cls is TimeSeriesTransformer else STEPS // PATCH


def times_of(cls, places):
    """Return the times of steps at which the tokens stand at these places."""
    return places if cls is TimeSeriesTransformer else places.repeat_interleave(PATCH, -1)


@pytest.fixture
def seen(monkeypatch):
    """Return a list of the positions of queries, one entry for each pass."""
    passes, made = [], Places.__init__

    def spy(self, queries, keys, **options):
        made(self, queries, keys, **options)
        passes.append(self.queries)

    monkeypatch.setattr(Places, "__init__", spy)
    return passes


@EACH
@POOLED
@pytest.mark.parametrize("name", ["sinusoidal", "learnable", "t5"])
def test_places_are_drawn_in_training_and_counted_afterwards(cls, pooling, name, seen):
    net, x, token = build(cls, name, pooling=pooling), series(), pooling == "cls"
    draws = []
    for _ in range(120):
        seen.clear()
        net(x)
        (drawn,) = seen[0]  # one row: the same places for the whole batch
        assert not drawn.is_floating_point()
        assert drawn.shape == (n_counted(cls) + token,)
        assert 0 <= drawn[0] <= drawn[-1] < RANDOM + token
        if token:  # one step before the earliest
            assert drawn[1] - drawn[0] == 1
            drawn = drawn[1:] - 1
        assert (drawn.diff() > 0).all()
        draws.append(drawn)
    assert len({tuple(d.tolist()) for d in draws}) == 120
    assert torch.cat(draws).unique().numel() == RANDOM  # every place is met
    seen.clear()
    assert torch.equal(net.eval()(x), net(x))
    assert all(torch.equal(p[0], torch.arange(p.shape[1])) for p in seen)
    assert net.n_tokens == n_counted(cls) + token  # which the head may follow
    assert net.position.max_length == RANDOM + token


@EACH
@POOLED
@pytest.mark.parametrize("name", ["rotary", "learnable", "tupe", "tape"])
def test_drawn_places_are_those_that_can_be_given_as_times(cls, pooling, name):
    net, x = build(cls, name, pooling=pooling), series()
    torch.manual_seed(9)
    places = net.draw_positions(n_counted(cls))
    torch.manual_seed(9)
    drawn = net(x)
    close(drawn, net(x, times=times_of(cls, places)), 1e-10)
    close(drawn, net.eval()(x, times=times_of(cls, places)), 1e-10)
    assert not torch.allclose(drawn, net(x))


@EACH
def test_times_that_are_given_win_and_nothing_is_drawn(cls):
    net, x, times = build(cls), series(), torch.rand(STEPS).cumsum(0)
    before = torch.get_rng_state()
    given = net(x, times=times)
    assert torch.equal(torch.get_rng_state(), before)
    close(given, net.eval()(x, times=times), 1e-10)


@EACH
@POOLED
def test_a_padded_series_stands_where_the_draw_has_its_real_steps(cls, pooling):
    net, x = build(cls, pooling=pooling), series()
    mask = torch.ones(4, STEPS, dtype=torch.bool)
    mask[0, 12:] = False
    mask[2, :8] = False  # at the front, where the class token follows the earliest real step
    torch.manual_seed(9)
    places = times_of(cls, net.draw_positions(n_counted(cls)))
    torch.manual_seed(9)
    padded = net(x.where(mask[..., None], torch.nan), mask)
    first = net(x[[0], :12], times=places[:12])
    last = net(x[[2], 8:], times=places[8:])
    close(padded[[0]], first, 1e-10)
    close(padded[[2]], last, 1e-10)
    close(padded[[1, 3]], net(x[[1, 3]], times=places), 1e-10)


@EACH
@pytest.mark.parametrize("name", ["none", "sinusoidal", "rotary", "alibi", "t5"])
def test_without_the_option_nothing_is_drawn_and_weights_are_the_same(cls, name):
    net, x = build(cls, name, None), series()
    before = torch.get_rng_state()
    out = net(x)
    assert torch.equal(torch.get_rng_state(), before)
    close(out, net.eval()(x), 1e-10)
    other, after = build(cls, name), torch.get_rng_state()
    build(cls, name, None)
    assert torch.equal(torch.get_rng_state(), after)  # making it draws nothing more, either
    for (key, one), (same, two) in zip(
        net.state_dict().items(), other.state_dict().items(), strict=True
    ):
        assert key == same
        assert torch.equal(one, two)
    close(functional_call(other.eval(), net.state_dict(), (x,)), net(x), 1e-10)


@EACH
def test_longer_series_are_served_as_far_as_there_are_places(cls):
    net = build(cls, random_positions=24)
    step = STEPS // n_counted(cls)
    assert net(series(24 * step)).shape == (4, 5)
    with pytest.raises(ValueError, match="length must be at most random_positions = 24, got 25"):
        net(series(25 * step))


@EACH
@pytest.mark.parametrize("name", ["cope", "fox", "path", "dywpe", "window_statistics"])
def test_an_encoding_that_cannot_serve_places_refuses_them(cls, name):
    message = rf"random_positions must be None with {encodings.get(name).__name__}.*got 60: "
    with pytest.raises(ValueError, match=message):
        build(cls, name)
    with pytest.raises(ValueError, match=message):
        build(cls, ["rotary", name])


MAKE = {cls: partial(build, cls) for cls in MODELS}
MAKE[LanguageModel] = partial(LanguageModel, 5, 16, 2, 1, max_length=9)


@pytest.mark.parametrize(
    ("cls", "value", "message"),
    [
        (TimeSeriesTransformer, 19, "must be at least length = 20, as no place is drawn twice, go"),
        (PatchTransformer, 4, "must be at least the number of patches = 5, as no place is drawn t"),
        (LanguageModel, 8, "must be at least max_length = 9, as no place is drawn twice, got 8"),
    ],
)
def test_too_few_places_are_named(cls, value, message):
    with pytest.raises(ValueError, match=f"random_positions {message}"):
        MAKE[cls](random_positions=value)


def test_as_many_places_as_tokens_are_the_counted_ones():
    for cls in MODELS:
        for pooling in ("mean", "cls"):
            net = build(cls, "learnable", n_counted(cls), pooling=pooling)
            close(net(series()), net.eval()(series()), 1e-10)


@pytest.mark.parametrize("steps", [STEPS, STEPS - 3])
def test_patches_stand_at_drawn_places_in_evaluation(steps, seen):
    net = build(PatchTransformer, "learnable").eval()
    drawn = net.draw_positions(n_counted(PatchTransformer))
    seen.clear()
    net(series(steps), times=drawn.repeat_interleave(PATCH)[:steps])
    assert seen[0].tolist() == [drawn.tolist()]


def test_all_models_share_the_code():
    for cls in (*MODELS, LanguageModel):
        assert cls.draw_positions is RandomPlaces.draw_positions
    with pytest.raises(ValueError, match="random_positions must be given to the model to draw"):
        build(TimeSeriesTransformer, random_positions=None).draw_positions(3)
