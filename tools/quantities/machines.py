"""What the benchmarks of a GPU, growth, kernels and FlexAttention have stored."""

import sys
from importlib import import_module

from posenc_book.read import results
from repository import ROOT

BENCHMARKS = ROOT / "benchmarks"


def _benchmark(name):
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    return import_module(name)


def _stored(name):
    benchmark = _benchmark(name)
    return benchmark.read(results.folder() / benchmark.STORED.name)


def _table(name):
    return _benchmark(name).table(_stored(name)) + "\n"


def _spread(values):
    values = sorted(values)
    three = {"least": values[0], "middle": values[len(values) // 2], "most": values[-1]}
    return {name: f"{value:.1f}" for name, value in three.items()}


def on_a_gpu():
    return _table("gpu_tables")


def _rows_of_a_gpu(part):
    (card,) = _stored("gpu_tables").values()
    return card[part]


def rope_on_a_gpu():
    """Attention with RoPE in units of none, by its number of tokens."""
    rows = [row for row in _rows_of_a_gpu("attention") if row["encoding"] == "rotary"]
    return {f"at_{row['length']}": f"{row['of none']:.2f}" for row in rows}


def turn_on_a_gpu():
    """What others take to turn queries and keys forth, in units of ours."""
    found = _rows_of_a_gpu("turning")[0]["of ours"]
    wanted = {"liger": "Liger", "flash": "flash-attention", "compiled": "posenc, compiled"}
    return {key: f"{found[name]:.2f}" for key, name in wanted.items()}


def token_on_a_gpu():
    """A token with RoPE and a cache, in units of none."""
    rows = [row for row in _rows_of_a_gpu("decoding") if row["encoding"] == "rotary"]
    (planned,) = _rows_of_a_gpu("decoding, cuDNN allowed")
    return {"of_none": f"{rows[0]['of none']:.1f}", "ms_with_plans": f"{planned['ms']:.0f}"}


def learned_table_on_a_gpu():
    """T5's table in FlexAttention, in units of none: by the library as it was, and by hand."""
    (row,) = _rows_of_a_gpu("learned table")
    return {who: f"{row[f'by {name}, of none']:.0f}" for who, name in _WHO.items()}


_WHO = {"ours": "FlexAttention", "hand": "hand"}


def growth():
    return _table("growth")


def step_by_length():
    """The exponents of a step's time by its length, those of all encodings in order."""
    exponent, stored = _benchmark("growth").exponent, _stored("growth").values()
    return _spread(exponent(of["step"]["length"], "seconds") for of in stored)


def kernels():
    return _table("kernels")


def _others_over_ours():
    """From 512 tokens on, where there are kernels of our own: the quickest other over ours."""
    rows = _stored("kernels")
    return [min(row["over ours"].values()) for row in rows if row["length"] >= 512]


def kernels_win():
    return min(_others_over_ours()) > 1


def quickest_other():
    return _spread(_others_over_ours())


def score_mods():
    return _table("score_mods")


def score_mod_is_never_slower():
    """In no row do the quartiles of another's time over ours both lie below 1."""
    verdict = _benchmark("score_mods").verdict
    return all(verdict(row["over ours"].values()) != "slower" for row in _stored("score_mods"))


def _score_mods_beside(whom):
    ratios = [row["over ours"].get(whom) for row in _stored("score_mods")]
    return _spread(ratio[1] for ratio in ratios if ratio)


def by_hand_over_score_mod():
    return _score_mods_beside("by hand")


def sdpa_over_score_mod():
    return _score_mods_beside("SDPA")


def transformers_over_score_mod():
    return _score_mods_beside("transformers")
