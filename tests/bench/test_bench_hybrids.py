"""Two doors at once, and T-PE's kernel by itself."""

import pytest
import torch

from posenc import encodings
from posenc.attention import Places
from posenc.testing import check_encoding
from posenc_book.bench import hybrids
from posenc_book.read.edition3.plan import ENCODINGS

SIZES = (16, 2, 12)


@pytest.mark.parametrize("cls", [hybrids.SinusoidalT5, hybrids.TAPEandERPE])
def test_hybrids_keep_the_promises_of_encodings(cls):
    check_encoding(cls).raise_for_failures()


def test_the_sinusoid_with_t5_is_both():
    torch.manual_seed(0)
    both, x = hybrids.SinusoidalT5(*SIZES), torch.randn(1, 12, 16)
    table, bias = encodings.make("sinusoidal", *SIZES), encodings.make("t5", *SIZES)
    bias.load_state_dict(both.t5.state_dict())
    q = torch.zeros(1, 2, 12, 8)
    torch.testing.assert_close(both.embed(x), table.embed(x))
    torch.testing.assert_close(both.bias(x, q, q, Places.of(x)), bias.bias(x, q, q))


def test_tape_with_erpe_is_both():
    torch.manual_seed(0)
    both, x = hybrids.TAPEandERPE(*SIZES), torch.randn(1, 12, 16)
    table, weights = encodings.make("tape", *SIZES), encodings.make("erpe", *SIZES)
    with torch.no_grad():
        both.erpe.values.normal_()
    weights.load_state_dict(both.erpe.state_dict())
    torch.testing.assert_close(both.embed(x), table.embed(x))
    torch.testing.assert_close(both.mix(x, Places.of(x)), weights.mix(x))
    assert both.mix(x, Places.of(x)).abs().max() > 0


def test_the_kernel_alone_is_blind_to_order_and_the_rest_of_tpe():
    report = check_encoding(hybrids.Kernel)
    assert "the order of tokens matters" in [one.name for one in report.failures]
    torch.manual_seed(0)
    whole, kernel = encodings.make("tpe", *SIZES), hybrids.Kernel(*SIZES)
    x = torch.randn(1, 12, 16)
    q = torch.zeros(1, 2, 12, 8)
    torch.testing.assert_close(kernel.bias(x, q, q), whole.bias(x, q, q))
    torch.testing.assert_close(kernel.embed(x), x)
    alone = encodings.make("tpe", *SIZES, **ENCODINGS["tpe, sinusoid alone"][1])
    assert alone.bias(x, q, q) is None
    torch.testing.assert_close(alone.embed(x), whole.embed(x))
