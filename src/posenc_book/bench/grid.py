"""Which cells a run has: names on the command line to settings, in an order kind to caches."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from posenc import _checks
from posenc_book import data
from posenc_book.bench import build
from posenc_book.data.lost_samples import CLOCKS
from posenc_book.records.settings import Settings, profile


@dataclass(frozen=True)
class Spec:
    """A name with options, written "name" or "name:key=value,key=value".

    Parameters
    ----------
    name : str
        Of a data set or an encoding.
    options : mapping
        What its constructor gets.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


def parse(text: str) -> Spec:
    """Return the name and the options of a text such as "rotary:pairing=half".

    Values are read as JSON or Python where they are that (numbers, true, False, null, None, a list
    [1, 2] or a mapping {"a": 1}), else as text. A reader's own encoding keeps its colon:
    "mymodule:MyEncoding:gain=2".
    """
    begin = re.search(r"(?<!^):(?=[^:=]*=)", text)
    if begin is None:
        return Spec(text)
    head, tail = text[: begin.start()], text[begin.end() :]
    options = {}
    for item in _items(tail):
        key, equals, value = item.partition("=")
        if not (key.isidentifier() and equals and value):
            raise ValueError(f"options must be written key=value,key=value; got {tail!r}")
        options[key] = _value(value)
    return Spec(head, options)


@dataclass(frozen=True)
class Grid:
    """Every combination of data sets, models, encodings and seeds, all else equal.

    Parameters
    ----------
    datasets, encodings : sequences of Spec
    models : sequence of str
        "time_series", "patch".
    seeds : sequence of int
    common : mapping
        Settings that all cells share: a profile's, with changes.
    resampled : bool
        Whether seed r also means resample r and a validation part of its own. Sets that have
        their official split only keep it.
    left_out : set of (int, str, int)
        Numbers of data sets, models, and numbers of encodings that cannot stand at a set's times.
    """

    datasets: Sequence[Spec]
    encodings: Sequence[Spec]
    models: Sequence[str]
    seeds: Sequence[int]
    common: Mapping[str, Any]
    resampled: bool = False
    left_out: frozenset[tuple[int, str, int]] = frozenset()

    def __len__(self) -> int:
        n_places = len(self.datasets) * len(self.encodings) * len(self.models)
        return (n_places - len(self.left_out)) * len(self.seeds)

    def groups(self) -> Iterator[list[Settings]]:
        """Yield the cells that differ in seed or resample only, data set by data set."""
        sources = {spec.name: build.encoding_fingerprint(spec.name) for spec in self.encodings}
        for number, dataset in enumerate(self.datasets):
            dataset_source = data.fingerprint(dataset.name, **dataset.options)
            for model in self.models:
                for place, encoding in enumerate(self.encodings):
                    if (number, model, place) in self.left_out:
                        continue
                    cell = Settings(
                        encoding.name,
                        model,
                        dataset.name,
                        encoding_options=encoding.options,
                        encoding_source=sources[encoding.name],
                        dataset_options=dataset.options,
                        dataset_source=dataset_source,
                        **self.common,
                    )
                    yield [self._numbered(cell, seed) for seed in self.seeds]

    def fetch(self) -> "Grid":
        """Read every data set, so that a missing or faulty one is known before any training.

        Return the grid without the encodings that cannot stand at a set's times.
        """
        refused = set()
        for number, spec in enumerate(self.datasets):
            for split in data.SPLITS:
                part = data.load(spec.name, split, **spec.options)
                for model, (place, encoding) in product(self.models, enumerate(self.encodings)):
                    options = {"encoding_options": encoding.options, **self.common}
                    cell = Settings(encoding.name, model, spec.name, **options)
                    build.check_gaps(cell, part)
                    if build.refuses_times(cell, part):
                        refused.add((number, model, place))
        return replace(self, left_out=frozenset(refused))

    def exclusions(self) -> list[str]:
        """Return a sentence for each data set and model with encodings that are left out."""
        names: dict[tuple[int, str], list[str]] = {}
        for number, model, place in sorted(self.left_out):
            names.setdefault((number, model), []).append(self.encodings[place].name)
        return [
            f"{self.datasets[number].name}, {model}: {', '.join(some)} cannot stand at such times, "
            "and learn from numbers alone"
            for (number, model), some in names.items()
        ]

    def _numbered(self, cell: Settings, seed: int) -> Settings:
        if not self.resampled:
            return cell.with_seed(seed)
        resample = 0 if data.official_only(cell.dataset) else seed
        return replace(cell, seed=seed, split_seed=seed, resample=resample)


def make(
    datasets: Sequence[str],
    encodings: Sequence[str],
    models: Sequence[str],
    seeds: Sequence[int],
    profile_name: str = "laptop",
    *,
    resampled: bool = False,
    **changes: Any,
) -> Grid:
    """Return a grid, after looking for what is wrong with it."""
    lists = {"datasets": datasets, "encodings": encodings, "models": models, "seeds": seeds}
    for name, values in lists.items():
        if not values:
            raise ValueError(f"{name} must name at least one, got none")
        if len(set(values)) != len(values):
            raise ValueError(f"{name} must not repeat, got {', '.join(map(str, values))}")
    for seed in seeds:
        _checks.count("seeds", seed, minimum=0)
    for model in models:
        _checks.choice("model", model, build.MODELS)
    specs = [replace(spec, name=build.stored_name(spec.name)) for spec in map(parse, encodings)]
    for spec in specs:
        build.check_options(spec.name, spec.options)
    common = {**profile(profile_name), **changes}
    for spec in specs:  # making cells checks the settings themselves
        cell = Settings(spec.name, models[0], "", encoding_options=spec.options, **common)
        build.check_option_values(cell)
    read = [parse(text) for text in datasets]
    return Grid(read, specs, list(models), list(seeds), common, resampled)


def _items(text: str) -> list[str]:
    """Return what commas part, but not those within brackets."""
    items, begin, depth = [], 0, 0
    for end, sign in enumerate(text):
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth <= 0:
            items.append(text[begin:end])
            begin = end + 1
    return [*items, text[begin:]]


def both_clocks(texts: Sequence[str]) -> list[str]:
    """Return names of data sets, those that keep times twice: with them, and with steps counted."""
    names = []
    for text in texts:
        spec = parse(text)
        if "clock" in spec.options or not _keeps_times(spec.name):
            names.append(text)
        else:
            sign = "," if spec.options else ":"
            names += [f"{text}{sign}clock={clock}" for clock in CLOCKS]
    return names


def _keeps_times(name: str) -> bool:
    """Return whether a set on this machine keeps the times of its steps."""
    try:
        return data.is_here(name) and data.load(name, "train").times is not None
    except data.DataError:  # which is said where all sets are read
        return False


_PYTHON = {"True": True, "False": False, "None": None}


def _value(text: str) -> object:
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
