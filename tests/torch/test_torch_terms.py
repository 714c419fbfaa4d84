"""Kinds of terms: what a door declares, what follows from it, and which kernel serves."""

# ruff: noqa: ARG001 - doors and scores take all their arguments

import math
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from layers import NearbyByOffset, NearbyInTime, awake, close, close_in_gradients
from torch import nn

from posenc import encodings
from posenc.attention import (
    CrossAttention,
    Position,
    SelfAttention,
    by_offset,
    by_product,
    by_query_and_offset,
    kernels,
)
from posenc.attention.fast import beyond, blocked_attention, flash, flex
from posenc.attention.formula import formula, written_out
from posenc.attention.places import Places

TIMES = [[0.5, 1.25, 1.5, 6.0, 7.75, 10.9], [10.5, 0.1, 3.3, 2.5, 9.0, 4.0]]


class Direction(Position):
    """A score for the past, for itself and for the future."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        self.vectors = nn.Parameter(torch.randn(self.d_head, 3))

    @by_query_and_offset
    def bias(self, q):
        return q @ self.vectors


class Untied(Position):
    """A product of learned vectors."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        self.vectors = nn.Parameter(torch.randn(2, n_heads, max_length, 3))

    @by_product
    def bias(self, places):
        of_queries, of_keys = self.vectors
        return of_queries[:, places.queries[0]], of_keys[:, places.keys[0]]


KINDS = {
    "by_offset": NearbyByOffset,
    "by_query_and_offset": Direction,
    "by_product": Untied,
    "dense": NearbyInTime,
}


def layer(cls, cls_of_layer=SelfAttention, length=400, **options):
    torch.manual_seed(3)
    return awake(cls_of_layer(8, 2, cls(8, 2, length), **options))


def tokens(length=6, batch=2):
    return torch.randn(batch, length, 8, dtype=torch.float64)


# -- what a declaration is worth -------------------------------------------------------------------


@pytest.mark.parametrize("length", [6, 300])
@pytest.mark.parametrize("more", [{}, {"causal": True}, {"window": 4}, {"n_kv_heads": 1}])
@pytest.mark.filterwarnings("ignore:positions fall")
def test_both_forms_are_one_encoding(length, more):
    ours, other = layer(NearbyByOffset, **more), layer(NearbyInTime, **more)
    x = tokens(length)
    close(ours(x), other(x))
    positions = torch.rand(2, length) * 100
    close(ours(x, positions=positions), other(x, positions=positions))
    cross, twin = layer(NearbyByOffset, CrossAttention), layer(NearbyInTime, CrossAttention)
    close(cross(x, x[:, :5]), twin(x, x[:, :5]))


def test_only_whole_positions_have_a_query_and_an_offset():
    with pytest.raises(ValueError, match="positions must be whole numbers, as Direction has one"):
        layer(Direction)(tokens(), positions=TIMES)


def test_what_depends_on_positions_alone_is_known_from_its_kind():
    assert [cls.position_only for cls in KINDS.values()] == [True, False, True, False]


def test_a_plain_door_takes_the_place_of_a_declared_one():
    assert NearbyByOffset(8, 2, 5).form("bias").kind == "by_offset"
    assert NearbyInTime(8, 2, 5).form("bias") is None
    own = NearbyByOffset(8, 2, 5)
    own.bias = lambda x, q, k: None
    assert own.form("bias") is None
    assert own.term("bias", Places.of(tokens()), *[tokens()] * 3) is None


@pytest.mark.parametrize("decorator", [by_offset, by_offset(reach="n"), by_query_and_offset])
def test_other_methods_cannot_be_declared(decorator):
    with pytest.raises(ValueError, match=r"by_\w+ must decorate bias( or mix)?, got embed"):

        @decorator
        def embed(self, x):
            return x


@pytest.mark.parametrize("name", ["bias_by_offset", "mix_by_offset"])
def test_short_cuts_of_before_are_named(name):
    methods = {"bias": lambda self, x, q, k: None, name: lambda self, q: None}
    door = name.split("_")[0]
    with pytest.raises(ValueError, match=rf"Mine\.{name} is not called any more; {door} alone"):
        type("Mine", (Position,), methods)


# -- what a declared door returns -----------------------------------------------------------------


def declared(decorator, function):
    """Return a layer of 2 heads whose encoding has one declared door."""
    function.__name__ = "bias"
    return SelfAttention(8, 2, type("Mine", (Position,), {"bias": decorator(function)})(8, 2, 300))


