"""How one question is asked: fresh weights that are awake, a limit of time, errors as findings."""

import importlib
import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from posenc.testing.adapters.base import (
    Adapter,
    CannotAsk,
    Ignored,
    NoTensor,
    UseError,
    WrongOutput,
)
from posenc.testing.promises import DEMANDS, Promises
from posenc.testing.report import Finding

Came = TypeVar("Came")

LENGTHS = (2, 3, 5, 8, 13)
"""Numbers of tokens that are tried, the shortest first."""
NOT_FINITE = (
    "a query sees no key at all, and the softmax of nothing but -inf is NaN, or a number overflows."
)
"""The usual reason for NaN, whatever was asked."""
ROUNDING = 1e-5
"""The order of a sum changes less in float32, and otherwise from run to run: it is told as 0."""


LISTENERS: list[Callable[[str], None]] = []
"""Who hears the name of each check before it is asked."""


class Late(BaseException):
    """Time is up. No Exception, lest whoever takes errors for refusals waits without a limit."""


@dataclass(frozen=True)
class Seen:
    """What one input showed: a number, and the input in words.

    `due` and `hint` replace the check's own, and `note` stands behind the number. `said` stands in
    place of the number; `fields` are what it says, as data.
    """

    number: float
    shown: str
    due: float | None = None
    note: str = ""
    hint: str = ""
    said: str = ""
    fields: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Asked:
    """What a check gets: fresh subjects, and what was promised of them."""

    make: Callable[[], Adapter]
    promises: Promises
    tolerance: float = 1e-3
    seed: int = 0
    sizes: list[int] = field(default_factory=list, compare=False)

    def subject(self, *, awake: bool = True, dtype: torch.dtype | None = None) -> Adapter:
        """Return the module made anew, always with the same weights, in evaluation mode."""
        with torch.random.fork_rng(devices=[]), _default_dtype(dtype):
            torch.default_generator.manual_seed(self.seed)
            adapter = self.make()
            adapter.axes = self.promises.axes or adapter.axes
            adapter.sizes = self.sizes
            if adapter.module is not None:
                adapter.module.eval()
                if awake:
                    wake(adapter.module)
            if self.promises.device is not None:
                adapter.place_on(self.promises.device)
        return adapter

    def with_module(self, lacking: str) -> Adapter:
        """Return `subject`, or raise CannotAsk with what a plain function lacks."""
        subject = self.subject()
        if subject.module is None:
            raise CannotAsk(f"a function {lacking}")
        return subject

    def lengths(self, least: int = 2) -> list[int]:
        """Return the lengths to try, within what the module was made for."""
        most = self.trained or max(LENGTHS)
        return [n for n in LENGTHS if least <= n <= most] or [least]

    @cached_property
    def trained(self) -> int | None:
        """The length that it was trained for, as far as anybody said."""
        return self.promises.trained or self.subject(awake=False).trained

    def beyond(self) -> int:
        """Return a length that is longer than trained, and short enough to be asked in a second."""
        return min(2 * (self.trained or 16), 600)

    @cached_property
    def _change_by_positions(self) -> float:
        subject = self.subject()
        x = subject.tokens(1, 3)
        near, far = (
            subject.outputs(x, positions=subject.at(row)) for row in ([0, 1, 2], [0, 2, 7])
        )
        return difference(far, near)

    def reads_positions(self) -> bool:
        """Return whether positions are taken, and change anything."""
        return self.subject(awake=False).takes("positions") and self._change_by_positions != 0

    def needs_positions(self) -> None:
        """Raise CannotAsk if it takes no positions, Ignored if these change nothing at all."""
        if self._change_by_positions == 0:
            raise Ignored("positions are taken, and other ones change nothing at all")


