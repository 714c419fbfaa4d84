"""Every bias of the library as FlexAttention takes it, for an attention that is not of it."""

from numpy.typing import ArrayLike
from torch import Tensor

from posenc import _checks
from posenc.attention.places import Places, Steps, check_countable, given_steps
from posenc.attention.position import Position, depth
from posenc.attention.score_mods import ScoreMod, by_line, by_offset, by_table


def score_mod(
    position: Position,
    q: Tensor,
    k: Tensor,
    x: Tensor | None = None,
    *,
    causal: bool = False,
    positions: Tensor | ArrayLike | None = None,
) -> ScoreMod:
    """Return the function that adds an encoding's bias to a score, for FlexAttention.

    For one's own attention: `flex_attention(q, k, v, score_mod=score_mod(position, q, k))`. Make it
    in every forward pass, so that it holds the weights of now and gradients reach them.

    Parameters
    ----------
    position : Position
        An encoding with a bias: ALiBi, T5, KERPLE, FIRE, Shaw's keys, TUPE, DeBERTa, CoPE, FoX,
        PaTH, TPE, Swin, distance profiles, or one of your own.
    q : (batch, heads, n_queries, d_head)
        Queries; of an encoding that has the door `rotate` as well, such as TUPE and DeBERTa, as
        they come from `position.rotate(q, k)`.
    k : (batch, heads, n_keys, d_head)
        Keys, likewise, with fewer heads where groups of query heads share them. In decoding there
        are fewer queries than keys, and the queries are the last tokens.
    x : (batch, n_keys, d_model), optional
        The tokens from which the keys are made, for encodings that look at what tokens hold:
        DeBERTa, CoPE, FoX, PaTH, TPE, distance profiles, and biases of your own that do not say
        what they depend on.
    causal : bool
        Whether the attention lets no query see a later key; it must, where queries are fewer than
        keys. Some encodings do other things then, such as T5, or less. The function itself hides
        nothing, as FlexAttention has its `block_mask` for that.
    positions : (n_keys,) or (batch, n_keys), optional
        Where tokens stand, in integers or real numbers, for encodings of several axes with a last
        axis more. By default they count 0, 1, 2, ...

    Returns
    -------
    function
        Of a score and the numbers of its row of the batch, head, query and key, to the score with
        the bias: `score_mod` of `torch.nn.attention.flex_attention.flex_attention`. A causal ALiBi
        may differ from its layer's scores by a constant of each row, which the softmax does not
        see.

    Raises
    ------
    ValueError
        If the encoding has no bias, such as RoPE, or needs `x` or `positions` to have one; if
        shapes do not fit it, queries are more than keys, or fewer and the attention not causal.

    Notes
    -----
    What is read beside the scores is as short as the encoding allows. ALiBi reads its slopes and no
    table: in a causal attention it adds the slope times the number of the key. T5 and KERPLE read
    one number for each offset, and so does FIRE as long as all queries stand below its threshold.
    Shaw's keys and distance profiles read one number for each query and clipped offset. All else,
    products such as TUPE's, given positions and single queries included, reads a matrix of queries
    and keys.

    Numbers of keys are large where texts are long: with slope 1/2, scores around key 100,000 are
    rounded to steps of 0.004 in float32. In training, `causal=False` lets ALiBi go by distance
    instead, which is exact close to the query, and the outputs are the same behind the same mask.

    Source: Dong et al. (2024), Flex Attention, for the function; the papers of the
    encodings for what it adds.

    Examples
    --------
    >>> import torch
    >>> from posenc import encodings
    >>> q, k = torch.randn(2, 1, 2, 9, 16)  # each (batch, heads, length, d_head)
    >>> t5 = encodings.make("t5", 32, 2, 9)
    >>> added = score_mod(t5, q, k)
    >>> bias = t5.bias(torch.zeros(1, 9, 32), q, k)
    >>> bool(added(0.0, 0, 1, 5, 3) == bias[1, 5, 3])  # head 1, query 5, key 3
    True
    """
    _check_bias(position)
    _check_heads(position, q, k)
    places = _places(position, q, k, _checks.flag("causal", causal), positions)
    own = _own(position, places)
    if own is not None:
        return own
    form = position.form("bias")
    kind = form.kind if form is not None and places.counted else "dense"
    if form is not None and kind == "by_offset":
        return by_line(form.line(position, places), q.shape[2])
    if form is not None and kind == "by_query_and_offset" and q.shape[2] > 1:
        asking = _tokens(position, places, q, k, x) if form.takes_tokens else q
        scores = form.short(position, places, asking)
        assert isinstance(scores, Tensor)
        return by_offset(scores, places.of_queries.first)
    return by_table(_matrix(position, places, q, k, x))


