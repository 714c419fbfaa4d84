"""Kernels beside the eager attention, and a device where everything is asked."""

import pytest
import torch

from posenc import encodings
from posenc.attention import SelfAttention
from posenc.testing import Adapter, Promises, check_attention, command_line
from posenc.testing.adapters.ours import OwnAdapter
from posenc_book.teaching.gallery import Attention


class WithKernels(OwnAdapter):
    """A layer of the library with a window, and three other kernels, two of which forget."""

    def __init__(self):
        position = encodings.make("rotary", 32, 4, 64)
        super().__init__(SelfAttention(32, 4, position, causal=True, window=4))
        self.taken -= {"documents"}
        self.blind = False

    def use_kernel(self, name):
        if name == "flash":
            super().use_kernel(name)
        self.blind = name == "blind"
        self.module.window = None if name == "wide" else 4

    def windows(self):
        return [4]

    def parts(self):
        return [("the window", self.widen), ("the padding mask", self.close)]

    def widen(self):
        self.module.window = None

    def close(self):
        self.blind = True

    def outputs(self, x, **given):
        if self.blind:
            given.pop("padding", None)
        return super().outputs(x, **given)


def asked(kernels, make=WithKernels, **more):
    return check_attention(make, kernels=kernels, measure=False, **more)


def test_a_kernel_that_leaves_nothing_out_passes():
    report = asked(("sdpa", "flex"))
    assert report.passed, str(report)
    assert [one.outcome for one in report.findings if "eager" in one.name] == ["held", "held"]


@pytest.mark.parametrize(
    ("kernel", "said", "smallest"),
    [
        ("wide", "wide ignores the window", "2 rows of 5 tokens, by wide and by eager"),
        ("blind", "blind ignores the padding mask", "rows of 11 and 13 tokens, padded on the left"),
    ],
)
def test_what_a_kernel_ignores_is_named(kernel, said, smallest):
    report = asked((kernel, "sdpa"))
    assert [one.name for one in report.failures] == ["another kernel answers as eager does"]
    assert said in report.failures[0].came
    assert report.failures[0].smallest.startswith(smallest)
    assert report["sdpa answers as eager does"].outcome == "held"


def test_one_kernel_that_cannot_be_asked_is_told_and_alone_it_is_no_pass():
    report = asked(("sdpa", "flash"))
    assert report.passed
    assert report["flash answers as eager does"].outcome == "cannot"
    assert not asked("flash").passed
    told = asked("sdpa", Attention)["sdpa answers as eager does"]
    assert told.came == "it is no model of transformers, whose kernels have names"


def test_without_the_promise_no_kernel_is_asked():
    assert not [one for one in check_attention(WithKernels).findings if "eager" in one.name]


def test_a_device_that_is_not_there_is_named_before_anything_runs(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert command_line.main(["nowhere:make", "device=cuda"]) == 2
    assert "device must be one that torch finds here, cpu, got 'cuda'" in capsys.readouterr().err


def test_words_of_a_command_line_are_promises():
    said = Promises.of(dict(map(command_line.promise, ["kernels=sdpa,flex,flash", "device=cpu"])))
    assert (said.kernels, said.device) == (("sdpa", "flex", "flash"), torch.device("cpu"))
    assert "kernels" in said.made()
    assert "device" not in said.made()


class There(torch.Tensor):
    """A tensor that somebody has moved."""


def test_all_that_a_layer_is_called_with_was_moved_to_the_device(monkeypatch):
    class Looks(Attention):
        def forward(self, x, *inputs, **named):
            met.append(type(x))
            return super().forward(x.as_subclass(torch.Tensor), *inputs, **named)

    met = []
    monkeypatch.setattr(Adapter, "there", lambda _, one: one.as_subclass(There))
    check_attention(Looks, device="cpu", only="no token sees a later one")
    assert set(met) == {There}


PROMISES = {"causal": True, "cached": True, "padding": "both", "relative": True, "moves": True}


def test_a_layer_on_a_device_keeps_its_promises():
    place = "cuda" if torch.cuda.is_available() else "cpu"
    report = check_attention(lambda: Attention(), device=place, **PROMISES)
    assert report.passed, str(report)


# -- models of transformers, where the package is there --------------------------------------------

SMALL = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "max_position_embeddings": 64, "pad_token_id": 0,
}  # fmt: skip


def model(name, **more):
    tr = pytest.importorskip("transformers")
    config = getattr(tr, f"{name}Config")(**SMALL, **more)  # one for all models that are made of it
    return lambda: getattr(tr, f"{name}ForCausalLM")(config)


def forgets(name, *what):
    """Register an attention for transformers that forgets some of what it gets."""
    functions = pytest.importorskip("transformers.integrations.sdpa_attention")
    masks = pytest.importorskip("transformers.masking_utils")
    tr = pytest.importorskip("transformers")

    def attention(module, query, key, value, attention_mask, **given):
        if "mask" in what and attention_mask is not None:
            n, m = attention_mask.shape[-2:]
            attention_mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)[None, None]
        given = {word: one for word, one in given.items() if word not in what}
        return functions.sdpa_attention_forward(module, query, key, value, attention_mask, **given)

    tr.AttentionInterface.register(name, attention)
    tr.AttentionMaskInterface.register(name, masks.sdpa_mask)


def test_sdpa_and_flex_answer_as_eager_does_in_a_llama_and_flash_is_not_asked():
    report = asked(("sdpa", "flex", "flash"), model("Llama"), seconds=120)
    outcomes = {one.name: one.outcome for one in report.findings if "eager" in one.name}
    assert outcomes["sdpa answers as eager does"] == "held"
    assert outcomes["flex answers as eager does"] == "held"
    told = report["flash answers as eager does"]
    assert (told.outcome, told.came) == ("cannot", "flash is not installed: not asked")


@pytest.mark.parametrize(
    ("name", "more", "what", "said"),
    [
        ("Llama", {}, ("mask",), "ignores the padding mask"),
        ("Mistral", {"sliding_window": 6}, ("mask",), "ignores the window"),
        ("GptOss", {"num_local_experts": 2, "num_experts_per_tok": 1}, (), "ignores the sink"),
        ("Gemma2", {"attn_logit_softcapping": 2.0}, ("softcap",), "ignores the cap of scores"),
        ("Granite", {"attention_multiplier": 0.9}, ("scaling",), "ignores the scale of its own"),
    ],
)
def test_a_kernel_of_transformers_that_forgets_is_found(name, more, what, said):
    forgets("forgetful", *what)
    report = asked("forgetful", model(name, **more), seconds=120)
    (found,) = report.failures
    assert f"forgetful {said}" in found.came, str(report)


def test_a_model_whose_attention_is_its_own_cannot_be_asked():
    tr = pytest.importorskip("transformers")
    config = tr.BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4)
    told = asked("sdpa", lambda: tr.BloomForCausalLM(config))["sdpa answers as eager does"]
    assert told.came == "its attention does not go through transformers' AttentionInterface"
