"""Encodings that papers propose and the library does not have: a line each, with their source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Elsewhere:
    """What the atlas says about an encoding without a card.

    Attributes
    ----------
    title : str
        The name that people use.
    year : int
        When it was first public.
    idea : str
        What it does, in one sentence.
    paper : str
        Key of the bibliography.
    """

    title: str
    year: int
    idea: str
    paper: str


ELSEWHERE = (
    Elsewhere(
        "DAPE",
        2024,
        "A small network sees the scores of all heads beside a fixed bias, such as ALiBi's, and "
        "says what to add to the bias for this very text.",
        "zheng2024dape",
    ),
    Elsewhere(
        "LieRE",
        2024,
        "Queries and keys turn in all dimensions of a head at once: the rotation is the matrix "
        "exponential of learned skew-symmetric matrices, one for each axis, times the position.",
        "ostmeier2025liere",
    ),
    Elsewhere(
        "STRING",
        2025,
        "The same with matrices that commute, so that a score depends only on the offset along "
        "each axis, which is RoPE in learned directions.",
        "schenck2025string",
    ),
    Elsewhere(
        "Forgetting Transformer",
        2025,
        "Each token says how much of what came before it is to be forgotten; a score loses the "
        "logarithms of all gates between key and query, which is ALiBi with a slope that the text "
        "decides.",
        "lin2025forgetting",
    ),
    Elsewhere(
        "CABLE",
        2025,
        "Each token and head has a bias of its own, made from what the token holds, in place of "
        "ALiBi's fixed slope.",
        "veisi2025cable",
    ),
    Elsewhere(
        "PaTH",
        2025,
        "On the way from key to query, every token between the two multiplies by a matrix of its "
        "own, the identity and a term of rank one.",
        "yang2025path",
    ),
    Elsewhere(
        "Selective RoPE",
        2025,
        "As in RoPE pairs turn, but by how much each token turns them follows from what it holds.",
        "movahedi2025selective",
    ),
    Elsewhere(
        "GRAPE",
        2025,
        "Positions act on queries and keys as a group of matrices: rotations in learned planes, or "
        "shears that add to the score. RoPE, ALiBi and the Forgetting Transformer are special "
        "cases.",
        "zhang2026grape",
    ),
)
"""The oldest first."""
