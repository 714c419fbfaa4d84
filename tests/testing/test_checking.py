"""What the checker says of layers that keep their promises, and of those who ask wrongly."""

import copy
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from posenc import encodings
from posenc.attention import SelfAttention, rope
from posenc.frequencies import geometric
from posenc.models import LanguageModel
from posenc.testing import (
    CHECKS,
    Adapter,
    BrokenPromise,
    Promises,
    check_attention,
    command_line,
)
from posenc.testing.checks import EVERY
from posenc.testing.checks.pairs import PAIRS, why_not
from posenc_book.teaching.gallery import (
    Attention,
    CountsPadding,
    OneAhead,
    PaddingSeen,
    StartsAgain,
    TurnedTwice,
)

ROOT = Path(__file__).parents[2]


def ours(name, **options):
    position = encodings.make(name, 32, 4, 64)
    return SelfAttention(32, 4, position, causal=True, **options)


def model(name="rotary"):
    return LanguageModel(40, 32, 4, 2, position=name, max_length=24)


def turned(pairing):
    omega = geometric(16)

    def attention(q, k, v, positions):
        q, k = (rope(a, positions, omega, pairing=pairing) for a in (q, k))
        return scaled_dot_product_attention(q, k, v, is_causal=True)

    return lambda: attention


CORRECT = {
    "rotary": (
        lambda: ours("rotary", n_kv_heads=2),
        dict.fromkeys(("causal", "cached", "relative", "shared_heads", "real_times", "moves"), True)
        | {"padding": "both", "layout": "interleaved", "dtypes": "bfloat16"}
        | {"beyond": "exact", "longest": 100_000},
    ),
    "window": (lambda: ours("alibi", window=3), {"causal": True, "window": 3, "relative": True}),
    "language model": (
        model,
        {"causal": True, "cached": True, "packing": True, "padding": "both", "order": True},
    ),
    "learned table": (
        lambda: model("learnable"),
        {"causal": True, "cached": True, "given_positions": True, "beyond": "refused"},
    ),
    "pairs of numbers": (
        lambda: SelfAttention(32, 4, encodings.make("axial_rotary", 32, 4, 64)),
        {"axes": 2},
    ),
    "no encoding": (lambda: nn.MultiheadAttention(16, 2, batch_first=True), {"order": False}),
    "encoder": (
        lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2, enable_nested_tensor=False
        ),
        {"order": False, "causal": False, "padding": "both", "moves": True},
    ),
    "length first": (lambda: nn.MultiheadAttention(16, 2), {"causal": True, "padding": "right"}),
    "half": (turned("half"), {"layout": "half", "causal": True, "relative": True}),
    "interleaved": (turned("interleaved"), {"layout": "interleaved", "dtypes": "bfloat16"}),
}


@pytest.mark.parametrize("name", CORRECT)
def test_what_is_right_passes(name):
    make, promises = CORRECT[name]
    report = check_attention(make, **promises)
    assert report.passed, str(report)
    report.raise_for_failures()


def test_what_was_not_promised_is_measured_and_fails_nothing():
    report = check_attention(lambda: nn.MultiheadAttention(16, 2, batch_first=True))
    assert report.passed
    found = report["no token sees a later one"]
    assert (found.outcome, found.came[:2]) == ("measured", "no")
    assert report["positions that are handed over are read"].outcome == "cannot"


def test_a_promise_that_nobody_can_look_into_does_not_pass():
    report = check_attention(
        lambda: nn.MultiheadAttention(16, 2, batch_first=True), layout="half", measure=False
    )
    assert not report.failures
    assert report.unanswered == ("layout",)
    assert not report.passed
    with pytest.raises(BrokenPromise, match="layout"):
        report.raise_for_failures()


def test_positions_that_are_ignored_never_pass():
    class Deaf(nn.MultiheadAttention):
        def forward(self, x, positions=None):  # noqa: ARG002
            return super().forward(x, x, x)[0]

    def make():
        return Adapter(Deaf(16, 2, batch_first=True), width=16, takes=["positions"])

    report = check_attention(make, relative=True, only="moving all tokens changes nothing")
    assert report["moving all tokens changes nothing"].outcome == "ignored"
    assert not report.passed


def test_a_mask_that_is_ignored_does_not_pass_behind_a_causal_one():
    class Forgets(PaddingSeen):
        def places(self, x, positions, real, documents):
            return super().places(x, positions, torch.ones_like(real), documents)

    found = check_attention(Forgets, padding="right", measure=False)
    right = found["padding on the right changes nothing"]
    assert (right.outcome, found.failures) == ("ignored", ())


