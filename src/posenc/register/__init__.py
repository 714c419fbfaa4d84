"""Released architectures: what each layer does with positions, read from a configuration."""

import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.register import distances, makers, papers, reading, rules, scaling, unread, words
from posenc.register.reading import ConfigError
from posenc.register.rules import Layer
from posenc.register.values import Values

if TYPE_CHECKING:
    from posenc.attention import Position, Scoring

__all__ = ["ConfigError", "Description", "Layer", "names", "read", "released"]


def names() -> list[str]:
    """Return the architectures of the register, as configurations call them (`model_type`).

    Returns
    -------
    list of str, sorted.

    Source: the classes of Hugging Face's transformers, probed as `peers/register` says.

    Examples
    --------
    >>> "llama" in names()
    True
    """
    return sorted(reading.families())


def released() -> dict[str, str]:
    """Return the released models whose numbers the register holds, with where they stand.

    Returns
    -------
    dict from the model's name to the address of the file that its numbers were taken from.

    Source: the configurations of Lightning AI's litgpt, which name those that they were made from,
    copies with their address in Google's MaxText, the presets of mlc-llm, under its own names, and
    copies of config.json in public repositories, which `peers/register/releases.toml` lists.

    Examples
    --------
    >>> read("meta-llama/Meta-Llama-3.1-8B").layers[0].base
    500000.0
    """
    return {name: entry["address"] for name, entry in sorted(reading.released().items())}


def read(config: Mapping[str, Any] | str | os.PathLike[str]) -> "Description":
    """Return what a model does with positions, layer by layer.

    Nothing of the configuration is executed, and nothing is downloaded.

    Parameters
    ----------
    config : mapping, path or str
        A configuration, the path of a `config.json`, of a `params.json` as Mistral and Meta write
        it, of a GGUF file, or of a folder with one of them; a name of `released`, or one of
        `names`, which stands for the defaults of its class. Those are no released model.

    Returns
    -------
    Description

    Raises
    ------
    ConfigError
        A ValueError, if it is no JSON object, larger than 10 MB, of an architecture that the
        register does not know or cannot describe, or if an entry is missing, means nothing or
        contradicts another.

    Source: layouts as probed in Hugging Face's transformers, schedules of `posenc.schedules`.

    Examples
    --------
    >>> found = read({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2,
    ...               "num_hidden_layers": 1, "rope_theta": 500000.0})
    >>> found.layers[0].base, found.layers[0].pairing, found.layers[0].head_dim
    (500000.0, 'half', 32)
    """
    given = reading.given(config)
    held, beside = reading.text_part(given.config)
    name, checks = reading.architecture({"auto_map": beside.get("auto_map")} | held)
    family = reading.families()[name]
    held = reading.unfolded(held, family)
    rules.agree(held)
    foreign = unread.of_others(name, family)
    ignored = {*family.get("ignores", ()), *foreign}
    asked = unread.Asked({entry: held[entry] for entry in held if entry not in ignored})
    layers, length = _described(asked, family)
    layers = _as_stored(layers, given.pairing)
    entry = reading.released().get(config) if isinstance(config, str) else None
    unproved = _unreached(layers, family.get("reached", ()))
    proved = [field for field in family.get("proved", ()) if field not in unproved]
    if any(layer.query_scaling for layer in layers) and "query_scaling" not in unproved:
        proved.append("query_scaling")
    left = unread.entries(held, asked, beside, family, foreign, lambda one: _described(one, family))
    left += given.unread
    towers, others = _towers(held, beside)
    trained, source = makers.trained(config if isinstance(config, str) else "", held)
    return Description(
        family=name,
        layers=layers,
        length=length[0],
        length_source=length[1],
        proved=() if left or held.get("model_type") != name else tuple(proved),
        unproved=tuple(sorted(unproved)),
        address=f"{entry['address']} ({entry['date']})" if entry else None,
        released=entry.get("released") if entry else None,
        released_source=entry.get("released_source") if entry else None,
        notes=tuple(papers.notes(name, layers)),
        trained=trained,
        trained_source=source,
        unread=left,
        towers=towers,
        others=others,
        checks=tuple(checks),
        outside=rules.outside(asked, family),
    )


def _as_stored(layers: tuple[Layer, ...], pairing: str | None) -> tuple[Layer, ...]:
    """Return layers with the pairs of a file's weights; those that are one object stay so."""
    if pairing is None:
        return layers
    made = {id(one): replace(one, pairing=pairing) if one.pairing else one for one in layers}
    return tuple(made[id(one)] for one in layers)


