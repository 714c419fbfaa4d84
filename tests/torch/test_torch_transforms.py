"""Dtypes, state, seeds, compilation, and `vmap` over stacked parameters."""

import copy

import pytest
import safetensors.torch
import torch
from layers import awake, close, close_in_gradients
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

from posenc import encodings, tables
from posenc.attention import SelfAttention
from posenc.attention.fast import blocked_attention
from posenc.models import PatchTransformer, TimeSeriesTransformer

MODELS = [TimeSeriesTransformer, PatchTransformer]
STOCHASTIC = ["sine_spe", "conv_spe"]
SIGNAL = encodings.names("signal")  # which refuse padding
DETERMINISTIC = [name for name in encodings.names("series") if name not in STOCHASTIC]
SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "dropout": 0.0}


def build(cls, name, seed=0, length=24, **options):
    torch.manual_seed(seed)
    return cls(3, 4, length, name, **{**SMALL, **options})


def series(length=24):
    return torch.randn(5, length, 3, generator=torch.Generator().manual_seed(3))


def declared_wide(net):
    """Return the names of constants from which something is yet to be computed."""
    return {
        f"{path}.{name}"
        for path, module in net.named_modules()
        for name, (_, wide) in getattr(module, "_exact", {}).items()
        if wide
    }


CONSTANTS = {"alibi": "slopes", "rotary": "cos", "sinusoidal": "fixed", "dywpe": "scaling"}


@pytest.mark.parametrize("how", ["copied", "in place", "replaced"])
@pytest.mark.parametrize(("name", "constant"), CONSTANTS.items())
def test_what_somebody_writes_into_a_constant_stays(name, constant, how):
    position = encodings.make(name, 16, 4, 8)
    exact = getattr(position, constant)
    own = torch.randint(1, 9, exact.shape) / 4
    if how == "copied":
        exact.copy_(own)
    elif how == "in place":
        exact.data[...] = own
    else:
        setattr(position, constant, own)
    for move in ("half", "double", "float", "bfloat16"):
        getattr(position, move)()
        assert torch.equal(getattr(position, constant).float(), own)
    moved = copy.deepcopy(position).to("meta").to_empty(device="cpu").double()
    assert torch.equal(getattr(moved, constant), own.double())


@pytest.mark.parametrize("name", ["rotary", "xpos", "sinusoidal", "tape"])
def test_frequencies_of_which_tables_were_made_cannot_be_exchanged(name):
    position = encodings.make(name, 16, 4, 8)
    with pytest.raises(ValueError, match="has made its tables of; make another"):
        position.omega = position.omega / 2


@pytest.mark.parametrize("name", encodings.names("series"))
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_everything_follows_the_module_dtype(name, dtype):
    net = build(TimeSeriesTransformer, name).to(dtype)
    wide = declared_wide(net)
    for key, values in (*net.named_parameters(), *net.named_buffers()):
        # what angles and distances are computed from stays in float32 at least
        follows = torch.promote_types(dtype, torch.float32) if key in wide else dtype
        assert values.dtype in (follows, torch.int64), key
    logits = net(series().to(dtype))
    assert logits.dtype == dtype
    logits.float().square().sum().backward()
    assert all(p.grad.isfinite().all() for p in net.parameters())
    # a lower precision changes the numbers, not the function
    exact = build(TimeSeriesTransformer, name).double().eval()(series().double())
    rounded = build(TimeSeriesTransformer, name).to(dtype).eval()(series().to(dtype))
    close(rounded.double(), exact, {torch.float64: 1e-12, torch.bfloat16: 0.15}[dtype])


HALF = [torch.bfloat16, torch.float16]


