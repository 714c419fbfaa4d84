"""RoVE: values turn with their position, too, and what a token gets turns back."""

from posenc import _checks
from posenc.encodings.rotary import Rotary


class RoVE(Rotary):
    """RoPE whose values turn with the keys, and whose sums turn back (García-Castellanos 2026).

    The value of j is turned by its place, and the sum at i by that of the query, the other way:

        out_i = R(-i) sum_j A_ij R(j) v_j = sum_j A_ij R(j - i) v_j,

    with R the rotation of `Rotary`. So what j says depends on how far away it is, and still nothing
    depends on where the text begins. With weights that are fixed this is a convolution, whose
    matrix for an offset o is R(o) W_v. RoPE's mean over equal words is one of them, however many
    there are; this one is not, so that a layer can count.

    The same was found three times: RoPER (Harik and Jayasiri 2022), VO-RoPE (Su 2025), RoVE. In
    DeepSeek-V4 one row is key and value of a token; see `posenc.attention.LatentAttention`.

    Parameters
    ----------
    d_model, n_heads, max_length, base, pairing, share
        As for `Rotary`, which takes `values=True` where more of its options are wanted. Any length
        and any real positions are served.
    scores : bool
        Whether queries and keys turn, too. False is VO-RoPE alone: scores know no place.

    Raises
    ------
    ValueError
        If a size or option is out of range.

    Notes
    -----
    Parameters to learn: 0. Cost: O(L d_model) per layer and batch row, twice that of `Rotary`.

    Source: García-Castellanos, Weiler and Bekkers (2026), RoVE, section 2; Harik and Jayasiri
    (2022), RoPER, "Relative distances in embeddings".

    Examples
    --------
    >>> import torch
    >>> from posenc.attention import SelfAttention
    >>> layer = SelfAttention(8, 2, RoVE(8, 2, 9)).double()
    >>> rose = torch.ones(1, 1, 8).double()
    >>> five, nine = (layer(rose.expand(1, n, 8)).mean(1) for n in (5, 9))
    >>> bool(torch.allclose(five, nine))
    False
    >>> x, t = torch.randn(1, 9, 8).double(), torch.arange(9)
    >>> bool(torch.allclose(layer(x, positions=t), layer(x, positions=t + 1000)))
    True
    """

    _on_request = frozenset()

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        max_length: int,
        *,
        base: float = 10_000.0,
        pairing: str = "interleaved",
        share: float = 1.0,
        scores: bool = True,
    ) -> None:
        super().__init__(
            d_model, n_heads, max_length, base=base, pairing=pairing, share=share, values=True
        )
        if not _checks.flag("scores", scores):
            self._on_request = frozenset(["rotate"])
