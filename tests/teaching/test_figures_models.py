"""The trace behind the picture of the two models."""

import pytest
import torch

from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc_book.figures import time_series_transformers as figures


def test_a_trace_lists_what_passes_and_where_position_enters():
    model = TimeSeriesTransformer(2, 3, 10, figures.TakesNotes, 16, 2, 2, 24)
    steps = figures.trace(model, torch.zeros(1, 10, 2))
    names = [name for name, *_ in steps]
    assert names[:3] == ["project", "input_norm", "embed"]
    assert steps[2] == ("embed", "position", (1, 10, 16))
    assert steps[-1] == ("head", "Linear", (1, 3))
    shown = [name for name, *_ in figures.folded(steps)]
    assert [name for name in names if not name.startswith("layers.1")] == shown


def test_work_is_told_in_words_with_the_length_at_which_attention_takes_half(drawn):
    work = {"all": [4e8, 1e9, 1.1e10], "attention": [1e8, 5e8, 8.6e9], "small": [1e6, 2e6, 4e8]}
    figures.work([64, 512, 2048], work)
    alt = drawn["fig-work"][1]["alt"]
    assert "At 2048 steps: all 11 billion; attention 8.6 billion; small 400 million." in alt
    assert alt.endswith("The second line is 25% of the first at 64 steps, half at 512.")


@pytest.mark.parametrize("build", [TimeSeriesTransformer, PatchTransformer])
def test_around_each_half_of_a_layer_leads_a_residual_path(build):
    layer = build(2, 3, 16, "none", 16, 2, 1, 24).eval().layers[0]
    halves = (
        (layer.attention.out, layer.attention_norm),
        (layer.contract, layer.feed_forward_norm),
    )
    entered, left = [], []
    layer.register_forward_pre_hook(lambda _, args: entered.append(args[0]))
    layer.attention_norm.register_forward_hook(lambda _, args, out: entered.append(out))
    for last, norm in halves:
        last.register_forward_hook(lambda _, args, out: left.append(out))
        norm.register_forward_pre_hook(lambda _, args: left.append(args[0]))
    layer(torch.randn(1, 5, 16), None, None)
    for i, before in enumerate(entered):
        out, summed = left[2 * i : 2 * i + 2]
        assert torch.allclose(before + out, summed, atol=1e-6)


def test_the_picture_of_the_models_shows_their_residual_paths(drawn):
    figures.two_flows(n_steps=16)
    for ax in drawn["fig-two-flows"][0].axes:
        assert [text.get_text() for text in ax.texts].count("+") == 2
