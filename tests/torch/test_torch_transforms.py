"""Dtypes, state, seeds, compilation, and `vmap` over stacked parameters."""

import copy

import pytest
import torch
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

from posenc import encodings, tables
from posenc.attention import SelfAttention
from posenc.models import PatchTransformer, TimeSeriesTransformer

MODELS = [TimeSeriesTransformer, PatchTransformer]
STOCHASTIC = ["sine_spe", "conv_spe"]
DETERMINISTIC = [name for name in encodings.names() if name not in STOCHASTIC]
SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "dropout": 0.0}


def build(cls, name, seed=0, length=24, **options):
    torch.manual_seed(seed)
    return cls(3, 4, length, name, **{**SMALL, **options})


def series(length=24):
    return torch.randn(5, length, 3, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("name", encodings.names())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_everything_follows_the_module_dtype(name, dtype):
    for cls in MODELS:
        net = build(cls, name).to(dtype)
        for values in (*net.parameters(), *net.buffers()):
            assert values.dtype in (dtype, torch.int64)
        logits = net(series().to(dtype))
        assert logits.dtype == dtype
        logits.float().square().sum().backward()
        assert all(p.grad.isfinite().all() for p in net.parameters())
    # a lower precision changes the numbers, not the function
    exact = build(TimeSeriesTransformer, name).double().eval()(series().double())
    close = build(TimeSeriesTransformer, name).to(dtype).eval()(series().to(dtype))
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-4, torch.bfloat16: 0.15}[dtype]
    torch.testing.assert_close(close.double(), exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["relative", "t5", "alibi", "tupe", "sinusoidal", "erpe"])
def test_long_inputs_in_bfloat16(name):
    net = build(TimeSeriesTransformer, name, length=300).to(torch.bfloat16)
    net(series(300).to(torch.bfloat16)).float().sum().backward()
    assert all(p.grad.isfinite().all() for p in net.parameters())


def test_constants_are_rounded_from_float64_and_never_from_a_coarser_type():
    position = encodings.make("sinusoidal", 16, 2, 500)
    table = torch.as_tensor(tables.sinusoidal(500, 16))
    for dtype in (torch.bfloat16, torch.float32, torch.float16, torch.float64):
        assert torch.equal(position.to(dtype).fixed, table.to(dtype))
    assert copy.deepcopy(position).fixed.dtype == torch.float64
    with torch.device("meta"):
        assert encodings.make("sinusoidal", 16, 2, 5).to(torch.float64).fixed.is_meta


@pytest.mark.parametrize("name", encodings.names())
def test_autocast(name):
    net = build(TimeSeriesTransformer, name)
    with torch.autocast("cpu", torch.bfloat16):
        logits = net(series())
    logits.float().sum().backward()
    assert logits.isfinite().all()


@pytest.mark.parametrize("name", encodings.names())
@pytest.mark.parametrize("cls", MODELS)
def test_state_dicts_go_round(name, cls, tmp_path):
    for pooling in ("mean", "cls"):
        net, other = (build(cls, name, seed, pooling=pooling) for seed in (0, 1))
        net(series())  # moves the running statistics
        torch.save(net.state_dict(), tmp_path / "state.pt")
        other.load_state_dict(torch.load(tmp_path / "state.pt"))
        assert torch.equal(net.eval()(series()), other.eval()(series()))


@pytest.mark.parametrize("name", encodings.names())
def test_a_seed_determines_everything(name):
    outputs = []
    for _ in range(2):
        net = build(TimeSeriesTransformer, name, seed=4, dropout=0.3)
        loss = net(series()).square().sum()
        loss.backward()
        outputs.append([loss, *(p.grad for p in net.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*outputs, strict=True))


@pytest.mark.parametrize("name", STOCHASTIC)
def test_stochastic_codes_are_new_in_training_and_fixed_in_evaluation(name):
    attention = SelfAttention(16, 2, encodings.make(name, 16, 2, 24, seed=7))
    x = torch.randn(2, 24, 16)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    torch.manual_seed(0)
    first = attention(x)
    torch.manual_seed(1)
    assert torch.equal(first, attention(x))
    attention.position.seed = 8
    assert not torch.equal(first, attention(x))


# -- compilation -----------------------------------------------------------------------------------


def compiled(net, **options):
    """Return the model compiled by tracer and autograd, without a code generator.

    That is the part which our code can break, and it needs no C++ compiler.
    """
    torch.compiler.reset()
    return torch.compile(net, backend="aot_eager", **options)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_compiled_training_gives_the_same_without_a_graph_break(name):
    net = build(PatchTransformer if name == "none" else TimeSeriesTransformer, name, n_layers=1)
    twin = copy.deepcopy(net.double())
    x = series().double()
    ours, theirs = compiled(net, fullgraph=True)(x), twin(x)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)
    for loss in (ours.square().sum(), theirs.square().sum()):
        loss.backward()
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", STOCHASTIC)
def test_compiled_stochastic_encodings(name):
    net = build(TimeSeriesTransformer, name, n_layers=1)
    assert compiled(net, fullgraph=True)(series()).isfinite().all()
    net.eval()
    with torch.no_grad():
        torch.testing.assert_close(compiled(net)(series()), net(series()))


