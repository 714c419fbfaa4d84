"""Ports beside their configuration: wrong ones are found by the value that is wrong."""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from posenc import register
from posenc.attention import SelfAttention, rope
from posenc.testing import Adapter, check_attention, command_line
from posenc.testing.adapters import adapt
from posenc.testing.asking import Asked
from posenc.testing.checks.like import LIKE
from posenc.testing.promises import Promises
from posenc_book.teaching.ports import PLAIN, PORTS, RIGHT, Port, Ports, replace

LLAMA, MISTRAL = RIGHT["Llama 3.1"].config, RIGHT["Mistral"].config
ALL_SEEN = MISTRAL | {"sliding_window": None}
TURNS = "queries and keys turn as the configuration says"
OURS = [name for name in RIGHT if name not in ("HunYuan", "OPT")]


def findings(make, config, layer=0):
    """Ask only what the configuration answers."""
    said = Promises.of({"like": config, "layer": layer})
    asked = Asked(lambda: adapt(make()), said)
    return [one.run(asked, 120) for one in LIKE if one.is_asked(said, measure=False)]


def answers(make, config, layer=0):
    return {one.name: (one.outcome, one.came) for one in findings(make, config, layer)}


def held(make, config, layer=0):
    return [one for one in findings(make, config, layer) if one.outcome != "held"] == []


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_port_passes(name):
    family = RIGHT[name]
    found = findings(family.make, family.config, family.layer)
    assert [str(one) for one in found if one.outcome != "held"] == []
    assert len(found) == 5 or name == "OPT"


@pytest.mark.parametrize("port", PORTS, ids=lambda port: f"{port.family} {port.story}")
def test_a_wrong_port_is_found_by_the_value_that_is_wrong(port):
    family = RIGHT[port.family]
    (broken,) = (
        one for one in findings(port.make, family.config, family.layer) if one.outcome != "held"
    )
    first = broken.fields[0]
    assert (broken.outcome, first["layer"], first["field"]) == ("broken", port.number, port.field)
    assert port.words in broken.came
    assert first["said"] in broken.came
    changed = port.change.get(port.field)
    if first["seen"] is not None and isinstance(changed, float):
        assert first["seen"] == pytest.approx(changed, rel=1e-3)


def test_each_wrong_port_differs_in_what_its_field_is_about():
    assert len({(port.family, port.field, port.story) for port in PORTS}) == len(PORTS) >= 20
    assert {port.family for port in PORTS} == set(RIGHT)


@pytest.mark.parametrize("name", OURS)
def test_what_the_register_makes_equals_what_it_was_read_from(name):
    family = RIGHT[name]
    found = register.read(family.config)
    layer = found.layers[family.layer]

    def make():
        return SelfAttention(
            layer.n_heads * layer.head_dim,
            layer.n_heads,
            found.make(family.layer),
            causal=layer.causal,
            window=layer.window,
            scoring=found.scoring(family.layer),
        )

    assert held(make, family.config, family.layer)


def rotated(q, k, positions):
    omega = torch.tensor(RIGHT["Mistral"].numbers[0].omega())
    return (rope(one, positions, omega, "half") for one in (q, k))


def fused(q, k, v, positions):
    return scaled_dot_product_attention(*rotated(q, k, positions), v, is_causal=True)


def step_by_step(q, k, v):
    q, k = rotated(q, k, torch.arange(q.shape[2]))
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / 4
    ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.einsum("bhij,bhjd->bhid", torch.softmax(scores.masked_fill(ahead, -1e9), -1), v)


@pytest.mark.parametrize("function", [fused, step_by_step])
def test_a_function_is_heard_in_the_sizes_of_the_configuration(function):
    assert held(lambda: function, ALL_SEEN)
    found = answers(lambda: function, LLAMA)[TURNS]
    assert "pair 1 turns as if the base were 10,000 and the schedule were left out" in found[1]


def test_a_layer_behind_an_adapter_is_heard():
    def make():
        layer = Port(RIGHT["Mistral"].numbers[0])

        def call(x, positions=None):
            return layer(x.clone(), positions)

        return Adapter(call, width=64, takes=["positions"], module=layer)

    assert held(make, MISTRAL)
    assert not held(make, ALL_SEEN)


class OwnSoftmax(Port):
    """It computes its softmax by hand, and nobody hears it."""

    def softmax(self, scores):
        weights = torch.exp(scores - scores.amax(-1, keepdim=True))
        return weights / weights.sum(-1, keepdim=True)


