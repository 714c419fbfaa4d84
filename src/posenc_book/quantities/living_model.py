"""The models that live in the page: what a letter costs them, and how large they are."""

import math

from posenc_book.quantities import _read
from posenc_book.read import living_model as lived

PLACES = (64, 128, 256)


def _row(called, encoding, slower=1, start=0):
    return called, *(f"{lived.at(place, encoding, slower, start):.2f}" for place in PLACES)


def nats():
    """The table: the mean surprise of the sixteen letters up to each place."""
    from posenc_book.explorables.living_model import POSITIONS  # which loads torch

    rows = [_row(f"RoPE, clocks slowed by {n}", "rope", n) for n in (2, 4, 8)]
    rows = [_row("RoPE", "rope"), *rows]
    rows += [_row(POSITIONS["message"], "message")]
    rows += [_row(f"the same, clocks slowed by {n}", "message", n) for n in (2, 4)]
    rows += [
        _row("the sinusoid", "sinusoid"),
        _row("the same, from place 500 on", "sinusoid", 1, 500),
    ]
    rows += [_row("ALiBi", "alibi"), _row("no positions", "none")]
    block = lived.PLAN["block"]
    head = ("positions", *(f"letters {place - block + 1} to {place}" for place in PLACES))
    return _read.table(head, rows, numbers_from=1)


def rope():
    """Some of them in a sentence."""
    told = {f"at_{place}": lived.at(place, "rope") for place in PLACES}
    told |= {
        f"slowed_{n}_at_{place}": lived.at(place, "rope", n) for n in (2, 4) for place in PLACES
    }
    return {name: f"{value:.2f}" for name, value in told.items()}


def by_bytes():
    """By how much a mean moves at most when weights become bytes, in nats."""
    return f"{lived.largest_change_by_bytes():.3f}"


def size():
    """The weights of a model, and its script in kilobytes."""
    from posenc_book.explorables import living  # here, as only what runs a model needs torch
    from posenc_book.explorables.living_model import POSITIONS

    models = [living.untrained(name) for name in POSITIONS]
    (n_weights,) = {sum(one.numel() for one in model.parameters()) for model in models}
    scripts = [living.SCRIPTS / f"living-{name}.js" for name in POSITIONS]
    largest = max(path.stat().st_size for path in scripts)
    return {"weights": f"{n_weights:,}", "kilobytes": f"{largest / 1000:.0f}"}


def text():
    """Letters of the text, pieces that the models were read on, and what a blind guess costs."""
    from posenc_book.explorables import living

    blind = f"{math.log(len(living.LETTERS)):.1f}"
    n_letters, n_pieces = lived.PLAN["letters"], lived.PLAN["windows"]
    return {"letters": f"{n_letters:,}", "pieces": str(n_pieces), "blind": blind}


def rope_does_not_feel_a_move():
    """From place 500 on it reads as from place 0."""
    return all(
        lived.blocks(name, n) == lived.blocks(name, n, 500)
        for name in ("rope", "alibi", "none")
        for n in lived.PLAN["slower"]
    )


def slowing_by_four_mends_and_costs():
    """Four times the trained length is read as well as the trained length, which got worse."""
    home, far = (lived.at(place, "rope", 4) for place in (64, 256))
    return abs(home - far) < 0.1 and lived.at(64, "rope") < home < lived.at(256, "rope") - 1


def _rows(slower=1):
    """What a letter costs RoPE in each row of the page, of two blocks."""
    blocks = lived.blocks("rope", slower)
    return [sum(pair) / 2 for pair in zip(blocks[::2], blocks[1::2], strict=True)]


def slowing_by_four_changes_rows():
    """The first three rows pay, the fourth is about level, the last four gain."""
    change = [slowed - there for slowed, there in zip(_rows(4), _rows(), strict=True)]
    return min(change[:3]) > 0.2 and abs(change[3]) < 0.1 and max(change[4:]) < -1


def slowing_by_two_leaves_the_last_row():
    """Rows five to seven are read nearly as well as at home, and the eighth is not."""
    there, slowed = sum(_rows()[:2]) / 2, _rows(2)
    return max(slowed[:7]) < there + 0.4 and slowed[7] > there + 0.5


def alibi_reads_on():
    """ALiBi loses about as little at four times the trained length as within it."""
    return abs(lived.at(256, "alibi") - lived.at(64, "alibi")) < 0.2


def the_sinusoid_breaks():
    """Beyond the trained length, and from a place that training never showed."""
    there = lived.at(64, "sinusoid")
    return lived.at(128, "sinusoid") > there + 1 and lived.at(64, "sinusoid", 1, 500) > there + 1
