"""*The house that Jack built*, an old English rhyme that grows as it goes on."""

LINKS = (
    "house that Jack built",
    "malt that lay in",
    "rat that ate",
    "cat that killed",
    "dog that worried",
    "cow with the crumpled horn that tossed",
    "maiden all forlorn that milked",
    "man all tattered and torn that kissed",
    "priest all shaven and shorn that married",
    "cock that crowed in the morn that woke",
    "farmer sowing his corn that kept",
)
VERSES = ["This is the " + " the ".join(LINKS[n::-1]) + " ." for n in range(len(LINKS))]
WORDS = " ".join(VERSES).split()
