"""The atlas: one card for each encoding, and what the library answers when it is asked the same.

`card` says what a card holds, `cards` has one data file for each encoding, `facts` asks the
library, `additions` computes what an encoding adds. The cards alone need no torch. To add an
encoding to the atlas, add a file to `cards`; `tools/atlas.py` makes the page, and tests hold cards
and library together.
"""

from posenc_book.atlas.card import Card
from posenc_book.atlas.cards import called, card, cards

__all__ = ["Card", "called", "card", "cards"]