@pytest.mark.parametrize("name", STOCHASTIC)
@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("autocast", [False, True])
def test_stochastic_codes_in_half_types(name, dtype, autocast):
    position = encodings.make(name, 16, 2, 1000, gated=True).to(dtype).eval()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        ours, kernel = position.codes(600), position.kernel(300)
    full = copy.deepcopy(position).double()
    for a, b in zip((*ours, kernel), (*full.codes(600), full.kernel(300)), strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("length", [300, 600])
@pytest.mark.parametrize("autocast", [False, True])
def test_rotary_in_half_types_rounds_once(pairing, dtype, length, autocast):
    """Beyond `max_length` too; under autocast the module is in float32 and its input is not."""
    position = encodings.make("rotary", 16, 2, 300, pairing=pairing)
    position = position if autocast else position.to(dtype)
    q, k = torch.randn(2, 2, 2, length, 8).to(dtype)
    full = copy.deepcopy(position).double()
    for ours, exact in zip(position.rotate(q, k), full.rotate(q.double(), k.double()), strict=True):
        assert ours.dtype == dtype
        half_a_unit = torch.finfo(dtype).eps / 2
        assert ((ours.double() - exact).abs() <= 1.001 * half_a_unit * exact.abs() + 1e-4).all()


@pytest.mark.parametrize("dtype", HALF)
def test_alibi_in_half_types_knows_every_distance(dtype):
    position = encodings.make("alibi", 24, 6, 10).to(dtype)
    x = torch.zeros(1, 600, 24, dtype=dtype)
    bias, exact = position.bias(x, x, x), copy.deepcopy(position).double().bias(x, x, x)
    torch.testing.assert_close(bias.double(), exact, rtol=1e-6, atol=0)


# CoPE apart: its slope jumps where a count passes a whole number, so rounding a token changes it
@pytest.mark.parametrize("name", [name for name in encodings.names("series") if name != "cope"])
def test_bfloat16_loses_no_precision_where_blocks_begin(name):
    errors = {}
    for length in (250, 300):
        torch.manual_seed(0)
        whole = SelfAttention(32, 4, encodings.make(name, 32, 4, length))
        half = awake(whole, 0.1, torch.float32).bfloat16()
        x, cotangent = torch.randn(2, 4, length, 32).bfloat16()
        results = []
        for attention in (half, copy.deepcopy(half).double()):
            parameters = list(attention.parameters())
            dtype = parameters[0].dtype
            out = attention(x.to(dtype))
            results.append([out, *torch.autograd.grad(out, parameters, cotangent.to(dtype))])
        errors[length] = [
            ((a - b).norm() / b.norm()).item() for a, b in zip(*results, strict=True) if b.any()
        ]
    unit = torch.finfo(torch.bfloat16).eps
    assert max(errors[300]) < 2 * unit
    assert all(b < 2 * max(a, unit / 2) for a, b in zip(*errors.values(), strict=True))


@pytest.mark.parametrize("autocast", [False, True])
def test_long_attention_under_autocast_computes_in_float32(autocast):
    """Backward inside the region as well as outside."""
    torch.manual_seed(0)
    attention = SelfAttention(32, 4, encodings.make("relative", 32, 4, 300))
    x = torch.randn(2, 300, 32)
    with torch.autocast("cpu", torch.bfloat16):
        q, k, v = (a.detach().requires_grad_() for a in attention._project(x))
        short = torch.randn(2, 4, 300, 7, requires_grad=True)
        out = blocked_attention(q, k, v, None, short)
    wide = [a.detach().double().requires_grad_() for a in (q, k, v, short)]
    exact = blocked_attention(*wide[:3], None, wide[3])
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        out.float().square().sum().backward()
    (2 * out.detach().double() * exact).sum().backward()
    assert out.dtype == torch.bfloat16
    for ours, theirs in zip((q, k, v, short), wide, strict=True):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, rtol=2**-7, atol=1e-3)


def test_constants_are_rounded_from_float64_and_never_from_a_coarser_type():
    position = encodings.make("sinusoidal", 16, 2, 500)
    table = torch.as_tensor(tables.sinusoidal(500, 16))
    for dtype in (torch.bfloat16, torch.float32, torch.float16, torch.float64):
        assert torch.equal(position.to(dtype).fixed, table.to(dtype))
    assert copy.deepcopy(position).fixed.dtype == torch.float64
    with torch.device("meta"):
        assert encodings.make("sinusoidal", 16, 2, 5).to(torch.float64).fixed.is_meta