@pytest.mark.parametrize(
    "door",
    [
        lambda self, offset: -offset.abs().float(),
        lambda self, offset: -offset.abs().float()[None, None],
        lambda self, offset: -offset.abs()[None],
        lambda self, offset: -offset.abs(),
        lambda self, offset: torch.where(offset > 0, -3, 0).expand(2, -1),
    ],
)
@pytest.mark.parametrize("length", [9, 300])
def test_lines_of_other_types_and_shapes_are_the_line(door, length):
    layer = declared(by_offset, door)
    wanted = declared(by_offset, lambda self, o: door(self, o).float().reshape(-1, len(o)))
    wanted.load_state_dict(layer.state_dict())
    x = torch.randn(1, length, 8)
    mask = torch.arange(length)[None] < length - 2
    times = torch.arange(length).flip(0)
    for call in (
        lambda layer: layer(x),
        lambda layer: layer(x, mask),
        lambda layer: layer(x, positions=times),
        lambda layer: layer.weights(x),
    ):
        close(call(layer), call(wanted), 1e-6)
        with torch.no_grad():
            close(call(layer), call(wanted), 1e-6)


@pytest.mark.parametrize("length", [9, 300])
def test_scores_common_to_heads_are_those_of_each(length):
    layer = declared(by_query_and_offset, lambda self, q: q[:, :1, :, :3])
    wanted = declared(by_query_and_offset, lambda self, q: q[:, :1, :, :3].repeat(1, 2, 1, 1))
    wanted.load_state_dict(layer.state_dict())
    x = torch.randn(2, length, 8)
    close(layer(x), wanted(x), 1e-6)


WIDTHS = torch.zeros(2, 9, 3), torch.zeros(2, 300, 4)
HEADS = torch.zeros(3, 9, 3), torch.zeros(3, 9, 3)


@pytest.mark.parametrize(
    ("decorator", "door", "message"),
    [
        (by_offset, lambda self, offset: None, "a tensor, got NoneType"),
        (by_offset, lambda self, offset: offset > 0, "numbers, .* got booleans"),
        (by_offset, lambda self, offset: offset * 1j, "real numbers, got dtype torch.complex"),
        (
            by_offset,
            lambda self, o: torch.zeros(3, len(o)),
            r"one .* \(2 or 1, \d+\), got shape \(3,",
        ),
        (by_offset, lambda self, offset: torch.zeros(2, 5), r"one number per .* \(2, 5\)"),
        (by_offset, lambda self, offset: torch.zeros(2, 1), r"one number per .* \(2, 1\)"),
        (by_offset, lambda self, offset: torch.tensor(1.0), r"one number per .* shape \(\)"),
        (by_query_and_offset, lambda self, q: q.new_zeros(*q.shape[:3], 4), "scores.* odd number"),
        (by_query_and_offset, lambda self, q: q.new_zeros(3, 1, 5), "scores for .* an odd number"),
        (by_query_and_offset, lambda self, q: None, "a tensor, got NoneType"),
        (by_product, lambda self, places: torch.zeros(2, 9, 3), "two tensors, .* got Tensor"),
        (by_product, lambda self, places: (torch.zeros(1),), "two tensors, .* got 1 things"),
        (by_product, lambda self, places: WIDTHS, r"vectors .* \(2, 9, 3\) and \(2, 300, 4\)"),
        (by_product, lambda self, places: HEADS, "vectors of one width .* with heads = 2"),
    ],
)
@pytest.mark.parametrize("length", [9, 300])
def test_what_a_declared_door_must_return_is_said_at_every_length(decorator, door, message, length):
    layer, x = declared(decorator, door), torch.randn(1, length, 8)
    for call in (layer, layer.weights):
        with pytest.raises(ValueError, match=rf"Mine\.bias must return {message}"):
            call(x)


# -- which kernel serves ---------------------------------------------------------------------------


def chosen(cls, length=300, *, learn=True, seen=None, limited=False, dropout=0.0):
    position = cls(8, 2, length).requires_grad_(learn)
    x = torch.randn(1, length, 8)
    q = torch.randn(1, 2, length, 4)
    term = position.term("bias", Places.of(x), x, q, q)
    return kernels.choose(q, term, seen, limited=limited, dropout=dropout)