class Shows(OwnSoftmax):
    def queries_and_keys(self, x, positions):
        q, k, _ = self.qkv(x).unflatten(-1, (3, self.n.n_heads, -1)).permute(2, 0, 3, 1, 4)
        return self.turned(q, positions, self.norm_q), self.turned(k, positions, self.norm_k)


class SinkBehind(Port):
    """Its sink takes its share behind the softmax, as kernels do that return a sum of scores."""

    def softmax(self, scores):
        share = torch.sigmoid(scores.logsumexp(-1, keepdim=True) - self.sinks[:, None, None])
        return scores.softmax(-1) * share


class AxesFirst(Port):
    """Positions have their axes in front, (axes, batch, length)."""

    def forward(self, x, position_ids=None):
        positions = (
            torch.arange(x.shape[1]).expand(3, 1, -1) if position_ids is None else position_ids
        )
        return super().forward(x, torch.stack([positions[i] for i in range(3)], -1))


def test_sinks_and_axes_as_others_write_them():
    oss = RIGHT["GPT-OSS"]
    one = oss.config | {"num_hidden_layers": 1, "layer_types": ["sliding_attention"]}
    assert held(lambda: SinkBehind(oss.numbers[0]), one)
    (qwen,) = RIGHT["Qwen2.5-VL"].numbers
    assert held(lambda: AxesFirst(qwen), RIGHT["Qwen2.5-VL"].config)


def test_what_cannot_be_heard_does_not_pass():
    report = check_attention(lambda: OwnSoftmax(PLAIN), like=ALL_SEEN, measure=False)
    assert (report.failures, report.unanswered, report.passed) == ((), ("like",), False)
    outcomes = {one.outcome for one in report.findings if one.promise == "like"}
    assert outcomes == {"cannot"}


def test_what_a_layer_shows_is_read_where_nothing_is_heard():
    assert answers(lambda: Shows(PLAIN), ALL_SEEN)[TURNS][0] == "held"
    assert answers(lambda: Shows(PLAIN), LLAMA)[TURNS][0] == "broken"


class ShortTable(Port):
    def rotated(self, a, t):
        return super().rotated(a, torch.arange(40)[t.long()])


def test_a_table_of_its_own_may_be_short():
    assert held(lambda: ShortTable(PLAIN), ALL_SEEN)
    assert not held(lambda: ShortTable(PLAIN), LLAMA)


def test_the_first_layer_that_differs_is_named_and_all_are_listed():
    wrong = replace(PLAIN, base=123_456.0)
    config = ALL_SEEN | {"num_hidden_layers": 4}
    (came,) = (
        came
        for outcome, came in answers(lambda: Ports(PLAIN, wrong, wrong, PLAIN), config).values()
        if outcome == "broken"
    )
    assert came.startswith("layer 1: its queries' pair 1 turns as if the base were 123,456;")
    assert came.endswith("the configuration says 10,000 (layers 1, 2 differ)")


def test_more_or_fewer_layers_than_the_configuration_has_are_no_pass():
    found = answers(lambda: Ports(PLAIN, PLAIN), ALL_SEEN)
    assert {outcome for outcome, _ in found.values()} == {"cannot"}
    outcome, came = answers(lambda: Ports(PLAIN, PLAIN), ALL_SEEN | {"num_hidden_layers": 5})[TURNS]
    assert outcome == "cannot"
    assert "the configuration has 5: nothing is known of 2 to 4" in came


def test_a_layer_that_looks_at_the_length_is_heard_beyond_it():
    factors = {"short_factor": [1.0] * 8, "long_factor": [2.0 + i for i in range(8)]}
    sizes = {"max_position_embeddings": 512, "original_max_position_embeddings": 256}
    config = (
        ALL_SEEN | sizes | {"model_type": "phi3", "rope_scaling": {"type": "longrope"} | factors}
    )
    gain = register.read(config).layers[0].gain
    found = answers(lambda: Port(replace(PLAIN, gain=gain)), config)
    outcome, came = found[TURNS]
    assert outcome == "broken"
    assert "as if the longrope schedule were left out" in came


