"""What the checks ask of a loop that writes: prompts in, the tokens behind them out."""

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from posenc.testing.adapters.base import Adapter, CannotAsk, UseError, WrongOutput
from posenc.testing.adapters.hugging_face import LENGTHS, is_of_transformers

ARGUMENTS = {
    "padding": ("mask", "padding", "attention_mask"),
    "cache": ("cache", "use_cache"),
    "positions": ("positions", "position_ids"),
}
"""What a loop may take besides prompts and a number, and what it may call it."""

Loop = Callable[..., Any]


@dataclass(frozen=True)
class Written:
    """The tokens that a loop wrote behind one prompt.

    Attributes
    ----------
    prompt : Tensor of shape (length,)
        Its real tokens.
    tokens : Tensor of shape (n_new,)
    scores : Tensor of shape (n_new, vocabulary), or None
        Logarithms of the probabilities from which each token was chosen, if they came.
    """

    prompt: Tensor
    tokens: Tensor
    scores: Tensor | None


class Writer(Adapter):
    """A loop, as the checks see it.

    Parameters
    ----------
    loop : callable
        Takes prompts (rows, length), a number of new tokens and, by the names of `ARGUMENTS`, a
        mask, whether to use a cache, and the positions of the prompts.
    vocabulary : int
        Tokens are integers below this.
    module : nn.Module, optional
        What holds the weights.
    model : callable, optional
        Takes tokens (rows, length), and perhaps positions; returns the logits.
    pad : int, optional
        The token by which the loop knows padding, if it takes no mask.
    trained : int, optional
        The length that the model was made for.
    name : str, optional
        What a report calls it.
    """

    def __init__(
        self,
        loop: Loop,
        *,
        vocabulary: int | None,
        module: nn.Module | None = None,
        model: Callable[..., Any] | None = None,
        pad: int | None = None,
        trained: int | None = None,
        name: str | None = None,
    ) -> None:
        if vocabulary is None:
            raise UseError(
                "vocabulary must be given where no module tells how many tokens there are: prompts "
                "are drawn from the integers below it. Got None"
            )
        self.words = {word: _argument(loop, names) for word, names in ARGUMENTS.items()}
        takes = {word for word, argument in self.words.items() if argument}
        takes |= {"padding"} if pad is not None else set()
        super().__init__(
            loop, vocabulary=vocabulary, takes=takes, module=module, trained=trained, name=name
        )
        self.model, self.pad = model, pad
        self.needs_mask = self.words["padding"] in _required(loop)
        self.name = name or _name(loop)

    def written(
        self, prompts: Tensor, n_new: int, *, real: Tensor | None = None, **given: Any
    ) -> list[Written]:
        """Return what the loop writes behind each prompt; `real` is False at padded tokens."""
        if real is not None or self.needs_mask:
            given["padding"] = torch.ones_like(prompts).bool() if real is None else real
        real = given.get("padding", torch.ones_like(prompts).bool())
        words = {}
        for word, value in given.items():
            if word not in self.taken:
                raise CannotAsk(f"it takes no {'mask' if word == 'padding' else word}")
            argument = self.words[word]
            if argument is None:  # padding, known by its token
                prompts = prompts.masked_fill(~real, self.pad or 0)
            else:
                words[argument] = value.long() if argument == "attention_mask" else value
        self.sizes.append(prompts.numel())
        tokens, scores = _taken_apart(self.call(prompts.clone(), n_new, **words), prompts, n_new)
        rows = range(len(prompts))
        return [
            Written(prompts[r][real[r]], tokens[r], None if scores is None else scores[r])
            for r in rows
        ]

    def likely(self, one: Written, positions: Tensor | None = None) -> Tensor:
        """Return the logarithms (n_new, vocabulary) that the model gives to each next token."""
        if self.model is None:
            raise CannotAsk("nobody has said which model it asks; `model=` would")
        given = {}
        if positions is not None:
            argument = _argument(self.model, ARGUMENTS["positions"])
            if argument is None:
                raise CannotAsk("its model takes no positions")
            given[argument] = positions[None]
        came = self.model(torch.cat([one.prompt, one.tokens[:-1]])[None], **given)
        logits: Tensor = getattr(came, "logits", came)
        return logits[0, len(one.prompt) - 1 :].double().log_softmax(-1)


def _argument(function: Callable[..., Any], names: tuple[str, ...]) -> str | None:
    """Return by which of some names a function takes an argument."""
    function = function.forward if isinstance(function, nn.Module) else function
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # what is built in has no signature
        return None
    return next((name for name in names if name in parameters), None)


def _name(loop: Loop) -> str:
    owner = getattr(loop, "__self__", None)
    name = getattr(loop, "__name__", type(loop).__name__)
    return f"{type(owner).__name__}.{name}" if isinstance(owner, nn.Module) else name