def _towers(
    *parts: Mapping[str, Any],
) -> tuple[tuple[tuple[str, "Description"], ...], tuple[str, ...]]:
    """Return the other models of a configuration that are read, and the names of the rest."""
    found, others = [], []
    for name, said, part in unread.models(*parts):
        try:
            found.append((name, read(part)))
        except ConfigError:
            others.append(said)
    return tuple(found), tuple(others)


def _described(
    config: Mapping[str, Any], family: Mapping[str, Any]
) -> tuple[tuple[Layer, ...], tuple[int | None, str | None]]:
    """Return what a configuration says: its layers, and a length with its source."""
    values = Values(config, family.get("defaults", {}))
    length = rules.length(values, family)
    rules.check_misread(config, family)
    return tuple(rules.layers(config, family)), length


def _unreached(layers: tuple[Layer, ...], reached: Collection[str]) -> set[str]:
    """Return the fields that no compared configuration of the family reaches."""
    schedules = [layer.scaling for layer in layers if layer.scaling]
    signs = {
        "longrope": any(one["type"] == "longrope" for one in schedules),
        "mscale_all_dim": any("mscale_all_dim" in one for one in schedules),
        "query_scaling": any(layer.query_scaling for layer in layers),
    }
    fields = {"longrope": {"gain"}, "mscale_all_dim": {"gain", "scale"}}
    unproved: set[str] = set()
    for sign, here in signs.items():
        if here and sign not in reached:
            unproved |= fields.get(sign, {sign})
    return unproved