def _check_bias(position: Position) -> None:
    """Raise ValueError unless there is a bias."""
    if not isinstance(position, Position):
        raise ValueError(f"position must be a posenc.attention.Position, got {position!r:.80}")
    if position.is_closed("bias"):
        doors = [door for door in ("embed", "rotate", "mix") if not position.is_closed(door)]
        where = f"lets position in at {' and '.join(doors)}" if doors else "knows no position"
        hint = "; position.rotate(q, k) is what it does" if "rotate" in doors else ""
        name = type(position).__name__
        raise ValueError(f"position must have a bias for a score_mod, but {name} {where}{hint}")


def _check_heads(position: Position, q: Tensor, k: Tensor) -> None:
    """Raise ValueError unless queries and keys have the encoding's heads."""
    shapes = [tuple(one.shape) if isinstance(one, Tensor) else one for one in (q, k)]
    heads = position.n_heads
    fits = (
        all(isinstance(one, Tensor) and one.ndim == 4 for one in (q, k))
        and q.shape[1] == heads
        and k.shape[1] > 0
        and heads % k.shape[1] == 0
        and q.shape[::3] == k.shape[::3]
    )
    if not fits:
        raise ValueError(
            f"q and k must be (batch, heads = {heads}, length, d_head), k with {heads} heads or a "
            f"divisor, got shapes {shapes[0]} and {shapes[1]}"
        )


def _places(
    position: Position,
    q: Tensor,
    k: Tensor,
    causal: bool,
    positions: Tensor | ArrayLike | None,
) -> Places:
    """Return where queries and keys stand; queries are the last tokens."""
    n_queries, n_keys = q.shape[2], k.shape[2]
    all_ask = n_queries == n_keys
    if n_queries > n_keys:
        raise ValueError(
            f"q must have no more queries than there are keys, of which they are the last, got "
            f"{n_queries} queries and {n_keys} keys"
        )
    if not (causal or all_ask):
        raise ValueError(
            "causal must be True where queries are fewer than keys, as they are the last tokens of "
            f"an attention that does not look ahead, got {n_queries} queries and {n_keys} keys"
        )
    if positions is None:
        check_countable(position.n_axes)
        keys = Steps(n_keys, k.device)
    else:
        keys = given_steps(positions, k[:, 0], position.n_axes)
    queries = keys if all_ask else keys.part(n_keys - n_queries, n_keys)
    return Places(queries, keys, causal=causal, cached=not all_ask)


def _own(position: Position, places: Places) -> ScoreMod | None:
    """Return what the encoding itself knows, unless somebody has replaced its bias since."""
    cls = type(position)
    if "bias" in vars(position) or depth(cls, "bias") < depth(cls, "_score_mod"):
        return None
    return position._score_mod(places)


def _matrix(position: Position, places: Places, q: Tensor, k: Tensor, x: Tensor | None) -> Tensor:
    """Return the bias of all queries and keys."""
    name = type(position).__name__
    tokens = _tokens(position, places, q, k, x)
    k = k.repeat_interleave(position.n_heads // k.shape[1], 1)
    term = position.term("bias", places, tokens, q, k)
    if term is None:
        raise ValueError(
            f"position must have a bias for a score_mod, but this {name} adds nothing to scores"
        )
    return term.dense(q, k)


def _tokens(position: Position, places: Places, q: Tensor, k: Tensor, x: Tensor | None) -> Tensor:
    """Return the tokens that ask, or zeros where a bias does not look at what they hold."""
    n_queries, form = q.shape[2], position.form("bias")
    if x is not None:
        _check_tokens(x, position, k)
        places.tokens = position.kept(x) if places.cached and position.keeps_tokens else x
        return x[:, x.shape[1] - n_queries :]
    looks = not position.position_only if form is None else form.takes_tokens
    if looks:
        name = type(position).__name__
        raise ValueError(f"x must be given for {name}, whose bias looks at the tokens, got None")
    return q.new_zeros(()).expand(len(q), n_queries, position.d_model)


def _check_tokens(x: Tensor, position: Position, k: Tensor) -> None:
    """Raise ValueError unless there is a token for each key."""
    wanted = (len(k), k.shape[2], position.d_model)
    if not isinstance(x, Tensor) or tuple(x.shape) != wanted:
        got = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"x must be (batch, n_keys, d_model) = {wanted}, got {got}")
