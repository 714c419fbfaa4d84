"""What the Audit of the survey measures on modules: kinds, growth, outlines, schematic figures."""

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.attention import Position, SelfAttention
from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc_book.audit.survey import growth, outlines, schematics, techniques


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("none", ("None", "matrices", "Fixed")),
        ("sinusoidal", ("Absolute", "additive", "Fixed")),
        ("relative", ("Relative", "matrices", "Learnable")),
        ("conv_spe", ("Relative", "matrices", "Learnable")),
        ("tupe", ("Absolute", "matrices", "Learnable")),
        ("tpe", ("Rel+Abs", "combined", "Fixed")),
    ],
)
def test_kinds_of_encodings_are_measured(name, row):
    assert techniques.row(name) == row


def test_two_kinds_together_have_one_name():
    kinds = [techniques.kinds(encodings.make(n, 32, 1, 24)) for n in ("tupe", "t5")]
    assert techniques.named(*kinds) == "Rel+Abs"
    assert techniques.named(kinds[1]) == "Relative"


def test_work_of_an_added_table_is_one_number_for_each_entry():
    work, _ = growth.cost("sinusoidal", 64, width=32)
    assert work >= 64 * 32
    double, _ = growth.cost("sinusoidal", 128, width=32)
    assert double == 2 * work


def test_scores_of_positions_grow_with_the_square_of_the_length():
    small, large = (growth.cost("tupe", n, width=16) for n in (256, 512))
    assert 3 < large[0] / small[0] < 4.2
    assert 3 < large[1] / small[1] < 4.2


def test_products_of_a_linear_map_are_counted():
    assert growth.products(nn.Linear(8, 4), 10, width=8) == 2 * 10 * 8 * 4


def test_models_are_traced_in_the_order_of_their_steps_and_left_as_they_were():
    series = torch.randn(1, 20, 3)
    model = TimeSeriesTransformer(3, 2, 20, "sinusoidal", 16, 2, 4, 16)
    steps = outlines.trace(model, series)
    assert outlines.outline(steps) == outlines.ALGORITHM_1
    assert ("embed", "position", (1, 20, 16)) in steps
    assert outlines.trace(model, series) == steps  # no hook is left behind
    patches = PatchTransformer(3, 2, 20, "sinusoidal", 16, 2, 4, 16, patch=5)
    found = outlines.outline(outlines.trace(patches, series))
    assert outlines.contains(found, outlines.ALGORITHM_2)
    assert not outlines.contains(found, outlines.ALGORITHM_1)


def test_an_outline_is_contained_only_in_its_order():
    assert outlines.contains("abcd", "bd")
    assert not outlines.contains("abcd", "db")


@pytest.mark.parametrize(
    ("name", "doors"),
    [("none", []), ("sinusoidal", ["embed"]), ("t5", ["bias"]), ("erpe", ["mix"])],
)
def test_a_layer_taken_step_by_step_gives_its_own_output(name, doors):
    torch.manual_seed(0)
    position = Position(32, 4, 12) if name == "none" else encodings.make(name, 32, 4, 12)
    layer, x = SelfAttention(32, 4, position).eval(), torch.randn(2, 12, 32)
    steps, out = schematics.run(layer, x)
    assert torch.allclose(out, layer(x), atol=1e-5)
    assert [step.door for step in steps if step.door] == doors
    assert steps[0].shape == steps[-1].shape == (12, 32)


def test_the_drawing_names_every_step_and_its_shape():
    layer = SelfAttention(32, 4, encodings.make("sinusoidal", 32, 4, 12))
    steps, _ = schematics.run(layer, torch.randn(1, 12, 32))
    figure, ax = plt.subplots()
    schematics.draw(ax, steps, "absolute")
    texts = [text.get_text() for text in ax.texts]
    plt.close(figure)
    assert [step.does for step in steps] == [t for t in texts if t in {s.does for s in steps}]
    assert "4 × 12 × 12" in texts
    assert ax.get_title(loc="left") == "absolute" or ax.get_title() == "absolute"