@dataclass(frozen=True)
class Description:
    """How a model treats positions, layer by layer.

    Attributes
    ----------
    family : str
        The architecture, as its configurations call it.
    layers : tuple of Layer
        One entry for each layer.
    length : int or None
        Tokens that the configuration allows (`max_position_embeddings`); the model may have been
        trained on fewer.
    length_source : str or None
        Where `length` is from: "config", or "default" for the class's own, which is no release's.
    proved : tuple of str
        Fields that the probe confirmed, on the class's defaults and on varied configurations.
    unproved : tuple of str
        Fields of this configuration that no comparison reached.
    address : str or None
        Where the numbers of a released model were taken from, and when.
    released : str or None
        The day of its release, as "2026-04-24", where somebody says so.
    released_source : str or None
        Where that is said.
    notes : tuple of str
        What the model does otherwise than the papers that describe it.
    trained : int or None
        Tokens of the longest texts that the model was trained on, None where that is not known.
    trained_source : str or None
        Where the makers say so.
    unread : tuple of str
        Entries that sound like positions and that nothing reads, as "name = value". With one of
        them nothing is called proved.
    towers : tuple of (str, Description)
        Other models of the configuration, such as the one for pictures, by their entries.
    others : tuple of str
        Those of them that the register does not know, or that lack what is needed.
    checks : tuple of str
        What its reader should check about the name of the architecture.
    outside : tuple of mappings
        What tells the order of tokens outside attention: `what` it is, `over` how many tokens, and
        `where`.
    """

    family: str
    layers: tuple[Layer, ...]
    length: int | None
    proved: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()
    address: str | None = None
    notes: tuple[str, ...] = ()
    length_source: str | None = None
    trained: int | None = None
    trained_source: str | None = None
    unread: tuple[str, ...] = ()
    towers: tuple[tuple[str, "Description"], ...] = ()
    others: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    outside: tuple[Mapping[str, Any], ...] = ()
    released: str | None = None
    released_source: str | None = None

    @property
    def made_for(self) -> int | None:
        """Tokens of training where the makers say them, else what the configuration allows."""
        return self.trained or self.length

    def inv_freq(self, layer: int, length: int | None = None) -> NDArray[np.float64]:
        """Return the angular frequencies of a layer's pairs.

        Parameters
        ----------
        layer : int
            From 0; from -1 backwards.
        length : int, optional
            Tokens of the input, which some schedules look at. By default, as short as can be.

        Returns
        -------
        array of shape (pairs,), radians per position; 0 for pairs that do not turn. Where layers
        are `uneven`, those of each axis's dimensions, which take them over and over.

        Raises
        ------
        ValueError
            If there is no such layer, or it does not turn its queries.

        Source: `posenc.frequencies` and `posenc.schedules`.
        """
        one = self._layer(layer)
        if one.door != "rotate" or one.base is None or one.head_dim is None:
            raise ValueError(f"layer {layer} of {self.family} does not turn its queries")
        length = 1 if length is None else _checks.count("length", length, minimum=1)
        n_axes = len(one.sections) if one.sections else 1
        if one.alike:
            wide = one.turning // n_axes
            return np.tile(scaling.inv_freq(one.base, wide, wide, one.scaling, length), n_axes)
        omega = scaling.inv_freq(one.base, one.turning, one.head_dim, one.scaling, length)
        n_axes = n_axes if one.dealt else 1
        return np.concatenate([omega[axis::n_axes] for axis in range(n_axes)])

    def rows(self, layer: int, offsets: ArrayLike) -> NDArray[np.int64]:
        """Return which row of a layer's learned table each distance takes.

        Parameters
        ----------
        layer : int
            From 0; from -1 backwards.
        offsets : array of whole numbers
            A key's place minus its query's; in a square of a picture (..., 2), down and right.

        Returns
        -------
        array of int64 of the same shape, less the last axis in a picture.

        Raises
        ------
        ValueError
            If there is no such layer, or it has no such table.

        Source: `_relative_position_bucket` of T5, `make_log_bucket_position` of DeBERTa-v2 and
        `SwinRelativePositionBias`, as Hugging Face's transformers has them.

        Examples
        --------
        >>> read("t5").rows(0, [-200, -1, 0, 1]), read("t5").rows(-1, [-200, -1, 0])
        (array([15,  1,  0, 17]), array([31,  1,  0]))
        """
        one = self._layer(layer)
        if one.buckets is None:
            raise ValueError(f"layer {layer} of {self.family} has no table of distances")
        return distances.rows(one.buckets, offsets)

    def make(self, layer: int, door: str | None = None) -> "Position":
        """Return a layer's encoding, for weights as they are released. This imports torch.

        Parameters
        ----------
        layer : int
            From 0; from -1 backwards.
        door : {"embed", "rotate", "bias"}, optional
            Where it enters; to be said for layers that use two, such as MPNet's, whose tokens have
            a table added beside the bias of their distances.

        Returns
        -------
        Position, for all heads of the layer and heads of `head_dim`, or at the door `embed` for
        tokens of the model's width. With sections its positions have three axes. Multi-head latent
        attention is meant as one head of both parts, of which the last dimensions turn.

        Raises
        ------
        ValueError
            If there is no such layer or door, or the library has no such encoding.

        Source: `posenc.encodings`.
        """
        from posenc.register.making import make

        return make(self.family, self._layer(layer), door)

    def scoring(self, layer: int) -> "Scoring":
        """Return how a layer scores: scale, bound, sinks, growing queries. This imports torch.

        Parameters
        ----------
        layer : int
            From 0; from -1 backwards.

        Returns
        -------
        Scoring, for `posenc.attention.SelfAttention` beside the encoding that `make` returns.

        Raises
        ------
        ValueError
            If there is no such layer.

        Source: `posenc.attention.Scoring`.
        """
        from posenc.register.making import scoring

        return scoring(self._layer(layer))

    def explain(self, length: int | None = None) -> str:
        """Return in plain words what the model does with positions.

        Parameters
        ----------
        length : int, optional
            Tokens of the input asked about. By default the length that the configuration says.

        Returns
        -------
        str, several lines.

        Raises
        ------
        ValueError
            If `length` is no whole number of at least 1.
        """
        if length is not None:
            _checks.count("length", length, minimum=1)
        return words.explain(self, length)

    def entries(self) -> dict[str, Any]:
        """Return all that is described as plain values, for JSON.

        Returns
        -------
        dict, with `inv_freq` beside each layer that turns.
        """
        found = asdict(replace(self, towers=()))
        for number, layer in enumerate(self.layers):
            if layer.door == "rotate" and layer.base is not None and layer.head_dim is not None:
                found["layers"][number]["inv_freq"] = self.inv_freq(number).tolist()
        return found | {"towers": {name: tower.entries() for name, tower in self.towers}}

    def _layer(self, layer: int) -> Layer:
        if (
            isinstance(layer, bool)
            or not isinstance(layer, int | np.integer)
            or not -len(self.layers) <= layer < len(self.layers)
        ):
            raise ValueError(f"layer must be from 0 to {len(self.layers) - 1}, got {layer!r}")
        return self.layers[layer]