def test_a_configuration_is_a_promise_like_others(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    report = check_attention(lambda: Port(PLAIN), like=path, causal=True, measure=False)
    assert {one.promise for one in report.failures} == {"like"}
    assert {"causal", "like"} <= set(report.promised)
    with pytest.raises(ValueError, match="layer must be from 0 to 0, as like has it, got 3"):
        check_attention(lambda: Port(PLAIN), like=path, layer=3)
    with pytest.raises(ValueError, match="is neither a file nor a name of the register"):
        check_attention(lambda: nn.Linear(4, 4), like="no_such.json")


def test_on_a_command_line_the_fields_come_as_data(tmp_path, monkeypatch, capfd):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / "my_port.py").write_text(
        "from posenc_book.teaching.ports import PLAIN, Port\ndef make():\n    return Port(PLAIN)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["my_port:make", "like=config.json", "--json"]) == 1
    told = json.loads(capfd.readouterr().out)
    (broken,) = (one for one in told["findings"] if one["outcome"] == "broken")
    assert broken["fields"][0]["field"] == "base"
    assert (broken["fields"][0]["seen"], broken["fields"][0]["due"]) == (10_000.0, 500_000.0)
    assert command_line.main(["my_port:make", "like=nowhere.json"]) == 2
    assert "neither a file nor a name" in capfd.readouterr().err


class Decodes(Port):
    """It takes a cache, and may forget its window where one token comes."""

    forgets = False

    def forward(self, x, positions=None, cache=None):
        start = cache[0].shape[1] if cache else 0
        if cache is not None:
            cache[0] = x = torch.cat([cache[0], x], 1) if cache else x
        self.single = self.forgets and x.shape[1] - start == 1
        return super().forward(x, positions)[:, start:]

    def masked(self, scores):
        right, self.n = self.n, replace(self.n, window=None if self.single else self.n.window)
        scores = super().masked(scores)
        self.n = right
        return scores


class Forgets(Decodes):
    forgets = True


def test_a_cache_is_asked_past_the_window_of_the_configuration():
    name = "one token at a time equals all at once"

    def came(kind):
        numbers = RIGHT["Mistral"].numbers[0]
        config = MISTRAL | {"sliding_window": 16}
        make = lambda: kind(replace(numbers, window=16))  # noqa: E731
        return check_attention(make, like=config, cached=True, only=name, measure=False)[name]

    assert came(Decodes).outcome == "held"
    found = came(Forgets)
    assert (found.outcome, "past a window of 16" in found.smallest) == ("broken", True)
    assert "the window is forgotten where one token comes" in found.hint


def test_other_heads_are_told_in_words():
    found = answers(lambda: Port(replace(PLAIN, n_heads=8, d_head=8, turning=8)), ALL_SEEN)
    said = "layer 0: your layer has 8 heads of 8 numbers, the configuration says 4 of 16"
    assert found[TURNS] == ("broken", said)
    assert {came for name, came in found.items() if name != TURNS} == {("cannot", said)}


class Grouped(Port):
    """Two heads share a key: neighbours, or every second one where they are tiled."""

    tiled = False

    def turned(self, a, t, norm):
        a = super().turned(a, t, norm)
        if norm is self.norm_q:
            return a
        return a[:, :2].repeat(1, 2, 1, 1) if self.tiled else a[:, :2].repeat_interleave(2, 1)


class Tiled(Grouped):
    tiled = True


def test_shared_heads_are_neighbours():
    config = ALL_SEEN | {"num_key_value_heads": 2}
    assert held(lambda: Grouped(PLAIN), config)
    outcome, came = answers(lambda: Tiled(PLAIN), config)[TURNS]
    assert outcome == "broken"
    assert "query heads 0, 2 share a key head, as if shared heads were tiled" in came


class KeysAhead(Port):
    def turned(self, a, t, norm):
        return super().turned(a, t + 2 * (norm is self.norm_k), norm)


def test_keys_that_stand_ahead_are_told_as_such():
    came = answers(lambda: KeysAhead(PLAIN), ALL_SEEN)[TURNS][1]
    assert came == "layer 0: keys are turned as if they stood 2 places ahead of queries"


def step(omega):
    """Divide as YaRN with its numbers exchanged, where the ramp is kept from running backwards."""
    turns = 4096 * omega / (2 * math.pi)
    last = math.floor(math.log(turns[0]) * 7 / math.log(omega[0] / omega[-1]))
    return np.where(np.arange(8) <= last, omega, omega / 4)


def test_exchanged_numbers_of_yarn_are_named():
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
    config = ALL_SEEN | {"rope_scaling": scaling, "max_position_embeddings": 16384}
    gain = register.read(config).layers[0].gain
    port = replace(PLAIN, gain=gain, schedule=step)
    outcome, came = answers(lambda: Port(port), config)[TURNS]
    assert outcome == "broken"
    assert "as if beta_fast and beta_slow were exchanged" in came


def test_a_promised_window_is_asked_of_the_layers_that_have_one():
    family, name = RIGHT["Gemma 3"], "a window ends where it says"

    def came(window):
        report = check_attention(
            family.make, like=family.config, window=window, only=name, measure=False
        )
        return report[name]

    assert came(8).outcome == "held"
    assert "layer 0 sees 8 tokens, where 9 were promised" in came(9).came
