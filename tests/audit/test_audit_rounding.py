"""Printed figures as intervals: no value that rounds to the figure may fall outside."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from posenc_book.audit import rounding
from posenc_book.audit.rounding import Bounds, Truth, compare, printed

decimals = st.decimals(-1000, 1000, allow_nan=False, places=6)
places = st.integers(0, 4)


def test_the_last_digit_gives_the_unit():
    assert printed("0.83") == Bounds(Fraction("0.825"), Fraction("0.835"))
    assert printed("0.830") == Bounds(Fraction("0.8295"), Fraction("0.8305"))
    assert printed(" −1.5 ") == Bounds(Fraction("-1.55"), Fraction("-1.45"))
    assert printed("41 %") == Bounds(Fraction("0.405"), Fraction("0.415"))
    assert printed("63,000") == Bounds(Fraction("62999.5"), Fraction("63000.5"))
    assert printed("63,000", unit="1000") == Bounds(62500, 63500)


def test_figures_that_were_cut_off():
    assert printed("3.36", rounding="cut") == Bounds(Fraction("3.36"), Fraction("3.37"))
    assert printed("-3.36", rounding="cut") == Bounds(Fraction("-3.37"), Fraction("-3.36"))
    assert printed("3.36", rounding="either") == Bounds(Fraction("3.355"), Fraction("3.37"))
    assert printed("-0.0", rounding="cut") == Bounds(Fraction("-0.1"), 0)


@given(decimals, places, st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN]))
def test_every_value_lies_in_its_own_printed_figure(value, digits, mode):
    text = str(value.quantize(Decimal(1).scaleb(-digits), rounding=mode))
    bounds = printed(text, rounding="cut" if mode == ROUND_DOWN else "nearest")
    assert bounds.low <= Fraction(value) <= bounds.high
    assert printed(text, rounding="either").overlaps(Bounds(Fraction(value), Fraction(value)))


@pytest.mark.parametrize("text", ["", "about 5", "nan", "inf", "0,83", "1,00", 0.83, None])
def test_no_number_no_figure(text):
    with pytest.raises(ValueError, match="text must be a number as printed"):
        printed(text)


def test_bad_units_and_roundings_are_named():
    with pytest.raises(ValueError, match="rounding must be one of"):
        printed("1", rounding="up")
    with pytest.raises(ValueError, match="unit must be above 0"):
        printed("1", unit="-1")
    with pytest.raises(ValueError, match="low must not exceed high"):
        Bounds(2, 1)
    with pytest.raises(ValueError, match="low must be finite"):
        Bounds(float("nan"), 1)


@given(*[decimals] * 2, *[places] * 2)
def test_arithmetic_keeps_every_true_result(a, b, digits_a, digits_b):
    a, b = Fraction(a), Fraction(b)
    x, y = (
        printed(str(Decimal(int(v * 10**6)).scaleb(-6).quantize(Decimal(1).scaleb(-d))))
        for v, d in ((a, digits_a), (b, digits_b))
    )
    assert (x + y).overlaps(a + b)
    assert (x - y).overlaps(a - b)
    assert (x * y).overlaps(a * b)
    assert (1 - x).overlaps(1 - a)
    assert (2 * x).overlaps(2 * a)
    if not y.overlaps(0):
        assert (x / y).overlaps(a / b)
        assert (1 / y).overlaps(1 / b)


def test_arithmetic_gives_no_wider_bounds_than_it_must():
    assert printed("0.8") - printed("0.3") == Bounds(Fraction("0.4"), Fraction("0.6"))
    assert printed("2") * Bounds(-1, 1) == Bounds(Fraction("-2.5"), Fraction("2.5"))
    assert Bounds(1, 2) / Bounds(4, 8) == Bounds(Fraction(1, 8), Fraction(1, 2))
    assert rounding.mean([printed("1"), printed("2"), 3]) == Bounds(Fraction(5, 3), Fraction(7, 3))
    with pytest.raises(ValueError, match="divisor must keep away from 0"):
        1 / Bounds(-1, 1)
    with pytest.raises(ValueError, match="at least one figure"):
        rounding.mean([])


def test_more_than_five_per_cent():
    assert compare(printed("5.1 %"), ">", 0.05) is Truth.ALWAYS
    assert compare(printed("5.0 %"), ">", 0.05) is Truth.OPEN
    assert compare(printed("4.9 %"), ">", 0.05) is Truth.NEVER
    assert compare(printed("5 %"), "<", 0.05) is Truth.OPEN
    assert compare(0.05, ">", 0.05) is Truth.NEVER
    assert compare(0.05, ">=", 0.05) is Truth.ALWAYS


def test_neighbouring_printed_figures_are_in_order():
    assert compare(printed("0.84"), ">", printed("0.83")) is Truth.ALWAYS
    assert compare(printed("0.83"), ">=", printed("0.84")) is Truth.NEVER
    assert compare(printed("0.83"), ">", printed("0.83")) is Truth.OPEN
    assert compare(printed("0.06"), ">", Fraction("0.055")) is Truth.OPEN  # 0.055 may be meant


bounds = st.tuples(st.integers(-6, 6), st.integers(0, 4)).map(lambda t: Bounds(t[0], t[0] + t[1]))


@given(bounds, bounds)
def test_a_comparison_and_its_mirror_are_judged_alike(left, right):
    assert compare(left, ">", right) is compare(right, "<", left)
    assert compare(left, ">", right) is compare(-left, "<", -right)
    assert compare(left, ">", right) is ~compare(left, "<=", right)
    assert compare(left, "==", right) is compare(right, "==", left)


@given(bounds, bounds, st.sampled_from([">", "<", ">=", "<=", "=="]))
def test_always_and_never_hold_for_all_inner_values(left, right, relation):
    operators = {
        ">": Fraction.__gt__,
        "<": Fraction.__lt__,
        ">=": Fraction.__ge__,
        "<=": Fraction.__le__,
        "==": Fraction.__eq__,
    }
    inner = [Fraction(k, 7) for k in (1, 3, 6)]
    truth = compare(left, relation, right)
    results = {
        operators[relation](
            left.low + (left.high - left.low) * s, right.low + (right.high - right.low) * t
        )
        for s in inner
        for t in inner
    }
    if truth is Truth.ALWAYS:
        assert results == {True}
    if truth is Truth.NEVER:
        assert results == {False}


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="relation must be one of"):
        compare(1, "~", 2)


def test_bands_ends_included():
    assert rounding.within(printed("5.5"), 5, 6) is Truth.ALWAYS
    assert rounding.within(printed("5.0"), 5, 6) is Truth.OPEN
    assert rounding.within(printed("6.3"), 5, 6) is Truth.NEVER
    assert rounding.within(5, 5, 6) is Truth.ALWAYS


truths = st.lists(st.sampled_from(list(Truth)), max_size=6)


@given(truths)
def test_every_and_some_are_mirror_images(values):
    assert rounding.some(values) is ~rounding.every(~v for v in values)
    counted = rounding.how_many(values)
    assert (rounding.every(values) is Truth.ALWAYS) == (counted.low == len(values))
    assert (rounding.some(values) is Truth.NEVER) == (counted.high == 0)


def test_every_with_one_failure_fails_whatever_is_open():
    assert rounding.every([Truth.ALWAYS, Truth.OPEN]) is Truth.OPEN
    assert rounding.every([Truth.NEVER, Truth.OPEN]) is Truth.NEVER
    assert rounding.some([Truth.ALWAYS, Truth.OPEN]) is Truth.ALWAYS
    assert rounding.how_many([Truth.ALWAYS, Truth.OPEN, Truth.NEVER]) == Bounds(1, 2)


def test_ranks_of_printed_figures():
    found = rounding.ranks([printed("0.90"), printed("0.83"), printed("0.83"), printed("0.70")])
    assert found == [Bounds(1, 1), Bounds(2, 3), Bounds(2, 3), Bounds(4, 4)]
    assert rounding.ranks([3, 1, 1, 1]) == [Bounds(r, r) for r in (1, 3, 3, 3)]


@given(st.lists(st.integers(0, 60), min_size=2, max_size=6))
def test_ranks_of_unrounded_values_lie_within_the_bounds(values):
    found = rounding.ranks([printed(str(round(v / 10, 0))[:-2]) for v in values])
    exact = stats.rankdata(-np.array(values))
    for bounds_, rank in zip(found, exact, strict=True):
        assert bounds_.low <= rank <= bounds_.high
    assert [b.low for b in rounding.ranks(values)] == exact.tolist()
