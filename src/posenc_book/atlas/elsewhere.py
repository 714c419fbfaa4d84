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
        "Queries and keys turn in all dimensions of a head at once. Each axis has a learned "
        "skew-symmetric matrix; these matrices, times the position on their axis, are summed up, "
        "and the matrix exponential of the sum is the rotation.",
        "ostmeier2025liere",
    ),
    Elsewhere(
        "STRING",
        2025,
        "LieRE with matrices that commute. Position then enters a score through the offset along "
        "each axis alone, so it is RoPE in learned directions.",
        "schenck2025string",
    ),
    Elsewhere(
        "Forgetting Transformer",
        2025,
        "Each token has a gate between 0 and 1, which says how much of what came before is kept. "
        "The logarithms of all gates from key to query, none above 0, are added to the score. It "
        "is ALiBi with a slope that the text decides.",
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
        "Where RoPE has a rotation between query and key, there stands a product of matrices, one "
        "for each token on the way from key to query. Each is the identity plus a term of rank "
        "one, made from what the token holds.",
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
        "Positions act on queries and keys through matrices that form a group. Where these are "
        "rotations, in learned planes, RoPE is a special case. Where they are shears, which add to "
        "the score, ALiBi and the Forgetting Transformer are.",
        "zhang2026grape",
    ),
)
"""The oldest first."""
