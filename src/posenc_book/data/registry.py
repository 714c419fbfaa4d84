"""Every data set by name: where it comes from, who reads it, what the survey printed about it."""

from dataclasses import dataclass, field
from types import ModuleType

from posenc_book.data.download import Source, Url, Zenodo
from posenc_book.data.sets import archive, emg, msl, room, smd, unimib

TSC_TERMS = "no licence is stated with the files; the archive asks to cite it: https://timeseriesclassification.com"
UCI_TERMS = "UCI Machine Learning Repository: the terms stand on the set's page"

# role of a set: what it is here for, in the order in which sets are listed
ROLES = {
    "survey": "the sets of the survey (Irani and Metsis, arXiv 2502.12370v1, Table 3)",
    "anomaly": "the sets of the anomaly paper, cut into windows",
    "stand-in": "sets of the archives in the place of survey sets that could not be had",
    "archive": "further sets of the UCR and UEA archives",
}


@dataclass(frozen=True)
class Printed:
    """One row of the survey's table of data sets, as printed.

    Parameters
    ----------
    train, test : int
        Series of either part.
    length : int
        Steps of a series.
    n_classes, n_channels : int

    Source: Table 3 of Irani and Metsis (2025), arXiv 2502.12370v1.

    Examples
    --------
    >>> from posenc_book import data
    >>> data.recorded_facts("LSST").printed
    Printed(train=2459, test=2466, length=36, n_classes=14, n_channels=6)
    """

    train: int
    test: int
    length: int
    n_classes: int
    n_channels: int


@dataclass(frozen=True)
class Entry:
    """A data set of real recordings."""

    name: str
    role: str  # one of ROLES
    sources: tuple[Source, ...]
    layout: ModuleType = archive
    terms: str = TSC_TERMS
    page: str = "https://timeseriesclassification.com"
    printed: Printed | None = None
    notes: tuple[str, ...] = field(default=())
    official_only: str | None = None  # why its series must not be dealt out anew, or None


def from_archive(name: str, record: int | None, role: str = "archive", **more) -> Entry:
    """Return the entry of a UCR or UEA set: its Zenodo record, then the archive's own page."""
    zenodo = Zenodo(record, (f"{name}_TRAIN.ts", f"{name}_TEST.ts")) if record else None
    page = Url(f"https://timeseriesclassification.com/aeon-toolkit/{name}.zip")
    sources = ((zenodo,), (page,)) if zenodo else ((page,),)
    return Entry(name, role, sources, **more)


_SURVEY = (
    from_archive("Sleep", 15526565, "survey", printed=Printed(478785, 90315, 178, 5, 1)),
    from_archive("ElectricDevices", 11190880, "survey", printed=Printed(8926, 7711, 96, 7, 1)),
    from_archive("FaceDetection", 11206216, "survey", printed=Printed(5890, 3524, 62, 2, 144)),
    from_archive(
        "MelbournePedestrian",
        11197762,
        "survey",
        printed=Printed(1194, 2439, 24, 10, 1),
        notes=(
            "82 values in 56 training series and 153 in 120 test series are missing, and two test "
            "series are shorter (9 and 21 steps): all are masked here",
            "the survey's code drops every incomplete series (1138 train, 2319 test), its table "
            "counts them all",
            "holds every series of Chinatown too, under another label",
        ),
    ),
    from_archive(
        "SharePriceIncrease",
        11218021,
        "survey",
        printed=Printed(965, 965, 60, 2, 1),
        notes=("the set's own text counts 1931 cases, so the test part has 966, not 965",),
    ),
    from_archive(
        "LSST",
        11206243,
        "survey",
        printed=Printed(2459, 2466, 36, 14, 6),
        notes=("values are unscaled and heavy-tailed: -40036 to 64062 in the training part",),
    ),
    from_archive("RacketSports", 11206263, "survey", printed=Printed(151, 152, 30, 4, 6)),
    from_archive("SelfRegulationSCP1", 11206265, "survey", printed=Printed(268, 293, 896, 2, 6)),
    Entry(
        "UniMiB-SHAR",
        "survey",
        ((Url("https://www.dropbox.com/s/raw/x2fpfqj0bpf8ep6/UniMiB-SHAR.zip"),),),
        layout=unimib,
        terms="the terms stand on the publisher's page",
        page="http://www.sal.disco.unimib.it/technologies/unimib-shar/",
        printed=Printed(4601, 1524, 151, 9, 3),
        notes=(unimib.PROTOCOL,),
    ),
    Entry(
        "RoomOccupancy",
        "survey",
        ((Url("https://archive.ics.uci.edu/static/public/864/room+occupancy+estimation.zip"),),),
        layout=room,
        terms=UCI_TERMS,
        page="https://archive.ics.uci.edu/dataset/864/room+occupancy+estimation",
        printed=Printed(8103, 2026, 30, 4, 18),
        official_only="its test part is the one whole day with all four counts, and windows next "
        "to those of the other part are left out",
        notes=(
            room.PROTOCOL,
            "the survey's table counts readings (8103 + 2026 = 10129 rows) and counts date and "
            "time as channels; its code cuts 337 windows and splits them at random (202/67/68)",
        ),
    ),
    Entry(
        "EMGGestures",
        "survey",
        ((Url("https://archive.ics.uci.edu/static/public/481/emg+data+for+gestures.zip"),),),
        layout=emg,
        terms=UCI_TERMS,
        page="https://archive.ics.uci.edu/dataset/481/emg+data+for+gestures",
        printed=Printed(1800, 450, 30, 8, 9),
        notes=(
            emg.PROTOCOL,
            "rows repeat, as the sensor is slower than the recorder: a window of 30 rows holds "
            "about 4 distinct readings (median over the training windows)",
            "the survey counts the time column as a channel and unmarked rows as a gesture; its "
            "code cuts windows across the borders of recordings and splits them at random "
            "(84754/28252/28252)",
        ),
    ),
)

