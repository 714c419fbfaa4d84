"""When a training checks its validation part, what it keeps, when it stops, and its learning rate.

Two courses are known. In *epochs*, of the stored results' first edition, every epoch ends with a
check, and patience counts epochs. In *steps* (`Settings.steps` above 0) a check comes after every
`check_every` optimisation steps, however few series there are, so that small sets are trained as
long as large ones.
"""

import math
from dataclasses import dataclass, field

from posenc_book.records.settings import Settings

# A fall of the validation loss that counts as progress: one per cent of the lowest so far.
PROGRESS = 0.99


@dataclass(frozen=True)
class Course:
    """The frame of a training; `plan` makes it.

    Parameters
    ----------
    round_steps : int
        Optimisation steps between two checks of the validation part.
    most_rounds, least_rounds : int
        Most and fewest checks.
    patience : int
        Checks without progress before stopping.
    """

    round_steps: int
    most_rounds: int
    least_rounds: int
    patience: int

    @property
    def most_steps(self) -> int:
        """Optimisation steps at the most."""
        return self.round_steps * self.most_rounds


def plan(settings: Settings, n_batches: int) -> Course:
    """Return the course that the settings ask for."""
    if not settings.steps:
        return Course(n_batches, settings.epochs, 0, settings.patience)
    every = settings.check_every
    return Course(
        every,
        math.ceil(settings.steps / every),
        math.ceil(settings.least_steps / every),
        math.ceil(settings.patience_steps / every),
    )


def learning_rate(step: int, n_steps: int, settings: Settings) -> float:
    """Return the learning rate of a step: a linear rise, then constant or a cosine to 0."""
    rise = max(1, round(settings.warmup * n_steps))
    if step < rise:
        return settings.learning_rate * (step + 1) / rise
    if settings.schedule == "constant":
        return settings.learning_rate
    share = (step - rise) / max(1, n_steps - rise)
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * share))


@dataclass
class Best:
    """What one seed has reached so far: its best validation, and when it failed if it did.

    The better of two checks has the higher accuracy, and of equal ones the lower loss. In epochs
    each better check restores patience. In steps a higher accuracy does, or a loss that is one
    per cent below the lowest so far; an accuracy of 1 leaves nothing to wait for.

    Parameters
    ----------
    settings : Settings
        What is trained.
    score : (float, float)
        Validation accuracy of the best check, and its loss with the sign turned.
    lowest : float
        Lowest validation loss that counted as progress.
    at : int
        Number of the best check, from 1 on; 0 before the first.
    waiting : int
        Checks without progress since.
    losses, accuracies : list of float
        Training loss and validation accuracy of every check.
    error : str
        Why the training came to nothing; empty if it did not.
    """

    settings: Settings
    score: tuple[float, float] = (-math.inf, -math.inf)
    lowest: float = math.inf
    at: int = 0
    waiting: int = 0
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    error: str = ""

    def done(self, course: Course) -> bool:
        """Return whether to stop: patience is over, and the fewest steps done or all is right."""
        if self.error:
            return True
        enough = len(self.losses) >= course.least_rounds or self.score[0] == 1
        return enough and self.waiting >= course.patience

    def check(self, number: int, train_loss: float, accuracy: float, loss: float) -> bool:
        """Note a check; return whether it is the best so far."""
        self.losses.append(train_loss)
        self.accuracies.append(accuracy)
        if not math.isfinite(train_loss):
            self.error = f"the training loss became {train_loss} {self._when(number)}"
            return False
        score = (accuracy, -loss if math.isfinite(loss) else -math.inf)
        better = score > self.score
        self.waiting = 0 if self._progress(score) else self.waiting + 1
        if better:
            self.score, self.at = score, number
        return better

    def _progress(self, score: tuple[float, float]) -> bool:
        if not self.settings.steps:
            return score > self.score
        lower = -score[1] < PROGRESS * self.lowest and self.score[0] < 1
        if lower:
            self.lowest = -score[1]
        return lower or score[0] > self.score[0]

    def _when(self, number: int) -> str:
        if not self.settings.steps:
            return f"in epoch {number}"
        return f"before step {number * self.settings.check_every}"