def test_what_was_promised_not_to_be_is_a_failure_if_it_is():
    make = CORRECT["length first"][0]
    assert "it is blind" not in str(check_attention(make, order=False))
    seen = check_attention(lambda: ours("rotary"), order=False, measure=False)
    assert [one.name for one in seen.failures] == ["the order of tokens matters"]
    blind = check_attention(lambda: ours("none"), causal=False, measure=False)
    assert "no token sees a later one" in [one.name for one in blind.failures]
    assert "the mask lets a token see one too many" not in str(blind)
    position = encodings.make("rotary", 32, 4, 64)
    ahead = check_attention(lambda: SelfAttention(32, 4, position), causal=False, measure=False)
    assert "✓ no token sees a later one: not so, as promised" in str(ahead)


@pytest.mark.parametrize(
    ("promises", "message"),
    [
        ({"cache": True}, "did you mean 'cached'"),
        (
            {"padding": "front"},
            "padding must be one of left, right, both, left alone, both alone, got 'front'",
        ),
        ({"dtypes": "float32"}, "dtypes must be one of bfloat16, float16"),
        ({"causal": 1}, "causal must be True or False, got 1"),
        ({"axes": 0}, "axes must be"),
        ({"only": "causal"}, "only must be one of"),
        ({"kernels": "eager"}, "kernels must be names such as sdpa, flex, flash, and not eager"),
        ({"kernels": 3}, "kernels must be names .* got 3"),
        ({"attn_implementation": "sdpa"}, "did you mean 'kernels'"),
        ({"device": "gpu"}, "device must be one that torch finds here, cpu.* got 'gpu'"),
        ({"device": 7}, "device must be one that torch finds here, cpu.* got 7"),
        ({"tolerance": -1}, "tolerance must be"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(promises, message):
    with pytest.raises(ValueError, match=message):
        check_attention(lambda: ours("rotary"), **promises)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (nn.MultiheadAttention(16, 2), "lambda: MyAttention"),
        (3, "make must be a function"),
        (lambda: 3, "make must return"),
        (lambda: nn.ReLU(), "say width=64"),
        (lambda: Adapter(print), "width or vocabulary"),
    ],
)
def test_who_hands_over_something_else_is_told_what_would_be_right(make, message):
    with pytest.raises(ValueError, match=message):
        check_attention(make)


def test_a_module_that_is_there_already_is_left_as_it_was():
    layer = ours("rotary")
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    with pytest.raises(ValueError, match="deepcopy"):
        check_attention(lambda: layer)
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())
    assert check_attention(lambda: copy.deepcopy(layer), causal=True, measure=False).passed


def test_no_check_waits_longer_than_it_should_in_other_threads_either():
    class Slow(nn.Linear):
        def forward(self, x):
            time.sleep(30)
            return x

    reports = []

    def ask():
        reports.append(check_attention(lambda: Slow(8, 8), seconds=0.3))

    for run in (ask, lambda: (t := threading.Thread(target=ask)).start() or t.join(10)):
        started = time.monotonic()
        run()
        assert time.monotonic() - started < 10
    for report in reports:
        (late,) = report.findings
        assert late.outcome == "late"
        assert late.came.startswith("no answer within 0.3 seconds; seconds=0.9, or --seconds 0.9")
        assert (report.failures, report.passed) == ((), False)
        assert "Promised, and not so" not in str(report)


def test_a_long_input_that_hangs_is_no_refusal_and_no_wait_without_a_limit():
    class HangsOnLong(nn.Linear):
        def forward(self, x):
            if x.shape[1] > 20:
                time.sleep(5)
            return super().forward(x)

    before = time.monotonic()
    name = "the same input gives the same answer after another one"
    report = check_attention(lambda: HangsOnLong(8, 8), seconds=0.3, only=name)
    assert time.monotonic() - before < 4
    assert (report[name].outcome, report.failures) == ("late", ())
    assert report.unanswered == ("stateless", "rows")
    assert not report.passed