# the code generator's own imports use what they deprecate
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_one_model_through_the_code_generator():
    torch.compiler.reset()
    net = build(TimeSeriesTransformer, "t5", n_layers=1).eval()
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(net)(series()), net(series()))


# -- stacked models --------------------------------------------------------------------------------


def stacked(nets):
    """Return one function of (parameters, buffers, x) that runs a whole stack of models."""
    base = copy.deepcopy(nets[0])
    return lambda parameters, buffers, x: functional_call(base, (parameters, buffers), (x,))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("name", encodings.names())
@pytest.mark.parametrize("length", [24, 300])
def test_a_stack_of_models_equals_one_after_the_other(cls, name, length):
    if length == 300 and name in STOCHASTIC:
        length = 60
    options = {"patch": 1} if cls is PatchTransformer else {}
    training = name not in STOCHASTIC
    nets = [
        build(cls, name, seed, length, n_layers=1, **options).double().train(training)
        for seed in range(2)
    ]
    x = series(length).double()
    parameters, buffers = stack_module_state(nets)
    run = vmap(stacked(nets), in_dims=(0, 0, None))
    together = run(parameters, buffers, x)
    one_by_one = torch.stack([net(x) for net in nets])
    torch.testing.assert_close(together, one_by_one, rtol=0, atol=1e-9)
    # running statistics have moved in the stack as they did in the models
    for key, value in buffers.items():
        for net, row in zip(nets, value, strict=True):
            torch.testing.assert_close(row, dict(net.named_buffers())[key], rtol=0, atol=1e-9)
    # and gradients, by backward through vmap
    together.square().sum().backward()
    one_by_one.square().sum().backward()
    for key, value in parameters.items():
        for net, row in zip(nets, value.grad, strict=True):
            torch.testing.assert_close(
                row, dict(net.named_parameters())[key].grad, rtol=0, atol=1e-9
            )


@pytest.mark.parametrize("name", encodings.names())
def test_gradients_inside_vmap(name):
    stochastic = name in STOCHASTIC
    nets = [build(TimeSeriesTransformer, name, seed).double() for seed in range(2)]
    for net in nets:
        net.train(not stochastic)
    x = series().double()
    parameters, buffers = stack_module_state(nets)
    run = stacked(nets)

    def loss(p, b, values):
        return run(p, b, values).square().sum()

    gradients, losses = vmap(grad_and_value(loss), in_dims=(0, 0, None))(parameters, buffers, x)
    for i, net in enumerate(nets):
        expected = net(x).square().sum()
        expected.backward()
        torch.testing.assert_close(losses[i], expected, rtol=0, atol=1e-9)
        for key, parameter in net.named_parameters():
            torch.testing.assert_close(gradients[key][i], parameter.grad, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", STOCHASTIC)
def test_stochastic_encodings_train_under_vmap_with_declared_randomness(name):
    nets = [build(TimeSeriesTransformer, name, seed) for seed in range(2)]
    parameters, buffers = stack_module_state(nets)
    run = stacked(nets)
    with pytest.raises(RuntimeError, match="random"):
        vmap(run, in_dims=(0, 0, None))(parameters, buffers, series())
    out = vmap(run, in_dims=(0, 0, None), randomness="different")(parameters, buffers, series())
    assert out.isfinite().all()


def test_masks_under_vmap():
    nets = [build(TimeSeriesTransformer, "relative", seed).double() for seed in range(2)]
    mask = torch.ones(5, 24, dtype=torch.bool)
    mask[1, 9:] = False
    parameters, buffers = stack_module_state(nets)
    base = copy.deepcopy(nets[0])

    def run(p, b, x, m):
        return functional_call(base, (p, b), (x, m))

    x = series().double()
    together = vmap(run, in_dims=(0, 0, None, None))(parameters, buffers, x, mask)
    torch.testing.assert_close(
        together, torch.stack([net(x, mask) for net in nets]), rtol=0, atol=1e-9
    )
