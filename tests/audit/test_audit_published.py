"""Each re-enactment departs from the right module as described, and only so."""

import math

import numpy as np
import pytest
import torch

from posenc import encodings, tables
from posenc.attention import SelfAttention
from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc_book.audit import habits, published

SMALL = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24}
ORDER = torch.tensor([2, 0, 3, 1])


def tokens(batch=4, length=12, d_model=16):
    generator = torch.Generator().manual_seed(8)
    return torch.randn(batch, length, d_model, generator=generator, dtype=torch.float64)


def model(position, length=12, cls=TimeSeriesTransformer, **options):
    torch.manual_seed(5)
    net = cls(3, 4, length, position, **{**SMALL, "dropout": 0.0, **options})
    return net.double().eval()


def series(batch=4, length=12):
    return tokens(batch, length, 3)


def far(a, b, least=1e-3):
    return (a - b).abs().max().item() > least


# --- the DFT encoding that decays


def decaying_norms(d_model, length, n_passes):
    position = published.DecayingDFT(d_model, 4, length).double()
    x = torch.zeros(1, length, d_model, dtype=torch.float64)
    return torch.stack([position.embed(x)[0].norm(dim=1) for _ in range(n_passes)])


@pytest.mark.parametrize("d_model", [8, 64, 240])
def test_every_pass_shrinks_the_rows_by_the_same_factor(d_model):
    norms = decaying_norms(d_model, d_model, 5)
    expected = torch.tensor([(2 / d_model) ** (n / 2) for n in range(5)], dtype=torch.float64)
    torch.testing.assert_close(
        norms[:, 1:-1], expected[:, None].expand(-1, d_model - 2), rtol=1e-6, atol=0
    )
    for edge in (0, -1):  # the first and last time step lose sqrt(1/2) more in each pass
        loss = torch.tensor([2 ** (-(n + 1) / 2) for n in range(5)], dtype=torch.float64)
        torch.testing.assert_close(norms[:, edge], expected * loss, rtol=1e-6, atol=0)


@pytest.mark.parametrize("training", [True, False])
def test_the_decaying_table_is_a_state_that_evaluation_changes_too(training):
    position = published.DecayingDFT(16, 4, 10).train(training)
    before = {k: v.clone() for k, v in position.state_dict().items()}
    position.embed(torch.zeros(1, 10, 16))
    assert set(before) == {"table"}
    assert not torch.equal(position.state_dict()["table"], before["table"])


@pytest.mark.parametrize("d_model", [16, 240])
def test_decaying_columns_lack_the_nyquist_wave_and_have_an_empty_one(d_model):
    table = published.DecayingDFT(d_model, 4, d_model).double().table
    wave = torch.cos(math.pi * torch.arange(1, d_model + 1, dtype=torch.float64))
    assert table[:, 1].abs().max() == 0
    assert (wave @ table).abs().max() < 1e-3
    assert torch.linalg.matrix_rank(table, rtol=1e-5) == d_model - 1
    right = tables.dft(d_model, d_model)
    assert np.linalg.matrix_rank(right) == d_model
    assert np.abs(wave.numpy() @ right).max() == pytest.approx(math.sqrt(d_model))


def test_decaying_positions_start_at_one():
    table = published.DecayingDFT(16, 4, 10).table
    first = [f(2 * math.pi * k / 16) for k in range(8) for f in (math.cos, math.sin)]
    assert table[0].tolist() == pytest.approx(first, abs=1e-6)


def test_decaying_refuses_odd_widths_and_long_inputs():
    with pytest.raises(ValueError, match=r"d_model must be .*even"):
        published.DecayingDFT(15, 3, 10)
    with pytest.raises(ValueError, match="at most max_length = 10"):
        published.DecayingDFT(16, 4, 10).embed(torch.zeros(1, 11, 16))


# --- sinusoids


def test_batch_indexed_rows_depend_on_their_place_in_the_batch():
    net, right = model(published.BatchIndexed), model("sinusoidal")
    x = series()
    assert far(net(x[ORDER]), net(x)[ORDER])
    torch.testing.assert_close(right(x[ORDER]), right(x)[ORDER], rtol=0, atol=1e-12)


