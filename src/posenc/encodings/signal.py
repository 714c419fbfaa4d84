"""What encodings have in common that are made from the values of a series, not from its indices."""

from torch import Tensor, nn

from posenc.attention import Places, Position


class FromSignal(Position):
    """A vector for each token, made from the tokens around it and added through `embed`.

    Tokens are taken for values at equal steps, all of them at hand: positions that are given and a
    cache are refused, and so are causal layers unless `looks_back`, and masks that mark padding.
    A class token is left out and gets nothing. Derived classes define `vectors(x)`.
    """

    reads_neighbours = True
    remedy = ""  # what would serve a causal layer

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__(d_model, n_heads, max_length)
        self._n_class_tokens = 0

    @property
    def looks_back(self) -> bool:
        """Whether no vector depends on later tokens."""
        return False

    def vectors(self, x: Tensor) -> Tensor:
        """Return what is added to the tokens of a series: (batch, length, d_model) to the same."""
        raise NotImplementedError

    def expect_class_token(self) -> None:
        self._n_class_tokens = 1

    def check_causal(self) -> None:
        if not self.looks_back:
            raise ValueError(
                f"position must not be {type(self).__name__} in a causal layer, as each of its "
                f"vectors depends on later tokens{self.remedy}"
            )

    def embed(self, x: Tensor, places: Places | None = None) -> Tensor:
        if places is not None:
            self._check_places(places)
        n = self._n_class_tokens
        if x.shape[1] == n:
            return x
        added = self.vectors(x[:, n:]).to(x.dtype)
        return x + nn.functional.pad(added, (0, 0, n, 0))

    def _check_places(self, places: Places) -> None:
        name = type(self).__name__
        if places.causal:
            self.check_causal()
        if places.cached:
            raise ValueError(
                f"cache must be None for {name}, whose vectors are made from the tokens around, "
                "which a cache does not keep"
            )
        if not places.counted:
            raise ValueError(
                f"{places.name} must be None for {name}, which takes tokens for values at equal "
                "steps, got given ones"
            )
