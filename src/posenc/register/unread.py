"""What of a configuration nothing read: other models, and entries that sound like positions."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from posenc.register.reading import SOUNDS, ConfigError
from posenc.register.values import NAMES

MODELS = re.compile("vision|audio|visual|speech|image|talker|code2wav|token2wav")
SWITCHED = dict.fromkeys(  # these say nothing where that one is false
    ("max_window_layers", "use_sliding_window"), "use_sliding_window"
)
SIZES = ("hidden_size", "num_hidden_layers", "depth", "embed_dim", "d_model", "n_layers")


# What some families have, and by what the names of others that read it begin.
OF_SOME = {"no_rope_layer_interval": "llama4", "full_attn_idxs": "lfm2"}
# What sounds like positions, too, but by which no class was asked for what it takes.
ALSO = re.compile("alibi|yarn|ntk|attention_chunk_size|attn_idxs")


def of_others(name: str, family: Mapping[str, Any]) -> set[str]:
    """Return names that the register knows of other families, and that this one's class ignores."""
    known = {*family.get("takes", ()), *family.get("defaults", {})}
    known |= {*family.get("base_entries", {}).values(), family.get("window_before")}
    others = {one for names in NAMES.values() for one in names if SOUNDS.search(one)}
    others |= {one for one, own in OF_SOME.items() if not name.startswith(own)}
    return others - known


class Asked(dict[str, Any]):
    """A configuration that keeps the names of the entries that it was asked for."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def entries(
    config: Mapping[str, Any],
    asked: Asked,
    beside: Mapping[str, Any],
    family: Mapping[str, Any],
    foreign: set[str],
    read: Callable[[Mapping[str, Any]], Any],
) -> tuple[str, ...]:
    """Return entries that sound like positions and change nothing of what is read, as name = value.

    `foreign` are names that only other families read. `asked` was read once; what it lacks of
    `config` the family's class ignores, and `beside` stands around it. The names that the class is
    known to take are no matter; of any other entry, another value has to be told from this one.
    """
    known = family.get("takes", ())
    left = {**beside, **config}
    for name in asked:
        if _sounds(name) and (name in known or _matters(asked, name, read)):
            del left[name]
    read_so = {name: dict.get(asked, name) for name in asked.names & asked.keys()}
    said = {**family.get("defaults", {}), **read_so}
    for name in {*foreign, *family.get("ignores", ())} & left.keys():
        if _is_said_again(name, left[name], said if name in foreign else read_so):
            del left[name]
    return tuple(
        f"{_plain(name)} = {value!r:.60}"
        for name, value in left.items()
        if value is not None
        and _sounds(name)
        and not _is_model(name, value)
        and not _turns_all(name, value, family)
    )


def _turns_all(name: str, value: Any, family: Mapping[str, Any]) -> bool:
    """Return whether an entry says that all turns that can, as it does without the entry."""
    return name == "partial_rotary_factor" and value == 1 and name not in family.get("ignores", ())


def _sounds(name: str) -> bool:
    return bool(SOUNDS.search(name) or ALSO.search(name))


def _matters(config: Asked, name: str, read: Callable[[Mapping[str, Any]], Any]) -> bool:
    """Return whether anything that is read hangs on an entry."""
    if dict.get(config, SWITCHED.get(name, "")) is False:
        return True
    asked, value = config.names, dict.get(config, name)
    others = {one: dict.get(config, one) for one in asked if one != name}
    if _is_said_again(name, value, others):
        return True
    if name not in asked:
        return False
    entries = {one: said for one, said in config.items() if one != name}
    try:
        return any(read(one) != read(config) for one in (entries, entries | {name: _other(value)}))
    except ConfigError:
        return True


def _is_said_again(name: str, value: Any, others: Mapping[str, Any]) -> bool:
    """Return whether entries that are read say the same under another name, or in a block."""
    names = next(({one, *more} for one, more in NAMES.items() if name in (one, *more)), {name})
    said = [others.get(block) for block in ("rope_scaling", "rope_parameters")]
    blocks = [block for block in said if isinstance(block, Mapping)]
    of_types = [one for block in blocks for one in block.values() if isinstance(one, Mapping)]
    parts = [others, *blocks, *of_types]
    return any(part.get(one) == value for part in parts for one in names)


def _other(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return 2 * value + 1
    return f"{value}?" if isinstance(value, str) else []


def models(*parts: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the other models in a configuration: the name, with the architecture, and the part."""
    for part in parts:
        for name, value in part.items():
            if _is_model(name, value):
                kind = value.get("model_type")
                said = f" ({_plain(kind)})" if isinstance(kind, str) else ""
                yield _plain(name), _plain(name) + said, value


def _plain(name: str) -> str:
    """Return a name on one line, with what would steer a terminal spelled out."""
    return name[:60] if name.isprintable() else ascii(name[:60])[1:-1]


def _is_model(name: str, value: Any) -> bool:
    if not isinstance(value, Mapping) or name == "quantization_config":
        return False
    return bool(MODELS.search(name)) or "model_type" in value or any(s in value for s in SIZES)
