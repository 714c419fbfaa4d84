"""Attention and language models of this library."""

from typing import Any

import torch
from torch import Tensor, nn

from posenc.attention import Cache, SelfAttention
from posenc.models import LanguageModel
from posenc.testing.adapters.base import Adapter, CannotAsk


class OwnAdapter(Adapter):
    """`SelfAttention` or `LanguageModel`, whose arguments have the checker's own words."""

    def __init__(self, module: SelfAttention | LanguageModel) -> None:
        self.attention = self._first(module)
        words = ["positions", "padding"] + ["cache"] * bool(self.attention.causal)
        is_model = isinstance(module, LanguageModel)
        super().__init__(
            module,
            width=None if is_model else module.d_model,
            vocabulary=module.n_tokens if isinstance(module, LanguageModel) else None,
            takes=[*words, *["documents"] * is_model],
            module=module,
            new_cache=Cache,
            trained=self.attention.position.max_length,
            needs_positions=self.attention.position.n_axes > 1,
            axes=self.attention.position.n_axes,
            n_layers=len(module.layers) if isinstance(module, LanguageModel) else 1,
        )

    @staticmethod
    def _first(module: nn.Module) -> SelfAttention:
        attention: Any = module if isinstance(module, SelfAttention) else module.layers[0].attention  # type: ignore[union-attr, index]
        if not isinstance(attention, SelfAttention):
            raise ValueError(f"the first attention must be SelfAttention, got {attention!r:.60}")
        return attention

    def _vectors(self, x: Tensor) -> Tensor:
        x = self.there(x)
        return self.module.tokens(x) if isinstance(self.module, LanguageModel) else x

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Ask the first attention."""
        if positions is None and self.needs_positions:
            positions = self.placed(torch.arange(x.shape[1])[None])
        return self.attention.weights(self._vectors(x), positions=positions).detach().cpu()

    def turned(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Take queries and keys behind the door `rotate`."""
        if self.attention.position.is_closed("rotate"):
            raise CannotAsk("it turns no queries and keys")
        x = self._vectors(self.constant(1, len(places)))
        at = self.attention._places(x, None, self.placed(places[None]))
        q, k, _ = self.attention._project(x, at)
        return q[0].transpose(0, 1).detach().cpu(), k[0].transpose(0, 1).detach().cpu()

    def repeated(self) -> Adapter:
        """Repeat the rows that make keys and values."""
        old = self.attention
        if old is not self.module or old.n_kv_heads == old.n_heads:
            raise CannotAsk("every head has its own keys and values")
        new = SelfAttention(
            old.d_model,
            old.n_heads,
            old.position,
            causal=old.causal,
            window=old.window,
            d_head=old.d_head,
        )
        state = {name: value for name, value in old.state_dict().items() if "qkv" not in name}
        for name in ("weight", "bias"):
            q, *shared = getattr(old.qkv, name).split(old._widths())
            rows = [
                one.unflatten(0, (old.n_kv_heads, old.d_head))
                .repeat_interleave(old.n_heads // old.n_kv_heads, 0)
                .flatten(0, 1)
                for one in shared
            ]
            state[f"qkv.{name}"] = torch.cat([q, *rows])
        new.load_state_dict(state)
        return OwnAdapter(new.eval().to(old.qkv.weight.dtype))