def test_what_the_module_raises_is_a_finding_even_if_it_would_end_the_program():
    class Raises(nn.Linear):
        def forward(self, _):
            raise error

    def cannot_be_built():
        raise error

    for error in (RuntimeError("no weights"), SystemExit(3), TimeoutError("of its own")):
        for make in (lambda: Raises(8, 8), cannot_be_built):
            report = check_attention(make)
            assert report.failures[0].came.startswith(type(error).__name__)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_layer_in_half_precision_is_not_blamed_for_its_rounding(dtype):
    class Restarts(SelfAttention):
        def forward(self, x, positions=None, cache=None):
            if cache is not None and positions is None:
                positions = torch.arange(x.shape[1]).expand(x.shape[:2])
            return super().forward(x, positions=positions, cache=cache)

    promises = {"causal": True, "cached": True, "relative": True, "padding": "both"}
    report = check_attention(lambda: ours("rotary").to(dtype), **promises)
    assert report.passed, report
    cast = report["distant tokens keep their places when cast to half precision"]
    assert (cast.outcome, "build it in float32" in cast.came) == ("cannot", True)

    rotary = encodings.make("rotary", 32, 4, 64)
    wrong = check_attention(lambda: Restarts(32, 4, rotary, causal=True).to(dtype), cached=True)
    assert "one token at a time equals all at once" in [one.name for one in wrong.failures]


def test_a_hint_belongs_to_what_came():
    def hint(what):
        class Gives(nn.Linear):
            def forward(self, x):
                return what(super().forward(x))

        (broken,) = check_attention(lambda: Gives(8, 8)).failures
        return broken.hint

    assert "NaN" in hint(lambda out: out * float("nan"))
    assert "Adapter" in hint(lambda out: {"out": out})
    assert "pooled" in hint(lambda out: out.mean(1))


def test_the_callers_random_numbers_threads_and_types_stay_as_they_were():
    torch.manual_seed(1)
    state = torch.get_rng_state()
    check_attention(lambda: ours("rotary"), dtypes="bfloat16", moves=True)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()


def test_a_plain_function_of_tokens_needs_a_width():
    def blind(x):
        return x

    report = check_attention(lambda: blind, width=8)
    assert report.passed
    assert report["the order of tokens matters"].came.startswith("no")


