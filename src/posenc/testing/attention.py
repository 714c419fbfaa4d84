"""`check_attention`: every check, asked of one layer or model."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from posenc import _checks
from posenc.testing.adapters import Adapter, UseError, adapt
from posenc.testing.asking import Asked, Check, within
from posenc.testing.checks import CHECKS, EVERY
from posenc.testing.promises import Promises
from posenc.testing.report import Finding, Report


def check_attention(
    make: Callable[[], Any],
    *,
    like: Any = None,
    layer: int = 0,
    width: int | None = None,
    vocabulary: int | None = None,
    tolerance: float | None = None,
    seconds: float = 20.0,
    seed: int = 0,
    only: str | None = None,
    measure: bool = True,
    **promises: Any,
) -> Report:
    """Ask a layer or a model whether it treats positions as it promises.

    What was not promised is measured and fails nothing. What cannot be asked from outside is said,
    and a promise that no check could look into does not pass.

    Parameters
    ----------
    make : callable
        Builds what is asked, without arguments: a `torch.nn.Module`, a function of (q, k, v), or an
        `Adapter`. It is called again and again, each time with the same seed, because a layer that
        remembers would spoil the next answer.
    like : mapping, path, str or Description, optional
        The configuration that it must equal, as `posenc.register.read` takes it: the layer with
        that number, or from that one on all layers of a model. What differs is named, with the
        value that it seems to use.
    layer : int
        Which layer of that configuration it is, from 0.
    width, vocabulary : int, optional
        What a token is, where the module does not tell: a vector of `width` numbers, or an integer
        below `vocabulary`.
    tolerance : float, optional
        Largest difference that is rounding, as a share of the output's own size. By default 0.001,
        or eight roundings of the type of the weights where these are more: 0.0625 in bfloat16.
    seconds : float
        After this long, a check that has no answer yet ends. That is no broken promise, and no
        pass.
    seed : int
        Of the weights.
    only : str, optional
        The name of one check, to ask nothing else.
    measure : bool
        Whether to ask what was not promised, too.
    **promises
        What it promises; `Promises` says which words there are.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If `make` is no function, a promise is none that one can make here, or the configuration
        cannot be read. What the module does wrong, errors included, is a finding and never raised.

    Notes
    -----
    A module of your own is asked by the names of its arguments: `positions` or `position_ids`,
    `padding`, `attention_mask` or `mask` (True is real) or `key_padding_mask` (True is padded),
    `documents`, `cache`. A cache is what its method `new_cache()` returns, or else an empty dict
    that it fills; one called `past_key_value`, `past_key_values` or `layer_past` is None at first,
    and then what comes back beside the output. With a cache, a mask may be that of the new tokens
    or of all so far: a layer that is right with one of the two is right. Methods `weights(x,
    positions=None)`, `queries_and_keys(x, positions)` and `with_repeated_heads()`, if it has them,
    let checks look inside. For other names, write an `Adapter`.

    With `like`, products of queries and keys, the softmax and PyTorch's fused kernel are heard
    while the module runs, whoever wrote it, and answered with zeros, so that one token again and
    again stays that in every layer. What is computed otherwise is not heard: then methods
    `queries_and_keys` and `weights` serve, and what they do not show does not pass. A function of
    (q, k, v) gets as many and as wide heads as the configuration says.

    `like` looks at positions, and at which heads share a key. It does not look at values, nor at
    norms of queries and keys that stand before the rotation.

    Once each promise holds alone, they are asked two at a time, such as a cache with padding; a
    pair that cannot be asked is told with the reason.

    Weights are enlarged before they are asked, as those of a fresh model are so small that a fault
    of 0.68 looks like 0.0013.

    Source: checks of one's own; pages of the book say what each is about.

    Examples
    --------
    >>> from torch import nn
    >>> report = check_attention(lambda: nn.MultiheadAttention(16, 2, batch_first=True), order=True)
    >>> report.passed
    False
    >>> [one.name for one in report.failures]
    ['the order of tokens matters']
    """
    said = Promises.of({"like": like, "layer": layer} | promises)
    if isinstance(make, nn.Module) or not callable(make):
        raise ValueError(
            "make must be a function without arguments that builds the layer, so that it can be "
            f"built anew for each question; `lambda: MyAttention(64, 4)` is one. Got {make!r:.80}"
        )
    if only is not None:
        _checks.choice("only", only, [one.name for one in EVERY])
    if tolerance is not None:
        _checks.positive("tolerance", tolerance)
    _checks.positive("seconds", seconds)

    def adapted() -> Adapter:
        causal = bool(said.causal)
        return adapt(make(), width=width, vocabulary=vocabulary, causal=causal)

    with torch.random.fork_rng(devices=[]):
        rounding, name = _first_look(make, adapted, seconds)
        asked = Asked(adapted, said, tolerance or rounding, seed)
        chosen = [one for one in EVERY if only in (None, one.name) and one.is_asked(said, measure)]
        found: list[Finding] = []
        for one in chosen:
            found.append(_unless_spoilt(one, asked, found) or one.run(asked, seconds))
            # nothing can be learned from what does not answer, or not twice alike
            if one in CHECKS[:2] and found[-1].outcome in ("broken", "late"):
                return Report(name, tuple(found), said.made(), cut_short=True)
        return Report(name, tuple(found), said.made())


def _unless_spoilt(check: Check, asked: Asked, found: list[Finding]) -> Finding | None:
    """Return that two promises were not asked together, where one does not hold alone."""
    two = check.promise.split(" & ")
    needed = {one.partition(" ")[0] for one in two} | {"rows", "stateless", "causal"}
    failed = [one.promise for one in found if one.outcome in ("broken", "late")]
    spoilt = [word for word in failed if word in needed]
    if len(two) < 2 or not spoilt:
        return None
    return check.not_asked(asked, f"{spoilt[0]!r} does not hold alone")


def _first_look(
    make: Callable[[], Any], adapted: Callable[[], Adapter], seconds: float
) -> tuple[float, str]:
    """Return the largest difference that is rounding, and the name; the usual if it fails."""

    def look() -> tuple[float, str]:
        _check_made_anew(make)
        subject = adapted()
        return max(1e-3, 8 * torch.finfo(subject.dtype).eps), subject.name

    try:
        return within(seconds, look)
    except (UseError, KeyboardInterrupt):
        raise
    except BaseException:  # that will be the first finding
        return 1e-3, getattr(make, "__name__", "the module")


def _check_made_anew(make: Callable[[], Any]) -> None:
    """Raise UseError if the same module comes back twice, as checks cast and move what they get."""
    one, other = (getattr(made, "module", made) for made in (make(), make()))
    if isinstance(one, nn.Module) and one is other:
        raise UseError(
            "make must build a new module at each call, as checks change what they get; it "
            f"returned the same {type(one).__name__} twice. For a module that is there already, "
            "`lambda: copy.deepcopy(module)` would do"
        )
