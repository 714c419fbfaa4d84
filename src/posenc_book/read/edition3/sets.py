"""The data sets of the third edition: sixteen that no edition has read, and six of the survey."""

UNUSED = (
    "ERing", "FaciesRocks", "SonyAIBORobotSurface1", "TwoLeadECG", "MoteStrain", "CBF",
    "ECGFiveDays", "UMD", "Fungi", "Wine", "ArrowHead", "ToeSegmentation1", "Coffee", "Lightning7",
    "AllGestureWiimoteX", "GesturePebbleZ1",
)  # fmt: skip
# One training series a class leaves none for validation, by which everything here is chosen.
NOT_TUNED = ("Fungi",)
# Above 300 steps a training with a token a step belongs on a GPU.
LONG = ("Lightning7", "AllGestureWiimoteX", "GesturePebbleZ1")
# So few test series that chance alone puts two encodings more than five points apart.
TOO_FEW = ("Wine", "Coffee")
COUNTED = tuple(name for name in UNUSED if name not in (*NOT_TUNED, *LONG, *TOO_FEW))
# Read by editions 1 and 2: for equal definitions and four layers, and never called unused.
SURVEY = (
    "MelbournePedestrian", "RacketSports", "RoomOccupancy", "EMGGestures", "LSST",
    "SharePriceIncrease",
)  # fmt: skip
LEAST_TOKENS = 30
"""Tokens from which on today's encodings are asked again."""
THIRTY = tuple(name for name in SURVEY if name != "MelbournePedestrian")  # which has 24 steps
# Some of their test series also stand in the training part: no deal parts equal series.
SHARED = ("ToeSegmentation1",)
