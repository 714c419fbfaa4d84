"""What decides one training of a forecaster, and what its records are called by."""

from dataclasses import dataclass

from posenc import _checks
from posenc_book.records.settings import Settings

SHUFFLED = ("", "steps", "patches")
LEAST_LONG = 52  # a context from which on longer ones are tested
TRIAL = "forecasting-trial"  # chooses a learning rate, so its test part is not even looked at


@dataclass(frozen=True)
class ForecastSettings(Settings):
    """One training of a forecaster; it takes exactly `steps` steps.

    Parameters
    ----------
    **settings
        As for `posenc_book.records.settings.Settings`: `dataset` is a unit, `model` a reader.
    calendar : bool
        Whether hour, day of the week, of the month and of the year join the values.
    shuffled : {"", "steps", "patches"}
        What stands in an order of its own in each window.
    """

    calendar: bool = False
    shuffled: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.flag("calendar", self.calendar)
        _checks.choice("shuffled", self.shuffled, SHUFFLED)
        _checks.count("steps", self.steps, minimum=1)