_ANOMALY = (
    Entry(
        "SMD",
        "anomaly",
        (
            (
                Url(
                    "https://github.com/NetManAIOps/OmniAnomaly/archive/"
                    "7fb0e0acf89ea49908896bcc9f9e80fcfff6baf4.zip"
                ),
            ),
        ),
        layout=smd,
        terms="MIT, NetManAIOps 2021",
        page="https://github.com/NetManAIOps/OmniAnomaly",
        notes=(smd.PROTOCOL,),
        official_only="its parts are split by time, and windows next to those of the other part "
        "are left out",
    ),
    Entry(
        "MSL",
        "anomaly",
        (
            (
                Url("https://s3-us-west-2.amazonaws.com/telemanom/data.zip"),
                Url(
                    "https://raw.githubusercontent.com/khundman/telemanom/"
                    "2e6c5b6c3558e7835601519b7bdef37c649bdbdc/labeled_anomalies.csv",
                    "057ce2d6c8875982bf4e5404aefea14efdcbce413d80826d2b737c95b59b7539",
                ),
            ),
        ),
        layout=msl,
        terms="Caltech (telemanom), a licence in the style of BSD",
        page="https://github.com/khundman/telemanom",
        notes=(
            msl.PROTOCOL,
            "channels P-10 and P-14, both in the training part, hold the same 6100 rows and mark "
            "anomalies in them that differ by 50 rows",
        ),
    ),
)

# sets of the archives that come split by person, without saying which series are whose
_OTHER_PEOPLE = {
    "Epilepsy": "the test part holds three other people than the training part, and the file does "
    "not say which series are whose",
    "PenDigits": "the test part was written by 14 other people than the training part "
    "(https://archive.ics.uci.edu/dataset/81), and the file does not say which series are whose",
}

_STAND_INS = tuple(
    from_archive(
        name,
        int(record),
        "stand-in",
        notes=(f"not in the survey; stands in for {what}", *more),
        official_only=_OTHER_PEOPLE.get(name),
    )
    for name, (record, what, *more) in {
        "FingerMovements": (11206220, "FaceDetection and SelfRegulationSCP1 (EEG)"),
        "Epilepsy": (
            11206204,
            "UniMiB-SHAR (tri-axial accelerometer)",
            "one training series occurs twice",
            _OTHER_PEOPLE["Epilepsy"],
        ),
        "UWaveGestureLibrary": (11206282, "UniMiB-SHAR, with longer series"),
        "BasicMotions": (11206179, "activity recognition, small"),
        "NATOPS": (11206248, "sets with many channels"),
        "ArticularyWordRecognition": (11204924, "sets of middle length"),
        "SmallKitchenAppliances": (
            11198251,
            "ElectricDevices (same household study), with longer series",
        ),
        "ItalyPowerDemand": (11197656, "short univariate series"),
        "Chinatown": (
            11186207,
            "MelbournePedestrian (one of the same sensors)",
            "every series stands in MelbournePedestrian too, under another label",
        ),
    }.items()
)

