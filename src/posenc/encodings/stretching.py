"""The options of rotary encoding for longer inputs, checked, and the schedule that they name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc import _checks, schedules
from posenc.attention import words
from posenc.attention.places import Places, can_look, refuse

SCALINGS = ("none", "linear", "ntk", "dynamic_ntk", "yarn", "llama3", "longrope")
_FUNCTIONS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "linear": schedules.linear,
    "ntk": schedules.ntk,
    "dynamic_ntk": schedules.dynamic_ntk,
    "yarn": schedules.yarn,
    "llama3": schedules.llama3,
    "longrope": schedules.longrope,
}
_GROWING = ("dynamic_ntk", "longrope")  # those that look at the input's length
_GAINED = ("yarn", "longrope")


class Stretching:
    """One schedule with its numbers; options are those of `Rotary`.

    Attributes
    ----------
    gain : float
        What turned queries and keys are multiplied by.
    grows : bool
        Whether frequencies depend on the length of the input at hand.
    """

    def __init__(
        self,
        omega: NDArray[np.float64],
        max_length: int,
        scaling: str,
        factor: float | None,
        original_length: int | None,
        options: Mapping[str, object] | None,
    ) -> None:
        self.scaling = words.choice("scaling", scaling, SCALINGS, words.SCALINGS)
        self.grows = self.scaling in _GROWING
        self._omega = omega
        self._options = _known_options(self.scaling, options)
        gain = self._options.pop("attention_factor", None)
        if self.scaling == "none":
            _refuse_unused(factor=factor, original_length=original_length)
        else:
            self._trained_on = self._length(original_length, factor)
            self.factor = self._factor(factor, max_length, gained=gain is not None)
        self.gain = self._gain() if gain is None else _checks.positive("attention_factor", gain)
        self.at(max_length)  # says what is wrong now, not in a forward pass

    def at(self, length: int) -> NDArray[np.float64]:
        """Return the angular frequencies for an input of this length."""
        if self.scaling == "none":
            return self._omega
        known = {
            "factor": self.factor,
            "length": length,
            "original_length": self._trained_on,
        }
        schedule = _FUNCTIONS[self.scaling]
        wanted = inspect.signature(schedule).parameters
        given = {name: value for name, value in known.items() if name in wanted}
        return schedule(self._omega, **given, **self._options)

    @property
    def original_length(self) -> int:
        """Tokens of a training sequence, which all schedules want but those with their factor."""
        assert self._trained_on is not None
        return self._trained_on

    def check_cache(self, end: int) -> None:
        """Raise ValueError if keys in a cache may have been turned for a shorter input."""
        if end > self.original_length:
            raise ValueError(
                f"scaling={self.scaling!r} turns all keys anew when an input grows beyond "
                f"original_length = {self.original_length}, but a cache holds turned ones, got "
                f"position {end - 1}; hand over whole sequences, or use 'ntk' or 'yarn'"
            )

    def check_view(self, places: Places) -> None:
        """Raise ValueError if a transform keeps from view the positions that say the length."""
        given = [one.given for one in (places.of_queries, places.of_keys) if one.given is not None]
        if not all(one.is_meta or can_look(one) for one in given):
            wanted = f"must be None in a transformed program, {self._why_ends()}"
            refuse(places.name, wanted, "given ones, whose numbers are not at hand there")

    def check_ends(self, lengths: Sequence[int], name: str) -> None:
        """Raise ValueError if given positions say no length, which frequencies follow from."""
        for length in lengths:
            if length < 1 or length > _checks.MOST:
                refuse(name, f"must reach from 0 to below 2**63, {self._why_ends()}", length - 1)

    def _why_ends(self) -> str:
        return f"as scaling={self.scaling!r} takes the largest position plus one for the length"

    def _length(self, original_length: int | None, factor: float | None) -> int | None:
        if original_length is not None:
            return _checks.count("original_length", original_length, minimum=2)
        if self.scaling in ("linear", "ntk") and factor is not None:
            return None
        raise ValueError(
            f"original_length must be given with scaling={self.scaling!r}: how many tokens a "
            "training sequence had, got None"
        )

    def _factor(self, factor: float | None, max_length: int, *, gained: bool) -> float:
        if factor is not None:
            return schedules.check_factor(factor)
        if self.scaling == "dynamic_ntk" or (self.scaling == "longrope" and gained):
            return 1.0
        if max_length < self.original_length:
            raise ValueError(
                f"factor must be given where max_length = {max_length} is below original_length = "
                f"{self.original_length}, got None"
            )
        return max_length / self.original_length

    def _gain(self) -> float:
        if self.scaling == "yarn":
            return schedules.yarn_gain(self.factor)
        if self.scaling == "longrope":
            return schedules.longrope_gain(self.factor, self.original_length)
        return 1.0


def _known_options(scaling: str, options: Mapping[str, object] | None) -> dict[str, Any]:
    """Return a copy of the options, or raise ValueError if one is unknown or missing."""
    if not isinstance(options, Mapping | None):
        raise ValueError(f"scaling_options must be a mapping from names to values, got {options!r}")
    options = dict(options or {})
    parameters = inspect.signature(_FUNCTIONS[scaling]).parameters if scaling != "none" else {}
    own = [p for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    known = [p.name for p in own] + ["attention_factor"] * (scaling in _GAINED)
    unknown = [str(name) for name in options if name not in known]
    if unknown:
        raise ValueError(
            f"scaling_options of {scaling!r} are: {', '.join(known) or 'none'}; "
            f"got {', '.join(unknown)}"
        )
    missing = [p.name for p in own if p.default is p.empty and p.name not in options]
    if missing:
        raise ValueError(f"scaling_options of {scaling!r} must hold {' and '.join(missing)}")
    return options


def _refuse_unused(**given: object) -> None:
    """Raise ValueError for the first argument that means nothing without a scaling."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} must be None with scaling='none', which would ignore it, got {value!r}"
            )
