"""Everything that decides the result of one training, in one dataclass with a stable key."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from posenc import _checks

SCALES = ("paper", "unit", "loud", "learned")
OPTIMIZERS = ("adamw", "radam")
PRECISIONS = ("float32", "bfloat16")
NORMS = ("own", "batch", "layer", "none")
SCHEDULES = ("cosine", "constant")
INPUT_STATISTICS = ("", "mean_std_slope", "winstat", "winstat_lag")
INPUT_SCALINGS = ("", "asinh", "series")

# Settings that came after the first stored results. At these values they are left out of keys and
# records, so that what was trained before keeps its key.
_LATER = {
    "norm": "own",
    "steps": 0,
    "least_steps": 0,
    "patience_steps": 500,
    "check_every": 50,
    "schedule": "cosine",
    "resample": 0,
    "tuned": "",
    "protocol": "",
    "dataset_source": "",
    "input_statistics": "",
    "input_scaling": "",
}

# What names on a command line or the engine set; all others have an option of their own.
NAMED = {"encoding", "model", "dataset", "seed", "profile", "encoding_source", "dataset_source"}
NAMED |= {"encoding_options", "dataset_options", "resample", "split_seed", "tuned", "protocol"}

# Far beyond what any machine trains, yet small enough for a table of the encoding.
MOST_WIDE, MOST_SEEDS = 1 << 16, 10_000
_SIZES = ("d_model", "n_heads", "n_layers", "d_ff", "patch")
_COUNTS = ("epochs", "batch_size", "patience", "patience_steps", "check_every")


@dataclass(frozen=True)
class Settings:
    """One cell of the benchmark: what is trained, on what, and how.

    Parameters
    ----------
    encoding, model, dataset : str
        Names; an encoding or a model may also be "module:Class".
    seed : int
        Seeds the initial weights, the order of the batches and the dropout.
    profile : str
        Name of the profile that the other values come from.
    encoding_options : mapping
        Options of the encoding, handed to its constructor.
    dataset_options : mapping
        Options of a synthetic data set, or what a real one loses (`posenc_book.data.lost_samples`);
        `deal="halves"` lets resamples have half of each class in either part.
    encoding_source : str
        Fingerprint of the encoding's code, so that an edited one is trained anew.
    scale : str
        Scale of added encodings: "paper" (as their authors define them), "unit" (rows of
        norm 1), "loud" (of norm sqrt(d_model / 2)) or "learned" (one trained gain). No effect on
        encodings that have no such option.
    d_model, n_heads, n_layers, d_ff, patch : int
        Size of the model; `patch` is read by the patch model only.
    dropout : float
        Share of activations dropped in training.
    optimizer : str
        "adamw" or "radam".
    learning_rate, weight_decay : float
        Peak learning rate, and decoupled weight decay.
    warmup : float
        Share of all steps with a rising learning rate; a cosine decay to 0 follows.
    batch_size, epochs, patience : int
        Series per step, most epochs, and epochs without a better validation before stopping.
    validation : float
        Share of the training part that is held out to choose the checkpoint.
    split_seed : int
        Seeds that split. The same for every `seed`, so that seeds differ in training only.
    max_cases : int
        Most series used of the training part and of the test part; 0 uses all.
    precision : str
        "float32", or "bfloat16" for mixed precision on a GPU.
    norm : str
        "batch", "layer" or "none" in either model; "own" is that of the model's algorithm, batch
        norm in the time series model and layer norm in the patch model.
    steps : int
        Most optimisation steps, rounded up to whole `check_every`; above 0 it takes the place of
        `epochs` and `patience`, and small sets are trained as long as large ones. 0 counts in
        epochs.
    least_steps, patience_steps, check_every : int
        In a course of steps: fewest steps unless all of the validation part is right, steps
        without progress before stopping, and steps between two looks at the validation part. The
        first two are rounded up like `steps`; see `posenc_book.bench.course`.
    schedule : str
        After the rise, "cosine" falls to 0 over the most steps, "constant" stays.
    resample : int
        0 is the official split, 1 and up are `posenc_book.data.resample`, or deals in halves.
    tuned : str
        How learning rate and scale were chosen for each encoding, such as "4 trials of 500
        steps"; empty if they were given.
    protocol : str
        Hash of the protocol that the training belongs to; empty for any other.
    dataset_source : str
        Fingerprint of the series, so that a data set that has changed is trained anew.
    input_statistics : str
        Statistics of windows that stand beside the series as further channels, a name of
        `posenc.encodings.with_window_statistics`; empty for the series alone. With the encoding
        "none" it is the control of encodings that are made from the signal.
    input_scaling : str
        How values are scaled: by mean and standard deviation of the training part, if empty;
        "asinh" takes its medians and quartiles and then asinh, which tames heavy tails; "series"
        takes mean and standard deviation of each series by itself.
    """

    encoding: str
    model: str
    dataset: str
    seed: int = 0
    profile: str = "laptop"
    encoding_options: Mapping[str, Any] = field(default_factory=dict)
    dataset_options: Mapping[str, Any] = field(default_factory=dict)
    encoding_source: str = ""
    scale: str = "paper"
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 128
    patch: int = 8
    dropout: float = 0.1
    optimizer: str = "adamw"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    warmup: float = 0.1
    batch_size: int = 32
    epochs: int = 40
    patience: int = 15
    validation: float = 0.25
    split_seed: int = 0
    max_cases: int = 1000
    precision: str = "float32"
    norm: str = "own"
    steps: int = 0
    least_steps: int = 0
    patience_steps: int = 500
    check_every: int = 50
    schedule: str = "cosine"
    resample: int = 0
    tuned: str = ""
    protocol: str = ""
    dataset_source: str = ""
    input_statistics: str = ""
    input_scaling: str = ""

    def __post_init__(self) -> None:
        for name in _SIZES:
            _checks.count(name, getattr(self, name), minimum=1, maximum=MOST_WIDE)
        for name in _COUNTS:
            _checks.count(name, getattr(self, name), minimum=1)
        for name in ("seed", "split_seed", "max_cases", "steps", "least_steps", "resample"):
            _checks.count(name, getattr(self, name))
        for name in ("dropout", "validation", "warmup"):
            _checks.probability(name, getattr(self, name))
        _checks.positive("validation", self.validation)
        if self.steps and self.least_steps > self.steps:
            raise ValueError(
                f"least_steps must be at most steps = {self.steps}, got {self.least_steps}"
            )
        _checks.positive("learning_rate", self.learning_rate)
        if self.weight_decay != 0:
            _checks.positive("weight_decay", self.weight_decay)
        _checks.choice("scale", self.scale, SCALES)
        _checks.choice("optimizer", self.optimizer, OPTIMIZERS)
        _checks.choice("precision", self.precision, PRECISIONS)
        _checks.choice("norm", self.norm, NORMS)
        _checks.choice("schedule", self.schedule, SCHEDULES)
        if self.input_statistics:
            known = [name for name in INPUT_STATISTICS if name]
            _checks.choice("input_statistics", self.input_statistics, known)
        _checks.choice("input_scaling", self.input_scaling, INPUT_SCALINGS)
        _checks.divisor("n_heads", self.n_heads, "d_model", self.d_model)
        for item in fields(self):  # 1 and 1.0 must give one key
            if item.type is float:
                object.__setattr__(self, item.name, float(getattr(self, item.name)))

    @property
    def key(self) -> str:
        """Hash of all settings: 32 hexadecimal digits, the same on every machine."""
        return key(self.stored())

    def stored(self) -> dict:
        """Return the settings as records hold them."""
        return {k: v for k, v in asdict(self).items() if k not in _LATER or v != _LATER[k]}

    def with_seed(self, seed: int) -> "Settings":
        """Return the same cell with another seed."""
        return replace(self, seed=seed)

    def tuned_as(self, other: "Settings") -> "Settings":
        """Return the same cell with the learning rate and scale that another one was tuned to."""
        return replace(
            self, learning_rate=other.learning_rate, scale=other.scale, tuned=other.tuned
        )

    def like(self, other: "Settings") -> "Settings":
        """Return the same cell with the seed, split and resample of another one."""
        return replace(self, seed=other.seed, split_seed=other.split_seed, resample=other.resample)


# The course of the plan `experiments/classification`; `bench.commands.run` adds tuning, so many
# resamples, and `none`.
PROTOCOL, RESAMPLES = "protocol", 5

# Only what differs from the defaults above, which are the laptop's.
PROFILES: dict[str, dict[str, Any]] = {
    "smoke": {
        "d_model": 16,
        "n_heads": 2,
        "n_layers": 1,
        "d_ff": 32,
        "epochs": 2,
        "patience": 2,
        "batch_size": 16,
        "max_cases": 64,
    },
    "laptop": {},
    "full": {
        "d_model": 128,
        "n_heads": 8,
        "n_layers": 4,
        "d_ff": 256,
        "epochs": 100,
        "patience": 25,
        "max_cases": 0,
    },
    PROTOCOL: {
        "batch_size": 16,
        "schedule": "constant",
        "warmup": 0.0125,
        "max_cases": 2000,
        "steps": 4000,
        "least_steps": 500,
    },
}

# What `--help` says of each setting that has an option of its own.
HELP = {
    "scale": f"size of added encodings: {', '.join(SCALES)}",
    "d_model": "width of the model",
    "n_heads": "heads of attention",
    "n_layers": "layers",
    "d_ff": "width of the feed-forward part",
    "patch": "steps that make a token of the patch model",
    "dropout": "share of activations dropped in training",
    "optimizer": " or ".join(OPTIMIZERS),
    "learning_rate": "largest learning rate; --tune chooses it",
    "weight_decay": "decoupled weight decay",
    "warmup": "share of all steps in which the learning rate rises",
    "batch_size": "series in a step",
    "epochs": "most epochs",
    "patience": "epochs without a better validation before a training run stops",
    "validation": "share of the training part that is held out to choose the weights",
    "max_cases": "most series of the training part and of the test part, 0 for all",
    "precision": "float32, or bfloat16 on a GPU",
    "norm": f"{', '.join(NORMS)}; own is that of each model's authors",
    "steps": "most steps of optimisation, in place of --epochs and --patience; 0 counts in epochs",
    "least_steps": "with --steps: fewest steps",
    "patience_steps": "with --steps: steps without progress before a training run stops",
    "check_every": "with --steps: steps between two looks at the validation part",
    "schedule": "of the learning rate after its rise: cosine falls to 0, constant stays",
    "input_scaling": "how values are scaled: asinh for heavy tails, series for each by itself",
    "input_statistics": "statistics of windows as further channels: "
    + ", ".join(filter(None, INPUT_STATISTICS)),
}


def key(stored: Mapping[str, Any]) -> str:
    """Return the key of a record: the hash of its settings."""
    text = json.dumps(stored, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def complete(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a record with those that its time did not know yet."""
    return {**_LATER, **stored}


def profile(name: str) -> dict[str, Any]:
    """Return the settings of a profile: `Settings(encoding, model, dataset, **profile(name))`."""
    return {**PROFILES[_checks.choice("profile", name, PROFILES)], "profile": name}