_OUTLINE = "steps are places along the outline of {}, not times"
_BONES = "the sets of bone outlines here hold the same series under other labels"
_SIMULATED = "made by a generator, not recorded"
_UNEQUAL = "series are of unequal length, the shortest of {}"
_ARCHIVE = tuple(
    from_archive(
        name,
        int(record) if record else None,
        notes=tuple(notes),
        official_only=_OTHER_PEOPLE.get(name),
    )
    for name, (record, *notes) in {
        "PenDigits": (
            11206259,
            "eight points at equal distances along the pen's way, not in time",
            _OTHER_PEOPLE["PenDigits"],
        ),
        "SmoothSubspace": (11198271, _SIMULATED),
        "Libras": (11206239, "19 test series also stand in the training part"),
        "SyntheticControl": (11198330, _SIMULATED),
        "DistalPhalanxTW": (11186610, _OUTLINE.format("a finger bone"), _BONES),
        "ProximalPhalanxTW": (11197973, _OUTLINE.format("a finger bone"), _BONES),
        "PhalangesOutlinesCorrect": (
            11197875,
            _OUTLINE.format("a finger bone"),
            "holds every series of DistalPhalanxTW and of ProximalPhalanxTW, under other labels",
        ),
        "MedicalImages": (
            11197752,
            "steps are brightnesses of a histogram, not times",
            "1 test series also stands in the training part",
        ),
        "SwedishLeaf": (
            11198315,
            _OUTLINE.format("a leaf"),
            "2 test series also stand in the training part",
        ),
        "FaceAll": (
            11191011,
            _OUTLINE.format("a face"),
            "1 test series also stands in the training part",
        ),
        "PowerCons": (
            11197948,
            "67 of 180 test series also stand in the training part, one number for number like "
            "another: scores on the official split reward memory",
        ),
        "Plane": (11197940,),
        "GunPointAgeSpan": (11194425,),
        "Handwriting": (11206227,),
        "Adiac": (11179788, _OUTLINE.format("a diatom")),
        "Strawberry": (
            11198313,
            "steps are wave numbers of a spectrum, not times",
            "1 test series also stands in the training part, under the other label",
        ),
        "FiftyWords": (
            11191097,
            "steps are places along a written word, from left to right, not times",
            "WordSynonyms holds the same series, from right to left",
        ),
        "WordSynonyms": (
            11198396,
            "steps are places along a written word, from right to left, not times",
            "the series of FiftyWords turned round, in 25 classes instead of 50",
        ),
        "Trace": (11198344, _SIMULATED),
        "CricketX": (11186304,),
        "OSULeaf": (11197848, _OUTLINE.format("a leaf")),
        "Earthquakes": (11186659,),
        "Computers": (11186293,),
        "FaciesRocks": (
            None,
            "steps are depths in a bore hole, half a foot apart, not times",
            _UNEQUAL.format("one step"),
        ),
        "ERing": (11206210,),
        "SonyAIBORobotSurface1": (11198277,),
        "TwoLeadECG": (11198352,),
        "MoteStrain": (11197817,),
        "CBF": (11186181, _SIMULATED),
        "ECGFiveDays": (11186702,),
        "UMD": (11198362, _SIMULATED, "one training series occurs twice"),
        "Fungi": (
            11191230,
            "steps are temperatures of a melting curve, not times",
            "one training series a class, so no validation part can be taken from it",
        ),
        "Wine": (11198391, "steps are wave numbers of a spectrum, not times"),
        "ArrowHead": (11185163, _OUTLINE.format("an arrowhead")),
        "ToeSegmentation1": (11198338, "4 test series also stand in the training part"),
        "Coffee": (11186266, "steps are wave numbers of a spectrum, not times"),
        "Lightning7": (11197706,),
        "AllGestureWiimoteX": (11185036, _UNEQUAL.format("two steps")),
        "GesturePebbleZ1": (
            11197515,
            _UNEQUAL.format("100 steps"),
            "the training part was recorded in a first session and the test part days later",
        ),
    }.items()
)

ENTRIES: dict[str, Entry] = {one.name: one for one in (*_SURVEY, *_ANOMALY, *_STAND_INS, *_ARCHIVE)}