@dataclass(frozen=True)
class Check:
    """One question: its name, the promise it belongs to, and a function that yields `Seen`."""

    name: str
    promise: str
    page: str
    hint: str
    ask: Callable[[Asked], Iterator[Seen]]
    at_least: float | None = None
    on_request: bool = False
    needs: tuple[str, ...] = ()

    def is_asked(self, promises: Promises, measure: bool) -> bool:
        """Return whether to ask at all; some checks are asked on request only."""
        return self.is_promised(promises) or (measure and not self.on_request)

    def run(self, asked: Asked, seconds: float) -> Finding:
        """Ask, and return what was found. Nothing that the module does ends the checker."""
        asked.sizes.clear()
        for listen in LISTENERS:
            listen(self.name)
        self._load()
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                return within(seconds, lambda: self._look(asked))
        except UseError:
            raise
        except CannotAsk as reason:
            return self.not_asked(asked, str(reason))
        except Ignored as reason:
            return self._finding(asked, "ignored", came=str(reason))
        except Late:
            more = f"seconds={3 * seconds:g}, or --seconds {3 * seconds:g} on a command line"
            came = f"no answer within {seconds:g} seconds; {more}, gives it more"
            return self._finding(asked, "late", came=came)
        except NoTensor as error:
            return self._failed(asked, str(error), "it is inside, and an Adapter can take it out.")
        except WrongOutput as error:
            return self._failed(asked, str(error), self.hint)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever it is, it is a finding
            first = (str(error).strip() or "no message").splitlines()[0]
            return self._failed(asked, f"{type(error).__name__}: {first:.200}")

    def _load(self) -> None:
        """Import what the check needs, as that is not the module's time."""
        with warnings.catch_warnings(), suppress(ImportError):
            warnings.simplefilter("ignore")
            for name in self.needs:
                importlib.import_module(name)

    def not_asked(self, asked: Asked, reason: str) -> Finding:
        """Return the finding that it could not be asked, and why."""
        return self._finding(asked, "cannot", came=reason)

    def _look(self, asked: Asked) -> Finding:
        """Go from the smallest input to the largest, and stop at the first that decides."""
        looked: list[tuple[bool, float, Seen]] = []
        for seen in self.ask(asked):
            due = self._due(asked, seen)
            looked.append((self._holds(seen.number, due), due, seen))
            if looked[-1][0] == (self.at_least is not None):
                break
        if not looked:
            raise CannotAsk("no input is long enough to ask it")
        holds, due, seen = looked[-1]
        if holds and self.at_least is None:  # the largest of the small differences
            _, due, seen = max(looked, key=lambda one: one[2].number)
        if not holds and self.at_least is not None:  # nothing showed it, and the first is smallest
            _, due, seen = looked[0]
        opposite = self.promise in DEMANDS and asked.promises.word(self.promise) is False
        outcome = self._outcome(asked, holds != opposite)
        return self._finding(
            asked,
            outcome,
            expected="" if seen.said else self._in_words(due, opposite),
            came=seen.said or _verdict_text(outcome, self.promise, holds, seen, due, opposite),
            smallest=seen.shown,
            number=seen.number,
            due=due,
            size=max(asked.sizes, default=0),
            hint=self._reason(seen, opposite),
            fields=seen.fields,
        )

    def _reason(self, seen: Seen, opposite: bool) -> str:
        """Return the usual reason of a fault; none is known where the opposite was promised."""
        if math.isnan(seen.number):
            return NOT_FINITE
        return "" if opposite else seen.hint or self.hint

    def _due(self, asked: Asked, seen: Seen) -> float:
        if seen.due is not None:
            return seen.due
        return asked.tolerance if self.at_least is None else self.at_least

    def _holds(self, number: float, due: float) -> bool:
        if math.isnan(number):
            return False
        return number <= due if self.at_least is None else number >= due

    def _in_words(self, due: float, opposite: bool) -> str:
        up = (self.at_least is not None) != opposite
        return f"at least {due:.3g}" if up else f"at most {due:.3g}"

    def _outcome(self, asked: Asked, good: bool) -> str:
        if not self.is_promised(asked.promises):
            return "measured"
        return "held" if good else "broken"

    def is_promised(self, promises: Promises) -> bool:
        """Return whether an answer can break a promise, or two that are asked together."""
        return all(map(promises.speak_of, self.promise.split(" & ")))

    def _failed(self, asked: Asked, what: str, hint: str = "") -> Finding:
        outcome = "broken" if self.is_promised(asked.promises) else "measured"
        size = max(asked.sizes, default=0)
        return self._finding(asked, outcome, expected="an answer", came=what, hint=hint, size=size)

    def _finding(self, asked: Asked, outcome: str, **told: Any) -> Finding:
        word = self.promise if " & " in self.promise else self.promise.partition(" ")[0]
        word = word if self.is_promised(asked.promises) else ""
        told = {"hint": self.hint} | told
        return Finding(self.name, outcome, promise=word, page=self.page, **told)


