"""Four times the configuration takes at most five times the seconds and the memory."""

import time
import tracemalloc

import pytest

from posenc import register

ROPE = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}


def heads_and_layers(n):
    return {"model_type": "bloom", "n_head": 1000 * n, "hidden_size": 1000 * n, "n_layer": 10 * n}


def factors(n):
    lists = {name: [1.5] * 1000 * n for name in ("short_factor", "long_factor")}
    rope = {"rope_type": "longrope", "original_max_position_embeddings": 512} | lists
    return ROPE | {"head_dim": 2_000 * n, "num_hidden_layers": 100, "rope_scaling": rope}


def bases(n):
    own = [10_000.0 + k for k in range(25 * n)]
    return {"model_type": "granite_swa", "num_hidden_layers": 25 * n, "layer_rope_theta": own}


def types(n):
    kinds = ["full_attention", "sliding_attention"] * 100 * n
    return {"model_type": "gpt_oss", "num_hidden_layers": len(kinds), "layer_types": kinds}


def numbered(n):
    listed = list(range(250 * n)) * 4
    return {"model_type": "lfm2", "num_hidden_layers": 250 * n, "full_attn_idxs": listed}


def strange_entries(n):
    return ROPE | {"num_hidden_layers": 32} | {f"rope_{k}": k for k in range(2000 * n)}


def cost(config):
    """Return seconds of the processor, the least of three, and bytes for reading and explaining."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        register.read(config).explain(4096)
        seconds.append(time.process_time() - start)
    tracemalloc.start()
    register.read(config).explain(4096)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(seconds), most


@pytest.mark.parametrize(
    "make", [heads_and_layers, factors, bases, types, numbered, strange_entries]
)
def test_reading_grows_as_the_configuration_does(make):
    (short, small), (long, large) = cost(make(4)), cost(make(16))
    assert long <= 5 * max(short, 0.02)
    assert large <= 5 * max(small, 500_000)


def test_a_short_configuration_of_a_huge_model_stays_small():
    size = 100_000
    seconds, most = cost(
        {"model_type": "bloom", "n_head": size, "hidden_size": size, "n_layer": 10_000}
    )
    assert seconds < 5
    assert most < 100_000_000


def test_layers_that_all_differ_have_a_bound():
    own = [10_000.0 + k for k in range(9_000)]
    config = {"model_type": "granite_swa", "num_hidden_layers": 9_000, "layer_rope_theta": own}
    with pytest.raises(register.ConfigError, match="layers that differ hold more than 10,000,000"):
        register.read(config | {"head_dim": 2_000})
