"""Terms that meet the tokens at each offset: Shaw's vectors, eRPE's scalars, T-PE's similarity."""

import torch
from torch import Tensor, nn

from peers.compare import Numbers, case
from peers.modules import (
    D_HEAD,
    D_MODEL,
    LENGTH,
    LONG,
    N_HEADS,
    Maps,
    attended,
    call,
    door,
    tokens,
)
from peers.references import code
from posenc.encodings import ERPE, TPE, Relative
from posenc.rotation import pairing_permutation

REACH = 16


def vectors(numbers: Numbers) -> Tensor:
    return numbers("offsets", 2 * REACH + 1, D_HEAD)


@case(
    "relative",
    "transformers",
    "Wav2Vec2BertSelfAttention, relative_key",
    note="The reference may clip later and earlier keys differently; here both at 16.",
)
def wav2vec2_bert(numbers: Numbers):
    from transformers import Wav2Vec2BertConfig
    from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as m

    config = Wav2Vec2BertConfig(
        hidden_size=D_MODEL,
        num_attention_heads=N_HEADS,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=REACH,
        right_max_position_embeddings=REACH,
        attention_dropout=0.0,
    )
    x, maps = tokens(numbers, LONG), Maps(numbers)
    parameters = maps.named("linear_q", "linear_k", "linear_v", "linear_out")
    parameters["distance_embedding.weight"] = vectors(numbers)
    theirs = call(m.Wav2Vec2BertSelfAttention(config), parameters, x)[0]
    position = Relative(D_MODEL, N_HEADS, LONG, max_distance=REACH)
    return attended(position, maps, x, keys=vectors(numbers)[None]), theirs


@case(
    "relative",
    "OpenNMT-py",
    "MultiHeadedAttention, max_relative_positions=16",
    note=(
        "Vectors for keys and for values, which are the same in the reference. It takes the "
        "softmax in float32."
    ),
    precision="float32",
)
def opennmt(numbers: Numbers):
    from onmt.modules.multi_headed_attn import MultiHeadedAttention

    x, maps = tokens(numbers), Maps(numbers)
    attention = MultiHeadedAttention(
        N_HEADS, D_MODEL, 0.0, max_relative_positions=REACH, attn_type="self", add_qkvbias=True
    )
    parameters = maps.named("linear_query", "linear_keys", "linear_values", "final_linear")
    parameters["relative_positions_embeddings.weight"] = vectors(numbers)
    theirs = call(attention, parameters, x, x, x)[0]
    position = Relative(D_MODEL, N_HEADS, LENGTH, max_distance=REACH, values=True)
    both = {"keys": vectors(numbers)[None], "values": vectors(numbers)[None]}
    return attended(position, maps, x, **both), theirs


def convtran_maps(numbers: Numbers) -> tuple[Maps, dict[str, Tensor]]:
    """Return posenc's maps and the reference's, which divides scores by sqrt(d_model)."""
    maps = Maps(numbers, offsets=False)
    names = {"query.weight": maps.q, "key.weight": maps.k, "value.weight": maps.v}
    names |= {"to_out.weight": torch.ones(D_MODEL), "to_out.bias": torch.zeros(D_MODEL)}
    # posenc divides by sqrt(d_head), and ends with a map where the reference has a layer norm
    maps.q = maps.q * N_HEADS**-0.5
    maps.o = torch.eye(D_MODEL)
    return maps, names


CONVTRAN = (
    "The reference divides scores by sqrt(d_model), not sqrt(d_head), which the query map makes "
    "up for here, and ends with a layer norm, applied to both, in the place of a linear map."
)


@case("erpe", "ConvTran", "Attention_Rel_Scl", note=f"{CONVTRAN} It counts offsets as i - j.")
def convtran_erpe(numbers: Numbers):
    x = tokens(numbers, LONG)
    maps, parameters = convtran_maps(numbers)
    scalars = numbers("offsets", N_HEADS, 2 * LONG - 1, scale=0.1)
    theirs = code("ConvTran", "Models/Attention.py")
    attention = theirs.Attention_Rel_Scl(D_MODEL, N_HEADS, LONG, 0.0)
    parameters |= {"relative_bias_table": scalars.flip(-1).T}
    ours = attended(ERPE(D_MODEL, N_HEADS, LONG), maps, x, values=scalars)
    return nn.functional.layer_norm(ours, (D_MODEL,)), call(attention, parameters, x)