def test_a_report_reads_like_a_note_and_is_json(capsys, tmp_path, monkeypatch):
    (tmp_path / "somelayers.py").write_text(
        "from posenc_book.teaching.gallery import Attention, OneAhead\n"
        "def right(): return Attention()\n"
        "def wrong(): return OneAhead()\n"
    )
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["somelayers:right", "causal", "cached", "padding=both"]) == 0
    assert "all that was promised holds" in capsys.readouterr().out
    assert command_line.main(["somelayers:wrong", "causal", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    broken = [one for one in told["findings"] if one["outcome"] == "broken"]
    assert "no token sees a later one" in [one["name"] for one in broken]
    assert all(one["link"].startswith("https://") for one in broken)


def test_one_line_makes_as_tests_a_suite(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        "from posenc.testing import as_tests\n"
        "from posenc_book.teaching.gallery import Attention, OneAhead\n"
        "test_right = as_tests(Attention, causal=True, relative=True)\n"
        "test_wrong = as_tests(OneAhead, causal=True)\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "test_wrong[no token sees a later one]" in run.stdout
    assert "2 failed" in run.stdout, run.stdout
    assert "test_right[no token" not in run.stdout


def test_each_check_leads_to_a_page_of_the_book():
    for check in CHECKS:
        page = check.page.partition("#")[0]
        assert list((ROOT / "book").glob(f"{page}.*")), check.page
    assert len({check.name for check in CHECKS}) == len(CHECKS)


class WrongGroupsWithCache(Attention):
    """Shared heads are repeated as a whole, where there is a cache."""

    def share(self, k):
        again = self.n_heads // k.shape[1]
        return k.repeat(1, again, 1, 1) if self.cached else super().share(k)

    def remember(self, cache, k, v, t):
        self.cached = bool(cache and "k" in cache)
        return super().remember(cache, k, v, t)


class Layer(nn.Module):
    """Attention with RoPE and a padding mask, in the words that somebody else uses."""

    def __init__(self):
        super().__init__()
        self.inner, self.dim = Attention(), 32


def test_a_class_of_pytorch_with_a_forward_of_its_own_is_asked_by_its_own_words():
    class Turned(nn.MultiheadAttention):
        def forward(self, x, positions=None):
            t = torch.arange(x.shape[1]).expand(x.shape[:2]) if positions is None else positions
            return super().forward(x + torch.sin(t[..., None]), x, x, need_weights=False)[0]

    class Own(nn.TransformerEncoderLayer):
        def forward(self, x):
            return super().forward(x + torch.arange(x.shape[1])[:, None])

    def turned():
        return Turned(16, 2, batch_first=True)

    assert check_attention(turned, given_positions=True, measure=False).passed
    assert check_attention(lambda: Own(16, 2, 8, batch_first=True), order=True).passed


@pytest.mark.parametrize("name", ["past_key_value", "past_key_values", "layer_past"])
def test_a_cache_that_comes_back_beside_the_output_is_handed_over_again(name):
    code = f"def forward(self, x, mask=None, {name}=None, use_cache=False, position_ids=None):\n"
    code += f"    return go(self, x, mask, {name}, use_cache, position_ids)\n"

    def go(self, x, mask, past, use_cache, position_ids):
        cache = dict(past) if past else {}
        out = self.inner(x, position_ids, mask, None, cache if use_cache else None)
        return (out, tuple(cache.items())) if use_cache else (out,)

    space = {"go": go}
    exec(code, space)
    made = type("Named", (Layer,), {"forward": space["forward"]})
    promises = {"cached": True, "padding": "both", "given_positions": True, "relative": True}
    report = check_attention(made, **promises, measure=False)
    assert report.passed, report
    again = check_attention(made, packing=True, measure=False)
    assert again["packed documents equal documents alone"].came == "it takes no documents"


def test_an_argument_that_nobody_knows_is_named():
    class Odd(Layer):
        def forward(self, x, attn_bias=None, use_cache=False):  # noqa: ARG002
            return self.inner(x)

    told = check_attention(Odd, padding="left")["padding on the left changes nothing"].came
    assert told.startswith("it takes no padding; it has an argument `attn_bias` that I do not know")


def test_each_two_promises_are_asked_together_or_it_is_said_why_not():
    words = [word for word in Promises.__dataclass_fields__ if word != "padding"]
    words += ["padding left", "padding right"]
    pairs = {frozenset(check.promise.split(" & ")): check for check in PAIRS}
    for one, other in itertools.combinations(words, 2):
        asked, reason = frozenset((one, other)) in pairs, why_not(one, other)
        assert bool(reason) or asked, (one, other)
        assert len(reason) > 30 or not reason
    assert len({check.name for check in EVERY}) == len(EVERY)


def test_promises_are_asked_two_at_a_time_and_a_refusal_is_told():
    report = check_attention(model, cached=True, packing=True, padding="left", measure=False)
    name = "together, a cache and {} change nothing"
    assert report[name.format("padding on the left")].outcome == "held"
    refused = report[name.format("packed documents")]
    assert refused.outcome == "cannot"
    assert "it refuses: documents must be None with a cache" in refused.came
    broken = check_attention(StartsAgain, cached=True, padding="left", measure=False)
    spoilt = broken[name.format("padding on the left")]
    assert (spoilt.outcome, spoilt.came) == ("cannot", "'cached' does not hold alone")


@pytest.mark.parametrize(
    ("made", "promises", "hint"),
    [
        (StartsAgain, {}, "counted from 0 again"),
        (TurnedTwice, {}, "turned twice"),
        (WrongGroupsWithCache, {"shared_heads": True}, "shared heads go wrong"),
    ],
)
def test_a_hint_about_a_cache_is_tried_before_it_is_given(made, promises, hint):
    report = check_attention(made, cached=True, measure=False, **promises)
    assert hint in report["one token at a time equals all at once"].hint, report


def test_of_several_failures_the_smallest_is_named_first():
    report = check_attention(OneAhead, causal=True, cached=True)
    sizes = [one.size for one in report.failures]
    assert sizes == sorted(sizes)
    assert sizes[0] == 2
    assert "Begin with the first, as the others often follow from it" in str(report)


def test_padding_that_needs_positions_says_so_and_is_not_left_alone():
    told = check_attention(CountsPadding, padding="left", measure=False)
    left = told["padding on the left changes nothing"]
    assert (left.outcome, left.came) == ("held", "0 (with positions that count the real tokens)")
    assert told.passed
    alone = check_attention(CountsPadding, padding="left alone", measure=False)
    assert left.name in [one.name for one in alone.failures]


@pytest.mark.parametrize(("window", "passes"), [(32, True), (33, False)])
def test_a_window_of_four_layers_is_found_where_little_of_a_token_is_left(window, passes):
    class Deep(nn.Module):
        d_model = 32

        def __init__(self):
            super().__init__()
            made = [encodings.make("rotary", 32, 2, 512) for _ in range(4)]
            self.layers = nn.ModuleList(
                SelfAttention(32, 2, one, causal=True, window=window) for one in made
            )
            self.norm = nn.LayerNorm(32)

        def forward(self, x):
            for layer in self.layers:
                x = x + layer(self.norm(x))
            return x

    report = check_attention(Deep, causal=True, window=32, layers=4, measure=False)
    assert report.passed == passes, str(report)
