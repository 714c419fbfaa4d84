"""What the docstrings of two modules leave out: stored results are keyed by the bytes of these.

`posenc.audit.published` and `posenc.audit.decaying` re-enact published code, and a record names the
fingerprint of the file that it was trained with. So their words cannot grow, and what a reader of
the reference pages needs besides stands here: sections that `tools/api.py` puts behind the
docstring of the name. They are held to the same tests, examples included.
"""

MODULES = ("audit.published", "audit.decaying")

_SIZES = """
Parameters
----------
d_model, n_heads, max_length, base, scale
    As for `posenc.encodings.Sinusoidal`.
"""
_AS_SINUSOIDAL = """
Raises
------
ValueError
    As `posenc.encodings.Sinusoidal`.
"""
_REPOSITORY = """
Source: imics-lab/positional-encoding-benchmark, commit 12b718b (Irani and Metsis 2025)
"""

MORE = {
    "AcrossBatch": """
Examples
--------
>>> import torch
>>> from posenc import encodings
>>> layer = AcrossBatch(8, 2, encodings.make("none", 8, 2, 5)).eval()
>>> x = torch.randn(3, 5, 8)
>>> alone, beside = layer(x[:1])[0], layer(x)[0]  # the same series, in two batches
>>> torch.allclose(alone, beside)
False
""",
    "attend_across_batch": """
Raises
------
ValueError
    If an encoding of the model uses another door than `embed`.

Returns
-------
None

Examples
--------
>>> from posenc.models import PatchTransformer
>>> model = PatchTransformer(1, 2, 32, "sinusoidal", d_model=8, n_heads=2, n_layers=1, d_ff=16)
>>> attend_across_batch(model)
>>> type(model.layers[0].attention).__name__
'AcrossBatch'
""",
    "BatchIndexed": _SIZES
    + _AS_SINUSOIDAL
    + _REPOSITORY
    + """
Examples
--------
>>> import torch
>>> added = BatchIndexed(8, 2, 20).embed(torch.zeros(3, 5, 8))
>>> bool((added == added[:, :1]).all())  # all tokens of a series get the same vector
True
""",
    "choose_on_half": """
Raises
------
IndexError
    If `correct` is not two-dimensional.

Examples
--------
>>> import numpy as np
>>> correct = np.random.default_rng(0).random((50, 40)) < 0.7  # 50 models that guess alike
>>> chosen, other = choose_on_half(correct, seed=0)
>>> chosen > other
True
""",
    "ConfiguredTAPE": """
Raises
------
ValueError
    If `n_steps` is below `max_length`, and as `posenc.encodings.TAPE`.
"""
    + _REPOSITORY
    + """
Examples
--------
>>> import torch
>>> from posenc.encodings import TAPE
>>> same = ConfiguredTAPE(8, 2, 20, n_steps=20).rows(20)
>>> torch.equal(same, TAPE(8, 2, 20).rows(20))
True
""",
    "DecayingDFT": """
Examples
--------
>>> import torch
>>> decaying = DecayingDFT(16, 2, 16)
>>> first, second = (decaying.embed(torch.zeros(1, 16, 16))[0, 5].norm() for _ in range(2))
>>> round(float(second / first), 2)  # sqrt(2 / 16), again at every call
0.35
""",
    "FixedSPE": _SIZES
    + _AS_SINUSOIDAL
    + _REPOSITORY
    + """
Examples
--------
>>> import torch
>>> from posenc.encodings import Sinusoidal
>>> torch.equal(FixedSPE(8, 2, 20).rows(20), Sinusoidal(8, 2, 20).rows(20))
True
""",
    "InputOnlyTPE": _SIZES
    + _AS_SINUSOIDAL
    + _REPOSITORY
    + """
Examples
--------
>>> InputOnlyTPE(8, 2, 20).doors()
('embed',)
""",
    "RescaledSinusoidal": _SIZES
    + _AS_SINUSOIDAL
    + _REPOSITORY
    + """
Examples
--------
>>> round(float(RescaledSinusoidal(8, 2, 20).table(20).std()), 2)
0.1
""",
    "standardise_before_split": """
Parameters
----------
train, test : arrays (n, length, n_channels)

Returns
-------
Both, in units of their common standard deviation of each channel.

Raises
------
ValueError
    If the two differ in length or channels.

Examples
--------
>>> import numpy as np
>>> train, test = np.zeros((4, 3, 1)), np.ones((4, 3, 1))
>>> standardise_before_split(train, test)[0].ravel()[:2]  # the training part knows of the test
array([-1., -1.])
""",
    "standardise_per_step": """
Raises
------
ValueError
    If the two differ in length or channels.

Examples
--------
>>> import numpy as np
>>> waves = np.sin(np.arange(6.0))[None, :, None] * np.ones((4, 1, 1))
>>> bool((standardise_per_step(waves, waves)[0] == 0).all())  # the common shape is gone
True
""",
    "TiedTUPE": """
Parameters
----------
d_model, n_heads, max_length, cls_reset
    As for `posenc.encodings.TUPE`.

Raises
------
ValueError
    As `posenc.encodings.TUPE`.
"""
    + _REPOSITORY
    + """
Examples
--------
>>> "embed" in TiedTUPE(8, 2, 20).doors()
True
""",
    "TokenConvolution": """
Raises
------
ValueError
    If `kernel_size` is even or below 1.
"""
    + _REPOSITORY
    + """
Examples
--------
>>> import torch
>>> TokenConvolution(8, 2, 20).embed(torch.zeros(3, 5, 8)).shape
torch.Size([3, 5, 8])
""",
    "unmasked_skew": """
Parameters
----------
scores : (..., L, L)
    Column c holds the offset c - (L - 1).

Returns
-------
(..., L, L)
    Right on and below the diagonal, zero right above it, and further right of the next query.

Raises
------
RuntimeError
    If the last two dimensions differ in size.

Examples
--------
>>> import torch
>>> unmasked_skew(torch.tensor([[-2.0, -1.0, 0.0]]).expand(3, 3)).tolist()
[[0.0, 0.0, -2.0], [-1.0, 0.0, 0.0], [-2.0, -1.0, 0.0]]
""",
    "UnmaskedSkew": """
Raises
------
ValueError
    If a size is out of range; in a forward pass, if the input is longer than `max_length`.
"""
    + _REPOSITORY
    + """
Examples
--------
>>> import torch
>>> q = torch.randn(1, 2, 5, 4)
>>> UnmaskedSkew(8, 2, 20).bias(torch.zeros(1, 5, 8), q, q)[0, 0].diagonal(1).tolist()
[0.0, 0.0, 0.0, 0.0]
""",
}