def _verdict_text(
    outcome: str, promise: str, holds: bool, seen: Seen, due: float, opposite: bool
) -> str:
    note = f" ({seen.note})" if seen.note else ""
    number = "0" if seen.number < min(ROUNDING, due) else f"{seen.number:.2g}"
    number += note
    if outcome == "held" and opposite:
        return f"not so, as promised, {number}"
    if outcome != "measured" or not promise:
        return number
    return f"{'yes' if holds else 'no'}, {number}"


def difference(one: Tensor, other: Tensor) -> float:
    """Return the largest difference as a share of the other's size (root mean square).

    NaN where either has NaN.
    """
    if one.shape != other.shape:
        raise WrongOutput(
            f"an output of shape {tuple(one.shape)}, where {tuple(other.shape)} was due"
        )
    if one.numel() == 0:
        return 0.0
    one, other = one.to(other.device).double(), other.double()
    size = other.square().mean().sqrt().clamp(min=1e-30)
    return float((one - other).abs().max() / size)


def wake(module: nn.Module) -> None:
    """Make weights large enough for a fault to show: 2 / sqrt(inputs), where they are smaller.

    What starts at zero is drawn, and what starts at one, such as the gain of a norm, is drawn from
    0.5 to 1.5. What is not learned, such as a table of sinusoids, stays.
    """
    for weight in module.parameters():
        if not weight.requires_grad or not weight.is_floating_point() or weight.numel() == 0:
            continue
        with torch.no_grad():
            if not weight.any():
                weight.normal_(0, 0.25)
            elif (weight == 1).all():
                weight.uniform_(0.5, 1.5)
            elif weight.ndim >= 2:
                due = 2 / math.sqrt(weight[0].numel() if weight.ndim > 2 else weight.shape[-1])
                spread = float(weight.double().std()) if weight.numel() > 1 else due
                if 0 < spread < due:
                    weight.mul_(due / spread)


def within(seconds: float, function: Callable[[], Came]) -> Came:
    """Return what a function returns, or raise Late once it takes too long."""
    on_main = threading.current_thread() is threading.main_thread()
    return (
        _by_signal(seconds, function)
        if on_main and hasattr(signal, "SIGALRM")
        else (_in_thread(seconds, function))
    )


def _by_signal(seconds: float, function: Callable[[], Came]) -> Came:
    def late(*_: Any) -> None:
        raise Late

    before, started = signal.signal(signal.SIGALRM, late), time.monotonic()
    others, repeat = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return function()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if others:  # somebody else's limit of time goes on
            left = max(others - (time.monotonic() - started), 0.001)
            signal.setitimer(signal.ITIMER_REAL, left, repeat)


def _in_thread(seconds: float, function: Callable[[], Came]) -> Came:
    """Do the same where no signal can be had; what hangs is left to end with the program."""
    got: list[Any] = []

    def run() -> None:
        try:
            with torch.no_grad():
                got.append(function())
        except BaseException as error:
            got.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not got:
        raise Late
    if isinstance(got[0], BaseException):
        raise got[0]
    came: Came = got[0]
    return came


@contextmanager
def _default_dtype(dtype: torch.dtype | None) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype or before)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