def test_the_choice_of_a_kernel():
    padding = torch.ones(1, 1, 1, 300, dtype=torch.bool)
    assert {name: chosen(cls) for name, cls in KINDS.items()} == {
        "by_offset": "blocks",
        "by_query_and_offset": "blocks",
        "by_product": "joined",
        "dense": "blocks",
    }
    assert chosen(KINDS["dense"], learn=False) == "fused"
    assert chosen(NearbyByOffset, learn=False) == "strided"
    assert chosen(NearbyByOffset, learn=False, seen=padding) == "blocks"
    for cls in KINDS.values():
        assert chosen(cls, 255) == "fused"
        assert chosen(cls, dropout=0.1) == "fused"
    assert chosen(NearbyByOffset, seen=padding, limited=True) == "blocks"
    assert chosen(NearbyByOffset, seen=padding, limited=True, learn=False) == "fused"
    with torch.no_grad():
        assert chosen(KINDS["dense"]) == chosen(NearbyByOffset, limited=True) == "fused"
    assert chosen(encodings.NoPosition) == "fused"


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [40, 300])
@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("cls", KINDS.values())
def test_what_is_chosen_is_what_runs(cls, learn, length, causal, monkeypatch):
    runs, said, choose = [], [], kernels.choose
    names = {"blocked_attention": "blocks", "fused_attention": "fused"}
    for name, kernel in names.items():
        run = getattr(kernels, name)
        monkeypatch.setattr(
            kernels, name, lambda *a, run=run, kernel=kernel: (runs.append(kernel), run(*a))[1]
        )
    monkeypatch.setattr(
        kernels, "choose", lambda *a, **k: (said.append(choose(*a, **k)), said[-1])[1]
    )
    layer = SelfAttention(8, 2, cls(8, 2, length).requires_grad_(learn), causal=causal)
    layer(torch.randn(1, length, 8))
    inner = {"strided": "fused", "joined": "fused"}
    assert runs == [inner.get(said[0], said[0])]


@pytest.mark.parametrize("cls", KINDS.values())
def test_the_fast_kernels_can_be_turned_off(cls, monkeypatch):
    """As the README beside them says."""
    torch.manual_seed(0)
    layer, x = SelfAttention(8, 2, cls(8, 2, 300)).double(), torch.randn(1, 300, 8).double()

    def results():
        out = layer(x)
        return [out, *torch.autograd.grad(out.square().sum(), list(layer.parameters()))]

    assert chosen(cls) != "fused"
    fast = results()
    monkeypatch.setattr(kernels, "_LONG", math.inf)
    assert chosen(cls) == "fused"
    for one, other in zip(results(), fast, strict=True):
        close(one, other, 1e-8)


@pytest.mark.parametrize("run", [1, 2, 6])
@pytest.mark.parametrize("n_offsets", [3, 33, 121])
def test_keys_far_of_many_queries_are_served_for_all_of_them_at_once(n_offsets, run, monkeypatch):
    monkeypatch.setattr(beyond, "_RUN", run)
    torch.manual_seed(0)
    inputs = [torch.randn(1, 2, 900, 4, dtype=torch.float64) for _ in range(3)]
    inputs.append(torch.randn(1, 2, 900, n_offsets, dtype=torch.float64))
    inputs = [a.requires_grad_() for a in inputs]
    out = blocked_attention(*inputs[:3], None, inputs[3])
    expected = written_out(*inputs[:3], None, inputs[3], None)
    close_in_gradients(out, expected, inputs, 1e-10)


@pytest.mark.parametrize("n_offsets", [1, 3, 33, 401, 599, 801])
@pytest.mark.parametrize("shape", [(2, 2, 300), (1, 2, 1), (1, 1, 1)])
@pytest.mark.parametrize("served", [True, False])
def test_scores_by_offset_whether_or_not_torch_has_the_kernel(
    n_offsets, shape, served, monkeypatch
):
    torch.manual_seed(0)
    inputs = [torch.randn(2, 2, 300, 4, dtype=torch.float64) for _ in range(3)]
    inputs.append(torch.randn(*shape, n_offsets, dtype=torch.float64))
    q, k, v, values = inputs = [a.requires_grad_() for a in inputs]
    step, reach = torch.arange(300), n_offsets // 2
    index = (step - step[:, None]).clamp(-reach, reach) + reach
    matrix = values.expand(2, 2, 300, -1).gather(-1, index.expand(2, 2, -1, -1))
    expected = formula(q, k, v, matrix, 0.0, 1.0)
    if not served:
        monkeypatch.setattr(flash, "serves", lambda *_: False)
    out = blocked_attention(q, k, v, None, values)
    close_in_gradients(out, expected, inputs)


# -- FlexAttention ---------------------------------------------------------------------------------