class _Gauss(nn.Module):
    """GPyTorch's kernel of a batch with itself."""

    def __init__(self) -> None:
        super().__init__()
        from gpytorch.kernels import RBFKernel

        self.kernel = RBFKernel()

    def forward(self, x: Tensor) -> Tensor:
        return self.kernel(x, x).to_dense()


@case(
    "tpe",
    "GPyTorch",
    "RBFKernel",
    note="The similarity term. The reference learns the inverse softplus of sigma.",
)
def gpytorch_similarity(numbers: Numbers):
    x, log_sigma = tokens(numbers), numbers("log sigma", 1)
    sigma = (log_sigma + D_MODEL**0.5).clamp(min=1)
    raw = sigma + torch.log(-torch.expm1(-sigma))
    position = TPE(D_MODEL, N_HEADS, LENGTH, learn_sigma=True)
    ours = door(position, "bias", x, x, x, log_sigma=sigma.log()[0])
    return ours[:, 0], call(_Gauss(), {"kernel.raw_lengthscale": raw[None]}, x)


def t2b_code():
    return code("T2B-PE", "layers/SelfAttention_Family.py")


@case(
    "tpe",
    "T2B-PE",
    "FixedAbsolutePositionEmbedding",
    note=(
        "The sinusoid that goes into every layer. The reference keeps all sines before all "
        "cosines and computes angles in float32. Similarity is a softmax of cosines there, which "
        "classes that its model does not use add behind the softmax; posenc has the survey's form."
    ),
    precision="float32",
)
def t2b_sinusoid(numbers: Numbers):
    x = tokens(numbers)
    theirs = t2b_code().FixedAbsolutePositionEmbedding(LENGTH, D_MODEL, "fixed")
    order = torch.as_tensor(pairing_permutation(D_MODEL))
    return door(TPE(D_MODEL, N_HEADS, LENGTH), "embed", x)[..., order], theirs(x[..., order])


def t2b_attention(numbers: Numbers, *, values_too: bool):
    x, maps = tokens(numbers), Maps(numbers)
    theirs = t2b_code()
    inner = theirs.FullAttention_with_pos_emb(False, attention_dropout=0.0)
    layer = theirs.AttentionLayer_with_enhanced_emb(inner, D_MODEL, N_HEADS)
    # in the reference's order of columns both sides have the same tokens and the same weights
    order = torch.as_tensor(pairing_permutation(D_MODEL))
    names = maps.named("query_projection", "key_projection", "value_projection", "out_projection")
    for name in ("query_projection", "key_projection", "value_projection"):
        names[f"{name}.weight"] = names[f"{name}.weight"][:, order]
    seen = x[..., order]
    values = layer.position_embeddings(seen) if values_too else seen
    position = TPE(D_MODEL, N_HEADS, LENGTH, similarity=False)
    return attended(position, maps, x), call(layer, names, seen, seen, values, None)[0]


@case(
    "tpe",
    "T2B-PE",
    "AttentionLayer_with_enhanced_emb, sinusoid in the values too",
    note="Without similarities. The reference computes angles in float32.",
    precision="float32",
)
def t2b_with_values(numbers: Numbers):
    return t2b_attention(numbers, values_too=True)


@case(
    "tpe",
    "T2B-PE",
    "AttentionLayer_with_enhanced_emb",
    precision="float32",
    explanation=(
        "In the authors' program the sinusoid reaches the queries and keys of a layer, but not "
        "its values. In posenc it is added to the layer's input, and so to all three."
    ),
)
def t2b_as_it_is(numbers: Numbers):
    return t2b_attention(numbers, values_too=False)
