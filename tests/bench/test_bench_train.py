"""One training: the same number alone and in a stack, at any warm-up, and after any failure."""

import math
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import cycle, pairwise

import numpy as np
import pytest
import torch

from posenc import encodings
from posenc_book import data
from posenc_book.bench import build, dropout, grid, memory, parts
from posenc_book.bench.train import TrainingError, learning_rate, train

STOCHASTIC = {"sine_spe", "conv_spe"}
STEADY = [name for name in encodings.names() if name not in STOCHASTIC]
TIMES = {"seconds_per_step", "warm_peak_memory", "seeds_together"}


def test_where_no_memory_is_measured_a_training_runs_all_the_same(cell, monkeypatch):
    def no_library_without_a_name(_):  # as on Windows
        raise TypeError("argument of type 'NoneType' is not iterable")

    monkeypatch.setattr(memory.ctypes, "CDLL", no_library_without_a_name)
    (found,) = train([cell()])
    assert found["warm_peak_memory"] is None


@pytest.mark.slow
def test_the_first_training_of_a_process_pays_no_start(tmp_path):
    script = tmp_path / "three.py"
    script.write_text(
        "from posenc_book.records.settings import Settings\n"
        "from posenc_book.bench.train import train\n"
        "options = dict(dataset_options={'n': 48, 'length': 12, 'distance': 3}, epochs=1)\n"
        "cells = [Settings('none', 'patch', 'range_probe', seed=s, **options) for s in range(2)]\n"
        "for _ in range(3):\n"
        "    print(train(cells)[0]['warm_peak_memory'])\n"
    )
    run = [sys.executable, str(script)]  # a process of its own, as a worker's
    lines = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    if lines == ["None"] * 3:
        pytest.skip("no memory is measured on this system")
    first, *later = (int(line) / 2**20 for line in lines)
    assert first < max(later) + 40  # MiB; PyTorch's start takes 150 and more


def test_a_warm_up_changes_no_number(cell):
    train_module = sys.modules["posenc_book.bench.train"]
    train_module._warm.clear()
    (cold,), (warm,) = train([cell("sine_spe")]), train([cell("sine_spe")])
    assert results(cold) == results(warm)


def test_float32_is_float32_in_convolutions_on_a_gpu_too(cell):
    def allowed(*_):
        return {"tf32": torch.backends.cudnn.allow_tf32}

    before = torch.backends.cudnn.allow_tf32
    (found,) = train([cell()], probe=allowed)
    assert found["tf32"] is False
    assert torch.backends.cudnn.allow_tf32 == before
    with pytest.raises(ValueError, match="precision 'bfloat16' needs device 'cuda', got 'cpu'"):
        train([cell(precision="bfloat16")])
    assert torch.backends.cudnn.allow_tf32 == before


def results(outcome):
    return {name: value for name, value in outcome.items() if name not in TIMES}


@pytest.fixture
def change_parts(monkeypatch):
    """Return a function that lets trainings get other parts than they load."""

    def change(parts_of):
        load = parts.load_parts

        def changed(*arguments):
            found = load(*arguments)
            return replace(found, **parts_of(found))

        monkeypatch.setattr("posenc_book.bench.train.parts.load_parts", changed)

    return change


@pytest.fixture
def float64(change_parts):
    """Train in float64, so that two ways to the same sum agree to many digits."""

    def wide(found):
        three = {n: getattr(found, n) for n in ("train", "validation", "test")}
        return {n: replace(p, x=p.x.double()) for n, p in three.items()}

    change_parts(wide)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize(("encoding", "model"), [*zip(STEADY, cycle(build.MODELS), strict=False)])
def test_seeds_trained_together_are_what_they_are_alone(cell, encoding, model):
    cells = [cell(encoding, model, seed=seed, dropout=0.3, patch=3, epochs=3) for seed in (0, 7)]
    together = train(cells)
    assert [t["seeds_together"] for t in together] == [2, 2]
    for one, own in zip(together, [train([c])[0] for c in cells], strict=True):
        assert one["train_loss"] == pytest.approx(own["train_loss"], rel=1e-9)
        for name in ("accuracy", "macro_f1", "best_epoch", "validation_accuracy", "parameters"):
            assert one[name] == own[name]
    assert together[0]["train_loss"] != pytest.approx(together[1]["train_loss"], rel=1e-3)


def test_random_encodings_cannot_be_stacked_and_say_so(cell):
    with pytest.raises(RuntimeError, match="random"):
        train([cell("sine_spe", seed=seed) for seed in (0, 1)])


@pytest.mark.parametrize("encoding", ["learnable", "sine_spe"])
def test_a_seed_repeats_bit_for_bit_whatever_ran_before(cell, encoding):
    first = train([cell(encoding)])[0]
    torch.rand(3)
    train([cell(encoding, seed=1)])
    assert results(train([cell(encoding)])[0]) == results(first)


def test_training_leaves_the_global_generator_alone(cell):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    train([cell("sine_spe")])
    assert torch.equal(torch.rand(4), expected)