@pytest.mark.parametrize("name", encodings.names("series"))
def test_autocast(name):
    net = build(TimeSeriesTransformer, name)
    with torch.autocast("cpu", torch.bfloat16):
        logits = net(series())
    logits.float().sum().backward()
    assert logits.isfinite().all()


@pytest.mark.parametrize("name", encodings.names("series"))
def test_safetensors_store_a_shared_encoding_once(name, tmp_path):
    for shared in (None, True, False):
        options = {"n_layers": 3, "pooling": "cls", "share_position": shared}
        net, other, third = (build(MODELS[0], name, seed, **options) for seed in range(3))
        net(series())  # moves the running statistics
        state = net.state_dict()
        buffers = {key for key, _ in net.named_buffers()}
        assert {k for k in state if k not in buffers} == {k for k, _ in net.named_parameters()}
        safetensors.torch.save_file(state, tmp_path / "state.safetensors")
        other.load_state_dict(safetensors.torch.load_file(tmp_path / "state.safetensors"))
        safetensors.torch.save_model(net, tmp_path / "model.safetensors")
        safetensors.torch.load_model(third, tmp_path / "model.safetensors")
        expected = net.eval()(series())
        assert torch.equal(expected, other.eval()(series()))
        assert torch.equal(expected, third.eval()(series()))


def test_checkpoints_that_repeat_a_shared_encoding_are_loaded():
    """Inside a larger model, too."""
    nets = [torch.nn.Sequential(build(TimeSeriesTransformer, "tupe", seed)) for seed in range(2)]
    state = nets[0].state_dict()
    first, second = (f"0.layers.{i}.attention.position" for i in (0, 1))
    shared = {key.replace(first, second): state[key] for key in state if first in key}
    assert len(shared) == 3
    assert not shared.keys() & state.keys()
    nets[1].load_state_dict(state | shared)
    assert torch.equal(*(net.eval()(series()) for net in nets))
    missing = {key: value for key, value in state.items() if key != f"{first}.vectors"}
    with pytest.raises(RuntimeError, match=r"Missing key.*position.vectors"):
        nets[1].load_state_dict(missing)


@pytest.mark.parametrize(
    ("name", "cls", "dtype"),
    [
        *((name, TimeSeriesTransformer, torch.bfloat16) for name in encodings.names("series")),
        ("rotary", PatchTransformer, torch.float64),
    ],
)
def test_models_on_meta_are_filled_by_assignment(name, cls, dtype):
    net = build(cls, name).to(dtype)
    with torch.device("meta"):
        empty = build(cls, name, seed=1)
    empty.load_state_dict(net.state_dict(), assign=True)
    for key, values in (*empty.named_parameters(), *empty.named_buffers()):
        assert not values.is_meta, key
        assert values.dtype == dict([*net.named_parameters(), *net.named_buffers()])[key].dtype
    x = series().to(dtype)
    assert torch.equal(empty.eval()(x), net.eval()(x))
    with torch.device("meta"):
        other = build(cls, name, seed=1).to(dtype)
    other.to_empty(device="cpu").load_state_dict(net.state_dict())
    assert torch.equal(other.eval()(x), net.eval()(x))


def test_constants_stay_on_meta_where_nothing_is_assigned():
    with torch.device("meta"):
        empty = encodings.make("rotary", 16, 2, 24)
    empty.load_state_dict({})
    assert all(one.is_meta for one in empty.buffers())


def test_constants_go_where_the_parameters_of_a_layer_are():
    position = encodings.make("alibi", 16, 2, 24)
    with torch.device("meta"):
        empty = encodings.make("alibi", 16, 2, 24)
    empty.load_state_dict({}, assign=True)
    assert empty.slopes.dtype == torch.float32
    # a layer around it knows better, once
    empty.leave_meta(torch.zeros(1, dtype=torch.float64))
    assert torch.equal(empty.slopes, position.double().slopes)
    empty.leave_meta(torch.zeros(1))
    assert empty.slopes.dtype == torch.float64


@pytest.mark.parametrize("name", encodings.names("series"))
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


def compiled(net, backend="aot_eager", **options):
    """Return the model compiled by tracer and autograd, without a code generator.

    That is the part which our code can break, and it needs no C++ compiler.
    """
    torch.compiler.reset()
    return torch.compile(net, backend=backend, **options)


