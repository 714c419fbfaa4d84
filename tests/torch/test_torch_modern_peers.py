"""Encodings of today beside other people's code, where that is installed.

They run in an environment with the packages of `peers/requirements.txt` and are skipped elsewhere.
KERPLE, FIRE and FoPE are in none of these packages: `test_torch_modern` compares them with their
formulas.
"""

import math

import pytest
import torch
from torch.func import functional_call

from posenc import encodings
from posenc.attention import Places, SelfAttention

D_MODEL, N_HEADS, D_HEAD, BATCH, LENGTH = 32, 4, 8, 2, 40
# references compute frequencies and angles in float32
FLOAT32 = {"rtol": 0, "atol": 2e-5}
EXACT = {"rtol": 0, "atol": 1e-12}


def queries_and_keys():
    torch.manual_seed(0)
    return torch.randn(2, BATCH, N_HEADS, LENGTH, D_HEAD, dtype=torch.float64)


def ours(name, **options):
    torch.manual_seed(1)
    position = encodings.make(name, D_MODEL, N_HEADS, LENGTH, **options).double()
    with torch.no_grad():
        for parameter in position.parameters():
            parameter += 0.5 * torch.randn_like(parameter)
    return position


@pytest.mark.parametrize("max_distance", [LENGTH, 7])
def test_disentangled_attention_is_that_of_hugging_face(max_distance):
    transformers = pytest.importorskip("transformers")
    from transformers.models.deberta import modeling_deberta as m

    config = transformers.DebertaConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_relative_positions=max_distance,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    position = ours("deberta", max_distance=max_distance, formula="program")
    attention = SelfAttention(D_MODEL, N_HEADS, position).double().eval()
    with torch.no_grad():
        attention.qkv.bias.normal_()
        attention.qkv.bias[D_MODEL : 2 * D_MODEL] = 0  # their keys have no offset
        attention.out.weight.copy_(torch.eye(D_MODEL))
    q, k, v = attention.qkv.weight.unflatten(0, (3, N_HEADS, D_HEAD))
    weights = {
        "in_proj.weight": torch.cat((q, k, v), 1).flatten(0, 1),
        "q_bias": attention.qkv.bias[:D_MODEL],
        "v_bias": attention.qkv.bias[2 * D_MODEL :],
        "pos_proj.weight": position.key.weight,
        "pos_q_proj.weight": position.query.weight,
        "pos_q_proj.bias": torch.zeros(D_MODEL, dtype=torch.float64),
    }
    theirs = m.DisentangledSelfAttention(config).double()
    assert weights.keys() == dict(theirs.named_parameters()).keys()
    x = torch.randn(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    t = torch.arange(LENGTH)
    given = {"relative_pos": (t[:, None] - t)[None], "rel_embeddings": position.vectors}
    mask = torch.ones(BATCH, 1, LENGTH, LENGTH)
    expected, _ = functional_call(theirs, weights, (x, mask), given)
    # they take the square root of 3 d_head in float32
    torch.testing.assert_close(attention(x), expected, rtol=0, atol=1e-5)
    other = ours("deberta", max_distance=max_distance).eval()
    attention.position = other
    assert (attention(x) - expected).abs().max() > 1e-2, "the paper's formula is another"


def test_relative_scores_are_those_of_xlnet():
    """Which took them over from Transformer-XL, and looks both ways."""
    transformers = pytest.importorskip("transformers")
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    config = transformers.XLNetConfig(d_model=D_MODEL, n_head=N_HEADS, d_inner=8, dropout=0.0)
    position, (q, k) = ours("transformer_xl"), queries_and_keys()
    theirs = XLNetRelativeAttention(config).double().eval()
    with torch.no_grad():
        theirs.r_w_bias.copy_(position.of_content[:, 0])
        theirs.r_r_bias.copy_(position.of_offset[:, 0])
    offset = torch.arange(LENGTH, -LENGTH, -1, dtype=torch.float64)[:, None]
    angles = offset * 10_000.0 ** (-torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)
    waves = position.project(torch.cat((angles.sin(), angles.cos()), -1))
    waves = waves.unflatten(-1, (N_HEADS, D_HEAD))[:, None].expand(-1, BATCH, -1, -1)
    q_head, k_head = (a.permute(2, 0, 1, 3) for a in (q, k))
    _, expected = theirs.rel_attn_core(q_head, k_head, k_head, waves, output_attentions=True)
    wide_q, wide_k = position.rotate(q, k)
    weights = (wide_q @ wide_k.mT * D_HEAD**-0.5).softmax(-1)
    torch.testing.assert_close(weights, expected.permute(2, 3, 0, 1), **EXACT)


def test_decaying_rotations_are_those_of_x_transformers():
    pytest.importorskip("x_transformers")
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    q, k = queries_and_keys()
    embedding = RotaryEmbedding(D_HEAD, use_xpos=True, scale_base=32)
    angles, scale = embedding.forward_from_seq_len(LENGTH)
    scores = apply_rotary_pos_emb(q, angles, scale) @ apply_rotary_pos_emb(k, angles, 1 / scale).mT
    turned_q, turned_k = ours("xpos", scale_base=32.0).rotate(q, k)
    torch.testing.assert_close(turned_q @ turned_k.mT, scores, **FLOAT32)


def test_contextual_positions_are_those_of_x_transformers():
    pytest.importorskip("x_transformers")
    from x_transformers.x_transformers import CoPE

    (q, k), position = queries_and_keys(), ours("cope", n_positions=16)
    theirs = CoPE(D_HEAD, N_HEADS, 16).double()
    hidden = torch.ones(LENGTH, LENGTH).triu(1).bool()
    logits = (q @ k.mT / math.sqrt(D_HEAD)).masked_fill(hidden, -1e30)
    expected = functional_call(theirs, {"pos_emb": position.vectors}, (q, logits))
    x = torch.ones(BATCH, LENGTH, D_MODEL, dtype=torch.float64)
    added = position.bias(x, q, k, Places.of(x, causal=True))
    torch.testing.assert_close(added.tril(), expected.tril(), **EXACT)


def test_polar_scores_are_those_of_x_transformers():
    pytest.importorskip("x_transformers")
    from x_transformers.x_transformers import PolarEmbedding, apply_polar_pos_emb

    (q, k), position = queries_and_keys(), ours("pope")
    with torch.no_grad():  # they clip phases to one turn below 0
        position.phases.uniform_(-2 * math.pi, 0.0)
    theirs = PolarEmbedding(D_HEAD, N_HEADS)
    given = {"learned_bias": position.phases}
    angles, phases = functional_call(theirs, given, (torch.arange(LENGTH),))
    theirs_q = apply_polar_pos_emb(q, angles.double())
    polar_k = apply_polar_pos_emb(k, angles.double() + phases)
    polar_q, own_k = position.rotate(q, k)
    torch.testing.assert_close(polar_q @ own_k.mT, theirs_q @ polar_k.mT, **FLOAT32)
