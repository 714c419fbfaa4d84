"""Every data set of the book by name, as arrays that the models take. Needs no torch.

>>> from posenc_book import data
>>> rides = data.load("elevator", "train", n=10)
>>> rides.x.shape, rides.classes
((10, 200, 20), ('normal', 'faulty'))
"""

from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import (
    ArchiveError,
    DataError,
    DownloadError,
    FileFormatError,
    MissingDataError,
    UnknownDatasetError,
)
from posenc_book.data.fingerprints import fingerprint
from posenc_book.data.formats.ts import read_ts
from posenc_book.data.info import Facts, facts
from posenc_book.data.load import SPLITS, can_load, is_here, load, names
from posenc_book.data.measure import recorded, recorded_facts
from posenc_book.data.protocols import (
    Prepared,
    channel_statistics,
    prepare,
    split_validation,
    standardise,
)
from posenc_book.data.registry import Printed
from posenc_book.data.resamples import official_only, resample

__all__ = [
    "SPLITS",
    "ArchiveError",
    "DataError",
    "Dataset",
    "DownloadError",
    "Facts",
    "FileFormatError",
    "MissingDataError",
    "Prepared",
    "Printed",
    "UnknownDatasetError",
    "can_load",
    "channel_statistics",
    "facts",
    "fingerprint",
    "is_here",
    "load",
    "names",
    "official_only",
    "prepare",
    "read_ts",
    "recorded",
    "recorded_facts",
    "resample",
    "split_validation",
    "standardise",
]
