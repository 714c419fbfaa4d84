"""The plan of two sets on which print and measurement lie far apart: one thing changed at a time.

On LSST our models with a token a step are twenty points below print, on MelbournePedestrian the
whole printed range lies below our model without positions. `PROTOCOL` is the stored plan,
experiments/levels/plan.json; its hash stands in every record. It was written before any of these
was trained.
"""

from posenc_book.read import plans
from posenc_book.records.hashes import hashed
from posenc_book.records.settings import Settings

PROFILE = "levels"
PROTOCOL = plans.load("levels")
HASH = hashed(PROTOCOL)
# What is asked of each set: name of a change -> what differs from the benchmark's settings.
CHANGES = PROTOCOL["changes"]
# The last of MelbournePedestrian goes by the row of the batch, as one class of the survey does.
ENCODINGS = PROTOCOL["encodings"]


def cell(
    dataset: str, change: str, encoding: str, seed: int, *, series: str, code: str
) -> Settings:
    """Return one cell of the protocol, on the series and with the code of these fingerprints."""
    return Settings(
        encoding,
        PROTOCOL["model"],
        dataset,
        seed,
        profile=PROFILE,
        split_seed=seed,
        resample=seed,
        protocol=HASH,
        **{
            **PROTOCOL["settings"],
            **CHANGES[dataset][change],
            "encoding_source": code,
            "dataset_source": series,
        },
    )


def places() -> list[tuple[str, str, str]]:
    """Return each set with its changes and encodings."""
    return [
        (dataset, change, encoding)
        for dataset, changes in CHANGES.items()
        for change in changes
        for encoding in ENCODINGS[dataset]
    ]