def test_the_test_part_decides_nothing(cell, change_parts):
    chosen = cell(epochs=6)
    honest = train([chosen])[0]
    change_parts(lambda found: {"test": replace(found.test, x=-found.test.x, y=1 - found.test.y)})
    other = train([chosen])[0]
    for name in ("best_epoch", "validation_accuracy", "train_loss", "epochs"):
        assert other[name] == honest[name]
    assert other["accuracy"] != honest["accuracy"]


def test_the_best_validation_epoch_is_what_is_scored(cell, change_parts):
    """With the test part replaced by the validation part, both accuracies must agree."""
    change_parts(lambda found: {"test": found.validation})
    for outcome in train([cell(seed=s, epochs=12, learning_rate=0.03) for s in range(4)]):
        assert outcome["accuracy"] == pytest.approx(outcome["validation_accuracy"])


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("optimizer", ["adamw", "radam"])
def test_seeds_that_have_stopped_leave_the_stack_and_the_others_go_on_as_if_alone(cell, optimizer):
    options = {"epochs": 40, "patience": 2, "dropout": 0.3, "optimizer": optimizer}
    cells = [cell(seed=s, **options) for s in range(5)]
    together = train(cells)
    alone = [train([c])[0] for c in cells]
    assert len({o["epochs"] for o in alone}) > 2  # they do stop at different times
    for one, own in zip(together, alone, strict=True):
        for name in ("steps", "epochs", "best_epoch", "accuracy", "validation_accuracy"):
            assert one[name] == own[name], name
        assert one["train_loss"] == pytest.approx(own["train_loss"], rel=1e-9)
        assert one["validation_loss"] == pytest.approx(own["validation_loss"], rel=1e-9)


@pytest.mark.usefixtures("float64")
def test_resamples_leave_the_stack_with_their_series(cell):
    cells = [cell(seed=s, split_seed=s, epochs=30, patience=2) for s in range(4)]
    for one, own in zip(train(cells), [train([c])[0] for c in cells], strict=True):
        assert one["epochs"] == own["epochs"]
        assert one["validation_accuracy"] == own["validation_accuracy"]


def test_a_loss_that_is_not_finite_fails_its_own_seed_only(cell, monkeypatch):
    original = build.model

    def broken(settings, *sizes):
        model = original(settings, *sizes)
        if settings.seed == 1:
            with torch.no_grad():
                model.head.weight.fill_(math.nan)
        return model

    monkeypatch.setattr("posenc_book.bench.train.build.model", broken)
    good, bad, also_good = train([cell(seed=s) for s in range(3)])
    assert isinstance(bad, TrainingError)
    assert "loss became nan in epoch 1" in str(bad)
    assert good["train_loss"] == pytest.approx(train([cell()])[0]["train_loss"], rel=1e-5)
    assert math.isfinite(also_good["train_loss"][-1])


def test_position_is_learnt_where_it_is_needed(cell):
    def accuracy(encoding):
        options = {"length": 16, "n": 512, "distance": 2, "noise": 0.01}
        changes = {"epochs": 30, "patience": 30, "learning_rate": 5e-3, "max_cases": 0}
        return train([cell(encoding, dataset_options=options, d_model=32, **changes)])[0]

    assert accuracy("relative")["accuracy"] > 0.8
    assert accuracy("none")["accuracy"] < 0.65


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # the compiler's own import
def test_compiled_training_gives_the_same(cell, monkeypatch):
    # tracer and autograd without the code generator, which needs a C++ compiler
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    plain, compiled = train([cell()])[0], train([cell()], compile=True)[0]
    assert compiled["train_loss"] == pytest.approx(plain["train_loss"], rel=1e-4)


def test_cells_that_differ_in_more_than_the_seed_are_refused(cell):
    with pytest.raises(ValueError, match="differ in seed, split_seed and resample only"):
        train([cell(), cell("tape")])
    with pytest.raises(ValueError, match="at least one Settings"):
        train([])


def test_scale_reaches_the_added_encodings_only(cell):
    made = {s: build.position(cell("sinusoidal", scale=s))(16, 2, 12) for s in ("paper", "unit")}
    norms = {s: p.rows(12).norm(dim=1) for s, p in made.items()}
    torch.testing.assert_close(norms["paper"], torch.full((12,), math.sqrt(8)))
    torch.testing.assert_close(norms["unit"], torch.ones(12))
    assert train([cell("rotary", scale="unit")])[0]["parameters"] > 0


def test_learning_rate_rises_then_falls_to_zero(cell):
    settings = cell(learning_rate=0.1, warmup=0.2)
    rates = [learning_rate(step, 100, settings) for step in range(100)]
    assert rates[:20] == pytest.approx([0.1 * (i + 1) / 20 for i in range(20)])
    assert all(a > b for a, b in pairwise(rates[20:]))
    assert 0 < rates[-1] < 1e-3


