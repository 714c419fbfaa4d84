"""Which data sets are independent of each other, and how far the resamples of one are not."""

from posenc_book.data.measure import recorded_facts
from posenc_book.data.resamples import official_only

FAMILIES = {
    "Pedestrians": ("MelbournePedestrian", "Chinatown"),
    "Phalanges": ("PhalangesOutlinesCorrect", "DistalPhalanxTW", "ProximalPhalanxTW"),
    "Words": ("FiftyWords", "WordSynonyms"),
}
"""Data sets whose series stand in one another."""
_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}


def unit_of(dataset: str) -> str:
    """Return the independent unit of a data set: its family, or itself."""
    return _FAMILY_OF.get(dataset, dataset)


def members(unit: str) -> tuple[str, ...]:
    """Return the data sets of an independent unit: those of a family, or the set itself."""
    return FAMILIES.get(unit, (unit,))


def share_of_test(dataset: str) -> float:
    """Return by how much the trainings on two resamples go together: the share of the test part."""
    facts = recorded_facts(dataset)
    return 0.0 if official_only(dataset) else facts.test / (facts.train + facts.test)