# One of each kind of term, with and without parameters of its own, with its gradients.
COMPILED = ["rotary", "t5", "relative", "cope"]
ALIKE = ["none", "learnable", "alibi", "tupe", "erpe"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name in DETERMINISTIC if name not in [*COMPILED, *ALIKE]]
)
def test_models_are_traced_without_a_graph_break(name):
    net = build(TimeSeriesTransformer, name, n_layers=1)
    traced = compiled(net.double(), backend="eager", fullgraph=True)
    torch.testing.assert_close(traced(series().double()), net(series().double()))


@pytest.mark.parametrize(
    "name", [*COMPILED, *(pytest.param(name, marks=pytest.mark.slow) for name in ALIKE)]
)
def test_compiled_training_gives_the_same_without_a_graph_break(name):
    net = build(PatchTransformer if name == "none" else TimeSeriesTransformer, name, n_layers=1)
    x = series().double()
    close_in_gradients(compiled(net.double(), fullgraph=True)(x), net(x), net.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("name", STOCHASTIC)
def test_compiled_stochastic_encodings(name):
    net = build(TimeSeriesTransformer, name, n_layers=1)
    assert compiled(net, fullgraph=True)(series()).isfinite().all()
    net.eval()
    with torch.no_grad():
        torch.testing.assert_close(compiled(net)(series()), net(series()))


# the code generator's own imports use what they deprecate
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_one_model_through_the_code_generator():
    torch.compiler.reset()
    net = build(TimeSeriesTransformer, "t5", n_layers=1).eval()
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(net)(series()), net(series()))


# -- traced graphs, whose check runs the module again without gradients ----------------------------

TRACED = [(name, 5) for name in encodings.names("series")]
TRACED += [(name, 300) for name in ("rotary", "t5", "relative", "erpe", "tpe")]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize(("name", "length"), TRACED)
def test_attention_is_traced_and_stored(name, length, tmp_path):
    attention = SelfAttention(24, 2, encodings.make(name, 24, 2, 400)).eval()
    x, other = torch.randn(2, length, 24), torch.randn(3, length, 24)
    torch.jit.trace(attention, x).save(tmp_path / "layer.pt")
    close(torch.jit.load(tmp_path / "layer.pt")(other), attention(other), 1e-5)


# -- exported programs -----------------------------------------------------------------------------


def exported(module, *inputs, smallest, largest):
    """Return the program for every length between two, exported at another one."""
    length = torch.export.Dim("length", min=smallest, max=largest)
    with torch.no_grad():
        shapes = tuple({1: length} for _ in inputs)
        return torch.export.export(module, inputs, dynamic_shapes=(shapes,)).module()


