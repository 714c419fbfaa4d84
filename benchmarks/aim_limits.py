"""What the book aims at for speed and size, for the benchmarks that measure it."""

FRAME = 1000 / 60  # ms
RUNTIME_LIMIT, FIGURE_LIMIT = 15_000, 40_000  # bytes
PAGE_LIMIT = 600_000  # bytes of a page's text and its pictures
LOADED = {
    "intro": 636_000,
    "choosing": 659_000,
    "rotary": 751_000,
    "benchmark": 710_000,
    "todays-models": 714_000,
}
"""Bytes that the pages most visited may load: half of what they did with all of Font Awesome."""
DRAWN, KEY, LETTER = 300.0, 16.0, 30.0  # ms of a first drawing, a key of the search, a letter
HALVES = 1.3  # largest time of RoPE in halves, in units of neighbouring pairs
TEST, CHECK, COLD = 480.0, 60.0, 100.0  # seconds of `make test`, `make check`, `make site`
BUILD_ALL, BUILD_ONE = 20.0, 3.0  # seconds
IMPORT, FIRST_OUTPUT = 0.3, 10.0  # seconds
ENGINE = 0.01  # of a cell's time
CLUSTER = 0.95  # of the local engine's trainings an hour
LINEAR = 0.85  # of the machine's rate, in the linear parts
LENGTHS = (100, 896, 4096)  # tokens at which attention is measured

ATTENTION = {
    **dict.fromkeys(
        ("sinusoidal", "dft", "learnable", "tape", "learnable_frequency", "sine_linear"), 1.02
    ),
    **dict.fromkeys(("t5", "alibi", "kerple", "tupe"), 1.2),
    "rotary": 1.1,
    "rove": 1.2,  # turns as much again
    "relative": 1.4,
    "erpe": 2.0,
}
"""Largest time, in units of `none`, that each encoding is meant to take on one thread.

Not all can be reached with 16 dimensions a head, where a product of queries and keys costs no more
than the exponentials of its scores. `bounds.py` measures what PyTorch's kernel takes by itself
beside plain attention, forth and back; `results/bounds.json` has it at 896 and 4096 tokens, from a
machine that did nothing else. Other parts of a step dilute these ratios, the less the longer the
input is.

- `t5` takes 1.08 at both lengths with its scores alone, as the kernel adds them in a pass of its
  own. The kernel has no gradient for them, which takes another 0.38 and 0.25: every score in the
  band that they are learned for, 256 keys of a row with T5's distances, is formed anew, and so are
  all weights left of the band. Together that is 1.5 and 1.3.
- `tupe` doubles the width of queries and keys, and of values, which are filled up: 1.31 and 1.32.
- `relative` has other scores for each query, which the kernel takes as a whole matrix only. Keys
  outside of the band go to it 128 queries at a time, as the band moves along, and with as few
  queries in a call the kernel takes 1.23 and 1.37 by itself, without the band. A causal call on
  keys moved by the reach of the band would serve one side at once, but takes as long as one on all
  keys up to 900 tokens, and there are two sides.
"""

DECODED = "none", "sinusoidal", "learnable", "rotary", "t5", "alibi", "xpos", "cope", "pope"
"""Encodings of which another library has a layer that decodes one token at a time."""

PEERS = "none", "learnable", "rotary", "t5", "alibi"
"""Encodings of which another library has an encoder that trains."""

AIM_OF_NONE = 0.75
"""Largest time of `none` in units of PyTorch's own encoder where inputs are long."""

OF_NONE, OF_HAND = 1.15, 1.05
"""Largest times of attention on a GPU, in units of `none` and of FlexAttention by hand."""