def test_parts_are_normalised_on_training_only_and_capped_by_class(cell):
    found = parts.load_parts(cell(max_cases=0), torch.device("cpu"))
    steps = found.train.x[0].flatten(0, 1)
    torch.testing.assert_close(steps.mean(0), torch.zeros(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(steps.std(0, correction=0), torch.ones(2), atol=1e-4, rtol=0)
    assert found.validation.x[0].flatten(0, 1).mean(0).abs().max() > 1e-6
    small = parts.load_parts(cell(max_cases=24), torch.device("cpu"))
    assert len(small.train) + len(small.validation) == len(small.test) == 24
    assert small.test.y[0].bincount().tolist() == [12, 12]
    whole = data.load("range_probe", "test", length=12, n=48, distance=3)
    assert len(whole) == 48


@pytest.fixture
def shortened(monkeypatch):
    """Half of all series end after eight steps."""
    load = data.load

    def shorter(name, split, **options):
        found = load(name, split, **options)
        mask = np.ones(found.x.shape[:2], bool)
        mask[::2, 8:] = False
        x = np.where(mask[:, :, None], found.x, 0).astype(np.float32)
        return replace(found, x=x, mask=mask)

    monkeypatch.setattr("posenc_book.bench.parts.data.load", shorter)
    parts._load.cache_clear()
    yield
    parts._load.cache_clear()


def test_statistics_of_the_input_join_it_as_channels_and_reach_the_model(cell):
    plain, richer = cell("none"), cell("none", input_statistics="winstat")
    before, after = (parts.load_parts(one, torch.device("cpu")) for one in (plain, richer))
    assert after.n_channels == 5 * before.n_channels
    for name in ("train", "validation", "test"):
        old, new = getattr(before, name), getattr(after, name)
        expected = encodings.with_window_statistics(old.x[0], statistics="winstat")
        torch.testing.assert_close(new.x[0], expected, atol=0, rtol=0)
        assert torch.equal(new.y, old.y)
    assert train([richer])[0]["parameters"] > train([plain])[0]["parameters"]


def test_statistics_of_the_input_refuse_missing_steps(shortened, cell):  # noqa: ARG001
    with pytest.raises(ValueError, match="input_statistics must be empty for range_probe"):
        parts.load_parts(cell("none", input_statistics="winstat"), torch.device("cpu"))


def test_an_encoding_that_refuses_missing_steps_is_named_before_any_training(shortened):  # noqa: ARG001
    def fetch(encoding, model, **settings):
        probe = ["range_probe:length=12,n=48,distance=3"]
        grid.make(probe, ["none", encoding], [model], [0], "smoke", **settings).fetch()

    fetch("rotary", "time_series")
    fetch("dywpe", "patch", patch=12)  # each patch has a real step
    for model, settings in (("time_series", {}), ("patch", {"patch": 4})):
        with pytest.raises(ValueError, match="'dywpe' and dataset 'range_probe' do not go toget"):
            fetch("dywpe", model, **settings)


def test_missing_steps_reach_the_model_as_a_mask(shortened, change_parts, cell):  # noqa: ARG001
    cells = [cell("rotary", seed=s) for s in (0, 1)]
    together, alone = train(cells), train(cells[:1])
    assert together[0]["train_loss"] == pytest.approx(alone[0]["train_loss"], rel=1e-5)
    three = ("train", "validation", "test")
    change_parts(lambda found: {n: replace(getattr(found, n), mask=None) for n in three})
    unmasked = train(cells[:1])
    assert unmasked[0]["train_loss"] != pytest.approx(alone[0]["train_loss"], rel=1e-3)


def test_masks_drop_the_share_asked_for_and_keep_the_mean():
    noise = dropout.noise(0, torch.device("cpu"))
    shapes = [torch.Size([50, 40]), torch.Size([1001])]
    masks = dropout.draw(shapes, 0.1, noise)
    assert [m.shape for m in masks] == shapes
    values = torch.cat([m.flatten() for m in masks])
    assert (values == 0).float().mean().item() == pytest.approx(26 / 256, abs=0.02)
    assert values.max().item() == pytest.approx(256 / 230)
    again = dropout.draw(shapes, 0.1, noise)
    assert not torch.equal(masks[0], again[0])
    columns = masks[0].eq(0).float()
    assert columns.mean(0).std() < 0.1
    assert dropout.draw([], 0.1, noise) == []


def test_noise_is_a_stream_of_even_bytes_that_its_seed_fixes():
    cpu = torch.device("cpu")
    drawn = dropout.noise(3, cpu)(100_001)
    assert drawn.dtype == torch.uint8
    assert len(drawn) == 100_001
    counts = drawn.to(torch.int64).bincount(minlength=256).double()
    assert ((counts - len(drawn) / 256) ** 2 / (len(drawn) / 256)).sum() < 340  # chi-square, 0.9998
    assert torch.equal(drawn, dropout.noise(3, cpu)(100_001))
    assert not torch.equal(drawn, dropout.noise(4, cpu)(100_001))