class Layer(torch.nn.Module):
    """Attention with its arguments in one tuple, so that shapes can be given for all of them."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, *inputs):
        return self.attention(*inputs)


# DyWPE apart: its lengths halve from scale to scale, and whether they are odd decides what is done
MASKED = [(name, True) for name in encodings.names("series") if name != "dywpe"]
# One of each kind of term, as without a mask other kernels serve long inputs.
EXPORTED = [(name, False) for name in ("none", "t5", "relative", "tupe", "conv_spe")]
EXPORTED += [pytest.param(*one, marks=pytest.mark.slow) for one in MASKED]


@pytest.mark.parametrize(("name", "masked"), EXPORTED)
def test_attention_is_exported_for_every_length(name, masked):
    torch.manual_seed(0)
    attention = SelfAttention(16, 2, encodings.make(name, 16, 2, 400)).eval()
    masked = masked and name not in SIGNAL

    def inputs(length):
        x = torch.randn(2, length, 16)
        return (x, torch.rand(2, length) > 0.3) if masked else (x,)

    program = exported(Layer(attention), *inputs(24), smallest=2, largest=400)
    for length in (2, 17, 33, 300, 400):
        x, *mask = inputs(length)
        close(program(x, *mask), attention(x, **dict(zip(["padding"], mask, strict=False))), 1e-5)


@pytest.mark.parametrize("name", ["t5", "tupe", "conv_spe"])
def test_models_are_exported_for_every_length(name):
    net = build(TimeSeriesTransformer, name, length=300).eval()
    program = exported(Layer(net), series(), smallest=2, largest=300)
    for length in (2, 33, 270):
        x = series(length)
        close(program(x), net(x), 1e-5)


def test_models_of_patches_are_exported_for_every_number_of_whole_patches():
    net = PatchTransformer(1, 2, 240, "t5", 16, 2, 1, 16, patch=8).eval()
    lengths = {1: 8 * torch.export.Dim("n_patches", min=2, max=30)}
    with torch.no_grad():
        x = torch.randn(2, 40, 1)
        program = torch.export.export(net, (x,), dynamic_shapes=(lengths,)).module()
        for length in (16, 96, 240):
            x = torch.randn(2, length, 1)
            close(program(x), net(x), 1e-5)


# -- stacked models --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cls", "length"),
    [
        *((name, TimeSeriesTransformer, 300) for name in encodings.names("series")),
        ("rotary", PatchTransformer, 24),
        ("relative", PatchTransformer, 24),
    ],
)
def test_a_stack_of_models_equals_one_after_the_other(name, cls, length):
    if length == 300 and name in STOCHASTIC:
        length = 60
    training = name not in STOCHASTIC
    nets = [
        build(cls, name, seed, length, n_layers=1).double().train(training) for seed in range(2)
    ]
    x = series(length).double()
    parameters, buffers = stack_module_state(nets)
    base = copy.deepcopy(nets[0])
    together = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(parameters, buffers)
    one_by_one = torch.stack([net(x) for net in nets])
    close(together, one_by_one)
    # running statistics have moved in the stack as they did in the models
    for key, value in buffers.items():
        for net, row in zip(nets, value, strict=True):
            close(row, dict(net.named_buffers())[key])
    # and gradients, by backward through vmap
    together.square().sum().backward()
    one_by_one.square().sum().backward()
    for key, value in parameters.items():
        for net, row in zip(nets, value.grad, strict=True):
            close(row, dict(net.named_parameters())[key].grad)


@pytest.mark.parametrize("name", encodings.names("series"))
def test_gradients_inside_vmap_beside_a_mask(name):
    nets = [build(TimeSeriesTransformer, name, seed).double() for seed in range(2)]
    for net in nets:
        net.train(name not in STOCHASTIC)
    x, mask = series().double(), torch.arange(24) < torch.tensor([[24], [9], [24], [24], [24]])
    mask = None if name in SIGNAL else mask
    parameters, buffers = stack_module_state(nets)
    base = copy.deepcopy(nets[0])

    def loss(p, b):
        return functional_call(base, (p, b), (x, mask)).square().sum()

    gradients, losses = vmap(grad_and_value(loss))(parameters, buffers)
    for i, net in enumerate(nets):
        expected = net(x, mask).square().sum()
        expected.backward()
        close(losses[i], expected)
        for key, parameter in net.named_parameters():
            close(gradients[key][i], parameter.grad)


@pytest.mark.parametrize("name", STOCHASTIC)
def test_stochastic_encodings_train_under_vmap_with_declared_randomness(name):
    nets = [build(TimeSeriesTransformer, name, seed) for seed in range(2)]
    parameters, buffers = stack_module_state(nets)
    base, x = copy.deepcopy(nets[0]), series()

    def run(p, b):
        return functional_call(base, (p, b), (x,))

    with pytest.raises(RuntimeError, match="random"):
        vmap(run)(parameters, buffers)
    out = vmap(run, randomness="different")(parameters, buffers)
    assert out.isfinite().all()


def test_whole_offsets_are_not_rounded_in_a_program_of_t5():
    """ONNX has no rounding of integers, and its runtime refuses a graph with one."""
    quiet = SelfAttention(16, 2, encodings.make("t5", 16, 2, 12)).eval().requires_grad_(False)
    length = torch.export.Dim("n", min=2, max=12)
    program = torch.export.export(quiet, (torch.randn(2, 9, 16),), dynamic_shapes=({1: length},))
    assert "round" not in str(program.graph)
