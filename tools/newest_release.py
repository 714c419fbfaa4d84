"""Warn, on the page of a run, when the newest release that the register holds is old.

python tools/newest_release.py [DAY]   # as 2026-04-24; today where none is given
"""

import json
import sys
from datetime import date
from pathlib import Path

HELD = Path(__file__).parents[1] / "src/posenc/register/released.json"
MOST_DAYS = 183  # six months


def main(arguments: list[str]) -> None:
    today = date.fromisoformat(arguments[0]) if arguments else date.today()
    days = {name: one["released"] for name, one in json.loads(HELD.read_text()).items()
            if "released" in one}  # fmt: skip
    print(notice(days, today))


def notice(days: dict[str, str], today: date) -> str:
    """Return what is said of the newest of some models, by their days of release."""
    name, day = max(days.items(), key=lambda one: one[1])
    age = (today - date.fromisoformat(day)).days
    found = f"the newest release that the register holds is {name} of {day}, {age} days ago"
    if age <= MOST_DAYS:
        return f"{found}."
    return f"::warning title=Released models::{found}: see peers/register/releases.toml"


if __name__ == "__main__":
    main(sys.argv[1:])