def test_on_a_gpu_scores_by_offset_go_to_flexattention_if_there_is_one(monkeypatch):
    x = torch.randn(1, 300, 8, device="meta")  # any device that is no CPU
    q = torch.randn(1, 2, 300, 4, device="meta")
    monkeypatch.setattr(kernels, "_better_written_out", lambda *_: False)
    for cls, there, name in (
        (NearbyByOffset, True, "flex"),
        (Direction, True, "flex"),
        (NearbyInTime, True, "fused"),
        (Untied, True, "joined"),
        (NearbyByOffset, False, "fused"),
        (Direction, False, "fused"),
    ):
        monkeypatch.setattr(kernels, "flex_serves", lambda _, there=there: there)
        term = cls(8, 2, 300).to("meta").term("bias", Places.of(x), x, q, q)
        assert kernels.choose(q, term, None, limited=False, dropout=0.0) == name
        assert kernels.choose(q, term, None, limited=False, dropout=0.1) == "fused"


@pytest.mark.parametrize("shape", [(2, 3, 20, 9), (1, 3, 1, 9), (1, 1, 1, 9), (1, 3, 1, 99)])
@pytest.mark.parametrize("padded", [False, True])
def test_what_flexattention_is_told_is_the_formula(shape, padded):
    torch.manual_seed(0)
    padding = torch.rand(2, 20) < 0.7 if padded else None
    values = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    q, k, v = (torch.randn(2, 3, 20, 16, dtype=torch.float64) for _ in range(3))
    expected = written_out(q * 0.3, k, v, None, values, padding)
    where = torch.meshgrid(*(torch.arange(n) for n in (2, 3, 20, 20)), indexing="ij")
    score = flex.with_padding(flex.by_offset(values), padding)
    out = score(0.3 * q @ k.mT, *where).softmax(-1) @ v
    close_in_gradients(out, expected, [values])


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile wants a compiler")
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # the compiler's own
def test_what_was_compiled_for_one_reach_serves_another():
    torch.compiler.reset()
    for reach in (9, 20, 99):  # the compiler gives up on whole numbers that change
        q, k, v = (torch.randn(1, 2, 100 + reach, 16) for _ in range(3))
        values = torch.randn(1, 2, 1, 2 * reach + 1)
        with torch.no_grad():
            out = flex.flexible_attention(q, k, v, values, None, 0.3)
        close(out, written_out(q * 0.3, k, v, None, values, None), 1e-5)


def test_a_learned_table_is_written_out_on_a_gpu_while_its_matrix_fits(monkeypatch):
    card = SimpleNamespace(total_memory=8 * 2 * 300**2 * 4)  # an eighth is what two heads take
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: card)
    monkeypatch.setattr(kernels, "flex_serves", lambda _: True)
    x, q = torch.randn(1, 300, 8, device="meta"), torch.randn(1, 2, 300, 4, device="meta")

    def name(n_series):
        term = NearbyByOffset(8, 2, 300).to("meta").term("bias", Places.of(x), x, q, q)
        return kernels.choose(q.expand(n_series, -1, -1, -1), term, None, limited=False, dropout=0)

    assert (name(1), name(2)) == ("fused", "flex")
    with torch.no_grad():
        assert name(1) == "flex"


def test_a_tiling_that_does_not_fit_gives_way_to_a_smaller_one_and_is_not_tried_again(monkeypatch):
    tried = []

    def kernel(*, kernel_options):
        tried.append(kernel_options)
        if kernel_options is None:
            raise RuntimeError("out of resource: Required: 245760 Hardware limit:232448")
        return torch.ones(1)

    monkeypatch.setattr(flex, "_found", {})
    assert flex.fitting(kernel, "a card") == flex.fitting(kernel, "a card") == 1
    assert tried == [None, flex.TILES[1], flex.TILES[1]]
    with pytest.raises(RuntimeError, match="another"):
        flex.fitting(lambda **_: (_ for _ in ()).throw(RuntimeError("another")), "b")


def test_with_a_cache_a_gpu_is_asked_for_kernels_that_plan_nothing():
    one, many = (SimpleNamespace(device=torch.device("cuda"), shape=(1, 2, n, 8)) for n in (1, 5))
    before = torch.backends.cuda.cudnn_sdp_enabled()
    with kernels._without_plans(one, many):
        assert not torch.backends.cuda.cudnn_sdp_enabled()
        assert torch.backends.cuda.flash_sdp_enabled()
    for q, k in ((many, many), (torch.ones(1, 2, 1, 8), torch.ones(1, 2, 5, 8))):
        with kernels._without_plans(q, k):
            assert torch.backends.cuda.cudnn_sdp_enabled() == before


# -- a light import --------------------------------------------------------------------------------


def test_encodings_do_not_load_the_compiler():
    code = "import posenc.encodings, posenc.models, sys; print('torch._dynamo' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    assert run.stdout.strip() == "False"