def test_batch_indexed_models_are_blind_to_the_order_of_time():
    net, right = model(published.BatchIndexed), model("sinusoidal")
    x, order = series(), torch.randperm(12, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(net(x[:, order]), net(x), rtol=0, atol=1e-12)
    assert far(right(x[:, order]), right(x))


def test_rescaled_sinusoids_have_the_given_deviation_and_the_same_shape():
    quiet = published.RescaledSinusoidal(64, 4, 100)
    right = encodings.make("sinusoidal", 64, 4, 100)
    assert quiet.rows(100).std().item() == pytest.approx(0.10)
    ratio = quiet.rows(100) / right.rows(100)
    assert ratio[1:].isfinite().all()
    assert ratio[1:].min().item() == pytest.approx(ratio[1:].max().item(), rel=1e-5)
    assert ratio[1, 0] < 0.2
    torch.testing.assert_close(quiet.rows(50), quiet.rows(100)[:50])


def test_configured_tape_is_too_slow_by_steps_over_tokens():
    right = encodings.make("tape", 16, 4, 5)
    published_tape = published.ConfiguredTAPE(16, 4, 5, n_steps=40)
    fast = math.asin(right.rows(2)[1, 2].item()) / math.asin(published_tape.rows(2)[1, 2].item())
    assert fast == pytest.approx(40 / 5, rel=1e-4)
    same = published.ConfiguredTAPE(16, 4, 40, n_steps=40)
    torch.testing.assert_close(same.rows(40), encodings.make("tape", 16, 4, 40).rows(40))
    with pytest.raises(ValueError, match="n_steps"):
        published.ConfiguredTAPE(16, 4, 5, n_steps=4)


# --- scores


@pytest.mark.parametrize("n", [9, 5])
def test_skew_without_its_mask_is_right_below_the_diagonal_only(n):
    torch.manual_seed(0)
    position = published.UnmaskedSkew(8, 2, 9).double()
    near = position.vectors[-n:]  # a short input takes the near past
    q = tokens(3, n, 8).unflatten(-1, (2, 4)).transpose(1, 2)
    bias = position.bias(tokens(3, n, 8), q, q)
    for i in range(n):
        for j in range(n):
            if j <= i:
                expected = q[:, :, i] @ near[j - i + n - 1] / 2
            elif j == i + 1:
                expected = torch.zeros(3, 2).double()
            else:
                expected = q[:, :, i + 1] @ near[j - i - 2] / 2
            torch.testing.assert_close(bias[:, :, i, j], expected)


def test_tied_tupe_lets_content_meet_position():
    def added(cls, x):
        torch.manual_seed(0)
        layer = SelfAttention(16, 4, cls(16, 4, 12)).double().eval()
        plain = SelfAttention(16, 4, encodings.make("none", 16, 4, 12)).double().eval()
        own = layer.state_dict()
        plain.load_state_dict({k: v for k, v in own.items() if "position" not in k})

        def scores(attention, x):
            embedded = attention.position.embed(x)
            q, k, _ = attention._project(embedded)
            bias = attention.position.bias(embedded, q, k)
            return q @ k.mT / 2 + (0 if bias is None else bias)

        return scores(layer, x) - scores(plain, x) * 0.5**0.5

    one, other = tokens(1), tokens(2)[1:]
    torch.testing.assert_close(added(encodings.TUPE, one), added(encodings.TUPE, other))
    assert far(added(published.TiedTUPE, one), added(published.TiedTUPE, other), 0.1)


# --- what carries the wrong name


def test_the_published_spe_is_the_sinusoidal_encoding_and_no_stochastic_one():
    x = tokens()
    sine = encodings.make("sinusoidal", 16, 4, 12).double()
    assert torch.equal(published.FixedSPE(16, 4, 12).double().embed(x), sine.embed(x))
    for name in ("sine_spe", "conv_spe"):
        right = encodings.make(name, 16, 4, 12).double()
        q = x.unflatten(-1, (4, 4)).transpose(1, 2)
        assert right.doors() == ("rotate",) != published.FixedSPE.doors()
        assert torch.equal(right.embed(x), x)
        assert right.rotate(q, q)[0].shape != q.shape


def test_a_convolution_of_tokens_gives_equal_tokens_equal_vectors_inside():
    torch.manual_seed(0)
    position = published.TokenConvolution(16, 4, 12, kernel_size=5).double()
    out = position.embed(torch.ones(1, 12, 16).double())[0]
    torch.testing.assert_close(out[2:-2], out[2].expand(8, -1))
    assert far(out[0], out[5])  # the zeros beyond the ends are all the position there is
    x = tokens(1, 20)
    shifted = position.embed(x.roll(1, 1))[:, 3:-2]
    torch.testing.assert_close(shifted, position.embed(x)[:, 2:-3])
    q = x.unflatten(-1, (4, 4)).transpose(1, 2)
    assert position.rotate(q, q)[0] is q
    assert position.bias(x, q, q) is None
    with pytest.raises(ValueError, match="kernel_size must be odd, got 4"):
        published.TokenConvolution(16, 4, 12, kernel_size=4)


def test_the_published_tpe_has_no_similarity_and_one_layer_only():
    x = tokens()
    short = published.InputOnlyTPE(16, 4, 12).double()
    right = encodings.make("tpe", 16, 4, 12).double()
    assert right.embed_every_layer
    assert not short.embed_every_layer
    assert short.bias(x, x, x) is None
    similarity = right.bias(x, x, x)
    torch.testing.assert_close(similarity.diagonal(dim1=-2, dim2=-1), torch.ones(4, 1, 12).double())
    assert torch.equal(short.embed(x), encodings.make("sinusoidal", 16, 4, 12).double().embed(x))


# --- attention across the batch


def across(position="sinusoidal", **options):
    net = model(position, **options)
    published.attend_across_batch(net)
    return net


def test_attention_across_the_batch_is_the_layer_with_its_axes_swapped():
    torch.manual_seed(0)
    right = SelfAttention(16, 4, encodings.make("none", 16, 4, 12)).double()
    wrong = published.AcrossBatch(16, 4, right.position).double()
    wrong.load_state_dict(right.state_dict())
    x = tokens()
    torch.testing.assert_close(wrong(x), right(x.transpose(0, 1)).transpose(0, 1))
    weights = wrong.weights(x)
    assert weights.shape == (12, 4, 4, 4)
    torch.testing.assert_close(weights, right.weights(x.transpose(0, 1)))


@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_time_steps_never_meet_across_the_batch(norm):
    """The mixed difference of two time steps is 0: the output is a sum over steps."""

    def mixed(net):
        x = series()
        a, b = x.clone(), x.clone()
        a[0, 2] += 1
        b[0, 9] -= 1
        both = a.clone()
        both[0, 9] -= 1
        return net(both) - net(a) - net(b) + net(x)

    assert mixed(across(norm=norm)).abs().max() < 1e-12
    assert mixed(model("sinusoidal", norm=norm)).abs().max() > 1e-3


def test_attention_across_the_batch_keeps_weights_and_refuses_what_it_cannot_do():
    net, right = across(), model("sinusoidal")
    ours, theirs = net.state_dict(), right.state_dict()
    assert all(torch.equal(ours[k], theirs[k]) for k in theirs)
    with pytest.raises(ValueError, match="door 'embed' only"):
        across("relative")
    with pytest.raises(ValueError, match="mask"):
        net(series(), torch.ones(4, 12, dtype=torch.bool))


RE_ENACTED = "BatchIndexed RescaledSinusoidal UnmaskedSkew TiedTUPE FixedSPE TokenConvolution"


@pytest.mark.parametrize("name", [*RE_ENACTED.split(), "InputOnlyTPE", "DecayingDFT"])
def test_every_re_enactment_trains_in_both_models(name):
    for kind in (TimeSeriesTransformer, PatchTransformer):
        net = model(getattr(published, name), cls=kind).train()
        out = net(series())
        out.square().sum().backward()
        assert out.isfinite().all()
        assert all(p.grad is not None for p in net.parameters())


# --- protocol


def test_standardising_each_step_takes_the_common_course_away():
    rng = np.random.default_rng(0)
    course = np.sin(np.arange(20))[:, None] * [5, 1]
    train, test = course + rng.normal(size=(2, 50, 20, 2))
    a, b = published.standardise_per_step(train, test)
    assert np.abs(a.mean(axis=0)).max() < 1e-12
    assert np.abs(a.std(axis=0) - 1).max() < 1e-12
    np.testing.assert_allclose(b, (test - train.mean(axis=0)) / train.std(axis=0))
    again, _ = published.standardise_per_step(train, test + 100)
    assert np.array_equal(a, again)  # the other part has no say
    assert np.isfinite(published.standardise_per_step(train * 0, test)[1]).all()


def test_standardising_before_the_split_lets_the_test_part_speak():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(2, 50, 20, 2))
    a, _ = published.standardise_before_split(train, test)
    b, _ = published.standardise_before_split(train, test + 10)
    assert np.abs(a - b).max() > 1


def test_choosing_on_a_half_splits_the_test_part_and_takes_the_first_best():
    correct = np.zeros((3, 10), dtype=bool)
    correct[1, 1:] = correct[2] = True  # series 0 tells epochs 1 and 2 apart
    chosen = {habits.choose_on_half(correct, seed) for seed in range(20)}
    assert chosen == {(1.0, 1.0), (1.0, 0.8)}  # a tie goes to epoch 1
    one_epoch = np.arange(10)[None] < 7
    first, second = habits.choose_on_half(one_epoch, 3)
    assert first + second == pytest.approx(1.4)
