"""Encoders of other libraries, of the size that `attention.py` measures, with an encoding each.

All have four layers of the same width, heads and feed-forward width, and see both ways. Nothing is
dropped, in ours beside them either: libraries drop in different places, and random numbers cost a
tenth of a short step. Norms, and what stands in a feed-forward network, are as their authors have
them: ModernBERT's has a gate, and so a map more. torchtune has decoders only; its turn takes the
place of ours in our own model.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from posenc.attention import Position
from posenc.models import TimeSeriesTransformer

N_CHANNELS, N_CLASSES, D_MODEL, N_HEADS, N_LAYERS, D_FF = 6, 5, 128, 8, 4, 256
D_HEAD = D_MODEL // N_HEADS


class Classifier(nn.Module):
    """An encoder of tokens between two linear maps, as ours has them."""

    def __init__(self, encoder: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.project = nn.Linear(N_CHANNELS, D_MODEL)
        self.encoder = encoder
        self.head = nn.Linear(D_MODEL, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(self.project(x)).mean(1))


class OfTransformers(nn.Module):
    """A model of `transformers` that gets its tokens as vectors."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(inputs_embeds=x).last_hidden_state


def x_transformers(kind: str, length: int) -> nn.Module:
    """Return the encoder of x-transformers; with T5's biases it has no fused kernel."""
    from x_transformers import Encoder

    del length
    options = {
        "none": {},
        "rotary": {"rotary_pos_emb": True, "rotary_emb_dim": D_HEAD},
        "alibi": {"alibi_pos_bias": True},
        "t5": {"rel_pos_bias": True},
    }[kind]
    return Classifier(
        Encoder(
            dim=D_MODEL,
            depth=N_LAYERS,
            heads=N_HEADS,
            attn_dim_head=D_HEAD,
            attn_flash=kind != "t5",
            ff_mult=D_FF // D_MODEL,
            **options,
        )
    )


def bert(length: int) -> nn.Module:
    """Return BERT, with a learned vector for each place."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=2,
        hidden_size=D_MODEL,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=N_HEADS,
        intermediate_size=D_FF,
        max_position_embeddings=length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="sdpa",
    )
    return Classifier(OfTransformers(BertModel(config, add_pooling_layer=False)))


def modern_bert(length: int) -> nn.Module:
    """Return ModernBERT, with RoPE, all of whose layers see everything."""
    from transformers import ModernBertConfig, ModernBertModel

    config = ModernBertConfig(
        vocab_size=2,
        pad_token_id=0,
        hidden_size=D_MODEL,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=N_HEADS,
        intermediate_size=D_FF,
        max_position_embeddings=length,
        layer_types=["full_attention"] * N_LAYERS,
        attn_implementation="sdpa",
    )
    return Classifier(OfTransformers(ModernBertModel(config)))


def t5(length: int) -> nn.Module:
    """Return T5's encoder, whose layers share the biases of the first."""
    from transformers import T5Config, T5EncoderModel

    del length
    config = T5Config(
        vocab_size=2,
        d_model=D_MODEL,
        d_kv=D_HEAD,
        num_layers=N_LAYERS,
        num_heads=N_HEADS,
        d_ff=D_FF,
        dropout_rate=0.0,
    )
    return Classifier(OfTransformers(T5EncoderModel(config)))


class Torchtune(Position):
    """RoPE with the turn of torchtune, which wants heads behind the length."""

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        from torchtune.modules import RotaryPositionalEmbeddings

        self.turn = RotaryPositionalEmbeddings(self.d_head, max_length)

    def rotate(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        q, k = (self.turn(x.transpose(1, 2)).transpose(1, 2) for x in (q, k))
        return q, k


def ours(encoding: type[Position] | str, length: int) -> nn.Module:
    """Return our model, which drops nothing."""
    return TimeSeriesTransformer(
        N_CHANNELS, N_CLASSES, length, encoding, D_MODEL, N_HEADS, N_LAYERS, D_FF, 0.0
    )


PEERS: dict[str, tuple[str, Callable[[int], nn.Module]]] = {
    "transformers BERT": ("learnable", bert),
    "transformers ModernBERT": ("rotary", modern_bert),
    "transformers T5": ("t5", t5),
    "torchtune": ("rotary", partial(ours, Torchtune)),
} | {
    f"x-transformers, {kind}": (kind, partial(x_transformers, kind))
    for kind in ("none", "rotary", "alibi", "t5")
}
"""Whose -> our encoding of that kind, and what makes the model for a length."""


def beside(kind: str) -> str:
    """Return the name of our model with an encoding that stands beside theirs."""
    return f"{kind}, nothing dropped"


OURS = {beside(kind): kind for kind, _ in PEERS.values()}
"""Our models beside them -> their encodings."""


def installed() -> dict[str, tuple[str, Callable[[int], nn.Module]]]:
    """Return those whose libraries are here."""
    found = {}
    for whose, (kind, make) in PEERS.items():
        try:
            make(8)
        except ImportError as missing:
            print(f"{whose} is left out: {missing}")
        else:
            found[whose] = kind, make
    return found
