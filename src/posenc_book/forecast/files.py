"""Where the files of forecasting sets are: in a folder of one's own, in the cache, on the web."""

import os
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from posenc_book.data import download, folders
from posenc_book.data.download import Url
from posenc_book.data.errors import DownloadError, MissingDataError

FOLDER = "forecasting"
_GITHUB = "https://raw.githubusercontent.com"
_ETT = f"{_GITHUB}/zhouhaoyi/ETDataset/1d16c8f4f943005d613b5bc962e9eeb06058cf07/ETT-small"
_M4 = f"{_GITHUB}/Mcompetitions/M4-methods/6c1067e5a57161249b17289a565178dc7a3fb3ca/Dataset"
_EXCHANGE = (
    f"{_GITHUB}/laiguokun/multivariate-time-series-data/"
    "7f402f185cc2435b5e66aed13a3b560ed142e023/exchange_rate"
)
_SKFORECAST = (
    f"{_GITHUB}/skforecast/skforecast-datasets/f8c3d7fe5ec41ef86f93e969c31ec4b469b7c949/data"
)

# Each at one commit, with the sum of the file that the experiment read. The two sets of quarter
# hours were never read, so only their commit is known.
ADDRESSES = {
    "ETTh1.csv.gz": Url(
        f"{_ETT}/ETTh1.csv", "f18de3ad269cef59bb07b5438d79bb3042d3be49bdeecf01c1cd6d29695ee066"
    ),
    "ETTh2.csv.gz": Url(
        f"{_ETT}/ETTh2.csv", "a3dc2c597b9218c7ce1cd55eb77b283fd459a1d09d753063f944967dd6b9218b"
    ),
    "ETTm1.csv.gz": Url(f"{_ETT}/ETTm1.csv"),
    "ETTm2.csv.gz": Url(f"{_ETT}/ETTm2.csv"),
    "exchange_rate.txt.gz": Url(
        f"{_EXCHANGE}/exchange_rate.txt.gz",
        "6a4fbb561dcdee43f071a83badbeec9223a335552278348656738b556f1c2e9d",
    ),
    "M4-Hourly-train.csv.gz": Url(
        f"{_M4}/Train/Hourly-train.csv",
        "ea59b7783573c49077a835ab6465c7d66f1474783360f310988a9a737fbca62f",
    ),
    "M4-Hourly-test.csv.gz": Url(
        f"{_M4}/Test/Hourly-test.csv",
        "71a57fccb15e534d973626ada4fb87febf789e9317715b7cc6dd3b5f90db6f42",
    ),
    "M4-Weekly-train.csv.gz": Url(
        f"{_M4}/Train/Weekly-train.csv",
        "d478d3f6ed673e6ed3c2cb0fbed5425f72eedd51318ebebeb0b5ecfcefc37714",
    ),
    "M4-Weekly-test.csv.gz": Url(
        f"{_M4}/Test/Weekly-test.csv",
        "3b2bc4be8e636e802260dcd843ca3c5da40536a1fbe1ecb3229a97dae4f44688",
    ),
    "vic_electricity.csv.gz": Url(
        f"{_SKFORECAST}/vic_electricity.csv",
        "6fa81bc3552f8822e984900f727584b82b3f10f41d78a1a0cdda2879a29a122e",
    ),
    "bike_sharing_dataset_clean.csv.gz": Url(
        f"{_SKFORECAST}/bike_sharing_dataset_clean.csv",
        "b2252681fd3f41eacbbd7242b1184e6aa364c4c01267db2b4b7d706aea184d36",
    ),
    "air_quality_valencia.csv.gz": Url(
        f"{_SKFORECAST}/air_quality_valencia.csv",
        "42a6243296634bdd47984f268b061817c39389e613d49849d280505a6dbedb72",
    ),
}


def path_of(name: str) -> Path:
    """Return where a file is, gzipped or plain; fetch it if it is neither here nor in the cache.

    Raises MissingDataError if that fails, or if no address of it is known.
    """
    root = os.environ.get("POSENC_DATA", "")
    own = [Path(root, FOLDER, spelt) for spelt in (name, name.removesuffix(".gz"))]
    here = next((path for path in own if root and path.is_file()), None)
    return here or _cached(name, root)


def _cached(name: str, root: str) -> Path:
    how = (
        f"{name} is not there: put it into the folder {FOLDER} of the folder that the variable "
        f"POSENC_DATA names (now {root or 'not set'!r}); the book's page on data sets says where "
        "it comes from"
    )
    address = ADDRESSES.get(name)
    if address is None:
        raise MissingDataError(how)
    plain = PurePosixPath(urlsplit(address.url).path).name
    stem = name.partition(".")[0]
    path = folders.cache() / "sets" / stem / plain
    if path.is_file():
        return path
    if os.environ.get("POSENC_OFFLINE"):
        raise MissingDataError(f"{how}; POSENC_OFFLINE forbids fetching {address}")
    try:
        download.fetch(stem, ((address,),), lambda folder: (folder / plain).is_file())
    except DownloadError as error:
        raise MissingDataError(f"{how}. {error}") from error
    return path


# What a file holds, whose it is, and on which terms it stands there.
_FACTS = {
    "ETTh1, ETTh2": (
        "17,420 hours of six loads, and of the heat of a transformer's oil",
        "zhouhaoyi/ETDataset",
        "CC BY-ND 4.0",
    ),
    "exchange rates": (
        "7,588 days of eight currencies, without dates",
        "laiguokun/multivariate-time-series-data",
        "none",
    ),
    "M4, hours and weeks": (
        "414 and 359 series",
        "Mcompetitions/M4-methods",
        "none for the data",
    ),
    "electricity in Victoria": (
        "52,608 half hours",
        "skforecast/skforecast-datasets, after the R package tsibbledata",
        "BSD-3-Clause, of the repository",
    ),
    "hired bikes": (
        "17,544 hours",
        "skforecast/skforecast-datasets, after the UCI archive",
        "BSD-3-Clause, of the repository",
    ),
    "Valencia's air": (
        "43,824 hours of ten measurements, with gaps",
        "skforecast/skforecast-datasets, after the Valencian air network",
        "BSD-3-Clause, of the repository",
    ),
}


def overview() -> dict[str, dict[str, str]]:
    """Return what the files hold, where they come from and on which terms, a row for each set."""
    heads = ("what it holds", "repository", "terms stated there")
    return {name: dict(zip(heads, row, strict=True)) for name, row in _FACTS.items()}