def _taken_apart(came: Any, prompts: Tensor, n_new: int) -> tuple[Tensor, Tensor | None]:
    """Return tokens (rows, n_new), and log-probabilities if they came, or raise WrongOutput."""
    tokens, scores = came if isinstance(came, tuple) and len(came) == 2 else (came, None)
    tokens = torch.as_tensor(tokens)
    rows, length = prompts.shape
    if tokens.is_floating_point() or tokens.shape not in ((rows, n_new), (rows, length + n_new)):
        raise WrongOutput(
            f"an output of shape {tuple(tokens.shape)} and {tokens.dtype} for {rows} prompts of "
            f"{length} tokens, where integers ({rows}, {n_new}) were due, or with the prompts "
            f"before them ({rows}, {length + n_new})"
        )
    if scores is None:
        return tokens[:, -n_new:].long(), None
    scores = scores if isinstance(scores, Tensor) else torch.stack(list(scores), 1)
    if scores.shape[:-1] != (rows, n_new):
        raise WrongOutput(
            f"scores of shape {tuple(scores.shape)}, where ({rows}, {n_new}, vocabulary) was due"
        )
    return tokens[:, -n_new:].long(), scores.detach().double().log_softmax(-1)


def maker(write: Any, **options: Any) -> Callable[[], Writer]:
    """Return what makes the writer anew for each question, as far as it can be made anew."""
    owner = getattr(write, "__self__", None)
    if isinstance(write, nn.Module):
        return lambda: _writer(copy.deepcopy(write), **options)
    if isinstance(owner, nn.Module):
        return lambda: _writer(getattr(copy.deepcopy(owner), write.__name__), **options)
    if not callable(write):
        raise UseError(
            "write must be a function of (prompts, n_new), a model with `write` or `generate`, or "
            f"a function without arguments that builds one of these, got {write!r:.80}"
        )
    builds = inspect.isclass(write) or not _required(write)
    return lambda: _writer(write() if builds else write, **options)


def _required(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [one.name for one in parameters if one.default is one.empty and one.kind in plain]


def _writer(
    made: Any, *, vocabulary: int | None, model: Callable[..., Any] | None, pad: int | None
) -> Writer:
    """Return the writer for a model with a loop of its own, for a method of one or a function."""
    if is_of_transformers(made):
        return _of_transformers(made, pad)
    loop = made
    if isinstance(made, nn.Module):
        loop = getattr(made, "write", None) or getattr(made, "generate", None)
        if loop is None:
            raise UseError(f"write must be a model with `write` or `generate`, got {made!r:.80}")
    module = getattr(loop, "__self__", None)
    if not isinstance(module, nn.Module):
        return Writer(loop, vocabulary=vocabulary, model=model, pad=pad)
    tables = (one.num_embeddings for one in module.modules() if isinstance(one, nn.Embedding))
    vocabulary = vocabulary or next(iter(tables), None)
    if model is None and _gives_logits(module, vocabulary):
        model = module
    return Writer(loop, vocabulary=vocabulary, module=module, model=model, pad=pad)


def _gives_logits(module: nn.Module, vocabulary: int | None) -> bool:
    """Return whether a module makes logits of tokens, so that the loop can be held against it."""
    try:
        with torch.no_grad():
            came = module(torch.tensor([[0, 1]]))
    except Exception:  # it is asked in another way
        return False
    return isinstance(came, Tensor) and came.shape == (1, 2, vocabulary)


def _of_transformers(model: Any, pad: int | None) -> Writer:
    """Return the writer for `generate` of a decoder of transformers."""
    if model.config.is_encoder_decoder:
        raise UseError("write must be a decoder alone, and this model has an encoder before it")

    def loop(
        prompts: Tensor, n_new: int, attention_mask: Tensor | None = None, use_cache: bool = True
    ) -> Any:
        mask = torch.ones_like(prompts) if attention_mask is None else attention_mask
        came = model.generate(
            prompts,
            attention_mask=mask,
            use_cache=use_cache,
            max_new_tokens=n_new,
            do_sample=False,
            num_beams=1,
            eos_token_id=None,
            pad_token_id=pad or 0,
            return_dict_in_generate=True,
            output_logits=True,
        )
        return came.sequences, came.logits

    text = model.config.get_text_config()
    lengths: Iterator[Any] = (getattr(text, one) for one in LENGTHS if hasattr(text, one))
    trained = next(lengths, None)
    return Writer(
        loop,
        vocabulary=text.vocab_size,
        module=model,
        model=model,
        trained=trained if isinstance(trained, int) and trained > 0 else None,
        name=f"{type(model).__name__}.generate",
    )
