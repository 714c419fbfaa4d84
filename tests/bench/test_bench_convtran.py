"""ConvTran's convolutions in front of our model: against torch's own, with masks, in a stack."""

import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.encodings.erpe import ERPE
from posenc.encodings.sinusoidal import TAPE
from posenc_book.bench import build, ensemble
from posenc_book.bench.convtran import N_FILTERS, WINDOW, ConvTran
from posenc_book.read.edition3 import plan
from posenc_book.records.settings import Settings

CHANNELS, CLASSES, LENGTH, WIDTH = 3, 4, 20, 64


def made(name="convtran", seed=0, **changes):
    encoding, options = plan.ENCODINGS[name]
    model = plan.MODELS.get(name, plan.MODEL)
    settings = {**plan.TRAINING["settings"], "n_layers": 1, "encoding_options": options, **changes}
    one = Settings(encoding, model, "RacketSports", seed=seed, **settings)
    return build.model(one, CHANNELS, CLASSES, LENGTH)


def series(n=5):
    return torch.randn(n, LENGTH, CHANNELS)


def test_it_is_one_block_with_the_librarys_pair():
    model, x = made(), series()
    assert isinstance(model, ConvTran)
    assert len(model.layers) == 1
    assert model(x).shape == (5, CLASSES)
    assert model.encode(x)[0].shape == (5, LENGTH, WIDTH)
    position = model.position
    assert isinstance(position, TAPE)
    assert isinstance(position.erpe, ERPE)
    assert position.erpe.values.shape == (4, 2 * LENGTH - 1)
    table = encodings.make("tape", WIDTH, 4, LENGTH)
    torch.testing.assert_close(position.rows(LENGTH), table.rows(LENGTH))
    assert not made("convtran, none").position.doors()


def test_its_rest_is_the_model_that_it_is_compared_with():
    plain, model = made("tape + erpe"), made()
    ours, theirs = ({name: p.shape for name, p in one.named_parameters()} for one in (plain, model))
    own = {name for name in theirs if name.startswith(("temporal", "spatial"))}
    assert set(theirs) - own == {n for n in ours if not n.startswith(("project", "input_norm"))}
    assert all(theirs[name] == ours[name] for name in set(theirs) - own)


def reference(model, x):
    """Return the tokens by two-dimensional convolutions, as ConvTran's program has them."""
    temporal = nn.Conv2d(1, N_FILTERS, (1, WINDOW), padding="same")
    spatial = nn.Conv2d(N_FILTERS, WIDTH, (CHANNELS, 1), padding="valid")
    with torch.no_grad():
        temporal.weight.copy_(model.temporal.weight.view(N_FILTERS, 1, 1, WINDOW))
        temporal.bias.copy_(model.temporal.bias)
        by_channel = model.spatial.weight.view(WIDTH, CHANNELS, N_FILTERS)
        spatial.weight.copy_(by_channel.transpose(1, 2).unsqueeze(-1))
        spatial.bias.copy_(model.spatial.bias)
    norms = [nn.BatchNorm2d(n) for n in (N_FILTERS, WIDTH)]
    found = nn.functional.gelu(norms[0](temporal(x.transpose(1, 2).unsqueeze(1))))
    return nn.functional.gelu(norms[1](spatial(found))).squeeze(2).transpose(1, 2)


def test_tokens_are_those_of_two_convolutions_with_batch_norm():
    torch.manual_seed(0)
    model, x = made().train(), series()
    tokens, mask = model._tokens(x, None)
    assert mask is None
    with pytest.warns(UserWarning, match="even kernel lengths"):
        torch.testing.assert_close(tokens, reference(model, x), rtol=1e-4, atol=1e-5)


def test_what_stands_at_missing_steps_changes_nothing_elsewhere():
    torch.manual_seed(0)
    model, x = made(dropout=0.0).train(), series()
    mask = torch.ones(5, LENGTH, dtype=torch.bool)
    mask[2, 12:] = False
    other = x.clone()
    other[2, 12:] = 1e4
    first, second = (model.encode(one, mask)[0] for one in (x, other))
    torch.testing.assert_close(first[mask], second[mask])
    whole = torch.ones_like(mask)
    torch.testing.assert_close(model._tokens(x, whole)[0], model._tokens(x, None)[0])


def test_a_stack_is_what_each_is_alone():
    torch.manual_seed(0)
    x = series()
    alone = [made(seed=seed).eval()(x) for seed in (1, 2)]
    group = ensemble.make([made(seed=seed) for seed in (1, 2)])
    torch.testing.assert_close(group.predict(x[None], None), torch.stack(alone))


def test_a_model_of_ones_own_must_be_derived_from_ours():
    with pytest.raises(ValueError, match="must name a class derived from TimeSeriesTransformer"):
        build.find_model("posenc.encodings.erpe:ERPE")
