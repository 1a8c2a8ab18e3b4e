"""A small causal language model that takes any position encoding.

The decoder of Radford et al., *Language Models are Unsupervised Multitask Learners* (GPT-2, 2019),
section 2.3: LayerNorm before each sub-layer and once more at the end, an MLP of four times the
width with GELU by its tanh formula. With a learned table at door 1 and a tied head it is GPT-2, to
the number. With another encoding, or none, all else stays what it is, so that encodings can be
compared.

`tokpos.figures.road.road`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from tokpos._types import Bool, Float, Int, Tensor
from tokpos.attention import Attention, Projection
from tokpos.cache import KeyValueCache, keep
from tokpos.embedding import TokenEmbedding
from tokpos.head import LanguageModelHead, is_tied, tie
from tokpos.lookup import check_ids, values_can_be_read
from tokpos.position import PositionEncoding
from tokpos.positions import positions_from_mask, positions_of_step

Exchange = Callable[[KeyValueCache], KeyValueCache]


class Block(nn.Module):
    """One layer of the decoder: attention and an MLP, each added to what goes around it.

    Parameters
    ----------
    width
        Width D of the token vectors.
    n_heads
        Number of heads H.
    encoding
        The position encoding; left out, there is none.
    n_kv_heads
        Number of key and value heads, a divisor of H; left out, H.

    Raises
    ------
    TypeError
        If ``encoding`` is no position encoding.
    ValueError
        If a size is below 1 or does not divide.
    """

    def __init__(
        self,
        width: int,
        n_heads: int,
        encoding: PositionEncoding | None = None,
        *,
        n_kv_heads: int | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        made: Any = {"device": device, "dtype": dtype}
        self.attention = Attention(
            width, n_heads, encoding, causal=True, n_kv_heads=n_kv_heads, **made
        )
        self.attention_norm = nn.LayerNorm(width, **made)
        self.mlp_norm = nn.LayerNorm(width, **made)
        self.mlp = nn.Sequential(
            Projection(width, 4 * width, **made),
            nn.GELU(approximate="tanh"),
            Projection(4 * width, width, **made),
        )

    def forward(
        self,
        x: Float[Tensor, "*B S D"],
        positions: Int[Tensor, "*P S"] | None = None,
        *,
        mask: Bool[Tensor, "*M S S_key"] | None = None,
        padding_mask: Int[Tensor, "*R S"] | Bool[Tensor, "*R S"] | None = None,
        exchange: Exchange | None = None,
    ) -> Float[Tensor, "*B S D"]:
        """Pass the token vectors through attention and MLP.

        Parameters
        ----------
        x
            Token vectors. The batch stands first, the sequence second.
        positions
            The position of each token: one row for the whole batch, or one row for each sample.
            Left out, they are 0, 1, 2, ...
        mask
            True where a query may look at a key: one for the whole batch, or one for each sample.
        padding_mask
            1 or True at real tokens, 0 or False at padding.
        exchange
            As in `Attention.forward`.

        Returns
        -------
        Float[Tensor, "*B S D"]
            One vector for each token.
        """
        x = x + self.attention(
            self.attention_norm(x),
            positions,
            mask=mask,
            padding_mask=padding_mask,
            exchange=exchange,
        )
        x = x + self.mlp(self.mlp_norm(x))
        return x


class CausalLanguageModel(nn.Module):
    """Scores for the next token, from the tokens so far, with any position encoding.

    Weights start from a normal distribution with standard deviation 0.02, the table and the head
    too; biases start from 0, LayerNorm from 1 and 0.

    Parameters
    ----------
    vocab_size
        Number of tokens V.
    width
        Width D of the token vectors.
    n_layers
        Number of layers.
    n_heads
        Number of heads H.
    encoding
        A position encoding that all layers share, or what makes one for each layer when called.
        Left out, there is none. Door 1 is that of the first layer.
    n_kv_heads
        Number of key and value heads, a divisor of H; left out, H.
    scale_embedding
        Whether the rows of the table are multiplied by sqrt(D).
    tied
        Whether the head is the table: one matrix for both.

    Raises
    ------
    TypeError
        If ``encoding`` is no position encoding and makes none.
    ValueError
        If a size is below 1 or does not divide.

    References
    ----------
    Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.3.

    Examples
    --------
    >>> model = CausalLanguageModel(vocab_size=10, width=16, n_layers=2, n_heads=4)
    >>> model(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 10])
    >>> model.generate(torch.tensor([[1, 2, 3]]), 4).shape
    torch.Size([1, 7])
    """

    def __init__(
        self,
        vocab_size: int,
        width: int,
        n_layers: int,
        n_heads: int,
        encoding: PositionEncoding | Callable[[], PositionEncoding] | None = None,
        *,
        n_kv_heads: int | None = None,
        scale_embedding: bool = False,
        tied: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if n_layers < 1:
            raise ValueError(f"n_layers must be at least 1, got {n_layers}")
        if vocab_size < 1:
            raise ValueError(f"vocab_size must be at least 1, got {vocab_size}")
        made: Any = {"device": device, "dtype": dtype}
        self.tied = tied
        self.blocks = nn.ModuleList(
            Block(width, n_heads, each, n_kv_heads=n_kv_heads, **made)
            for each in _encodings(encoding, n_layers)
        )
        self.embedding = TokenEmbedding(vocab_size, width, scale=scale_embedding, std=0.02, **made)
        self.norm = nn.LayerNorm(width, **made)
        self.head = LanguageModelHead(vocab_size, width, std=0.02, **made)
        if tied:
            tie(self.embedding, self.head)

    @property
    def encoding(self) -> PositionEncoding:
        """The position encoding of the first layer, whose door 1 the model opens."""
        first: Any = self.blocks[0]
        encoding: PositionEncoding = first.attention.encoding
        return encoding

    def reset_parameters(self) -> None:
        """Draw the whole model afresh, and make a tie that ``to_empty`` has cut."""
        if self.tied and not is_tied(self.embedding, self.head):
            tie(self.embedding, self.head)
        for module in self.modules():
            reset: Any = getattr(module, "reset_parameters", None)
            if module is not self and reset is not None:
                reset()

    def forward(
        self,
        ids: Int[Tensor, "*B S"],
        positions: Int[Tensor, "*P S"] | None = None,
        *,
        mask: Bool[Tensor, "*M S S_key"] | None = None,
        padding_mask: Int[Tensor, "*B S"] | Bool[Tensor, "*B S"] | None = None,
        exchanges: Sequence[Exchange] | None = None,
    ) -> Float[Tensor, "*B S V"]:
        """Score the token that follows each token.

        Parameters
        ----------
        ids
            IDs from 0 to V - 1.
        positions
            The position of each token: one row for the whole batch, or one row for each sample.
            Left out, the real tokens of each row are counted from 0.
        mask
            True where a query may look at a key: one for the whole batch, or one for each sample.
            It comes on top of the causal mask.
        padding_mask
            1 or True at real tokens, 0 or False at padding.
        exchanges
            One for each layer, as in `Attention.forward`.

        Returns
        -------
        Float[Tensor, "*B S V"]
            One logit for each token of the vocabulary.

        Raises
        ------
        TypeError
            If IDs, positions or a mask have a dtype that does not fit.
        ValueError
            If a shape does not fit.
        IndexError
            If an ID or a position has no row.
        """
        if ids.dim() < 1:
            raise ValueError("ids must be [..., S], got a single number")
        if exchanges is not None and len(exchanges) != len(self.blocks):
            raise ValueError(
                f"exchanges must be one for each of {len(self.blocks)} layers, got {len(exchanges)}"
            )
        if positions is None and padding_mask is not None:
            positions = positions_from_mask(padding_mask)
        x = self.encoding.into_input(self.embedding(ids), positions)
        for i, block in enumerate(self.blocks):
            x = block(
                x,
                positions,
                mask=mask,
                padding_mask=padding_mask,
                exchange=None if exchanges is None else exchanges[i],
            )
        logits: Tensor = self.head(self.norm(x))
        return logits

    def step(
        self,
        ids: Int[Tensor, "*B S"],
        caches: Sequence[KeyValueCache] | None,
        positions: Int[Tensor, "*P S"],
        *,
        padding_mask: Int[Tensor, "*B S"] | Bool[Tensor, "*B S"] | None = None,
    ) -> tuple[Float[Tensor, "*B S V"], list[KeyValueCache]]:
        """Score the token that follows each new token; what stood before is in the caches.

        Parameters
        ----------
        ids
            The IDs of the new tokens.
        caches
            One for each layer, from the step before; None in the first.
        positions
            The position of each new token. Nothing counts on its own.
        padding_mask
            1 or True at real tokens, 0 or False at padding, for the new tokens.

        Returns
        -------
        tuple
            The logits of the new tokens, and the longer caches.

        Raises
        ------
        TypeError
            If IDs, positions or a mask have a dtype that does not fit.
        ValueError
            If a shape or the number of caches does not fit.
        IndexError
            If an ID or a position has no row.
        """
        if caches is not None and len(caches) != len(self.blocks):
            raise ValueError(
                f"caches must be one for each of {len(self.blocks)} layers, got {len(caches)}"
            )
        kept: list[KeyValueCache] = []
        before = [None] * len(self.blocks) if caches is None else caches
        exchanges = [partial(keep, kept, cache) for cache in before]
        return self(ids, positions, padding_mask=padding_mask, exchanges=exchanges), kept

    @torch.no_grad()
    def generate(
        self,
        ids: Int[Tensor, "B S"],
        n_tokens: int,
        *,
        padding_mask: Int[Tensor, "B S"] | Bool[Tensor, "B S"] | None = None,
        cached: bool = True,
    ) -> Int[Tensor, "B S_longer"]:
        """Write on: always the token with the highest score.

        Parameters
        ----------
        ids
            IDs of the texts so far, padded on the left.
        n_tokens
            How many tokens are added.
        padding_mask
            1 or True at real tokens, 0 or False at padding.
        cached
            Whether keys and values are kept from token to token, or all is computed anew.

        Returns
        -------
        Int[Tensor, "B S_longer"]
            The texts with their new tokens.

        Raises
        ------
        TypeError
            If IDs, positions or a mask have a dtype that does not fit.
        ValueError
            If there is nothing to begin with, ``n_tokens`` is negative, the shape of
            ``padding_mask`` is not that of ``ids``, or a text is padded on its right.
        IndexError
            If an ID or a position has no row.
        """
        if ids.dim() != 2 or ids.shape[1] == 0:
            raise ValueError(f"ids must be [B, S] with S at least 1, got {list(ids.shape)}")
        if n_tokens < 0:
            raise ValueError(f"n_tokens must not be negative, got {n_tokens}")
        check_ids(ids, self.embedding.size)
        real: Tensor | None = None
        positions = torch.arange(ids.shape[1], device=ids.device)
        if padding_mask is not None:
            real, positions = _left_padded(ids, padding_mask)
        caches, new, padding = None, ids, real
        for _ in range(n_tokens):
            if cached:
                logits, caches = self.step(new, caches, positions, padding_mask=padding)
            else:
                logits = self(ids, padding_mask=real)
            new = logits[:, -1:].argmax(dim=-1).to(ids.dtype)
            past = ids.shape[1] if real is None else real.sum(-1)
            positions = positions_of_step(past, device=ids.device)
            ids = torch.cat([ids, new], dim=1)
            real = None if real is None else torch.cat([real, torch.ones_like(new)], dim=1)
            padding = None
        return ids


def _left_padded(ids: Tensor, padding_mask: Tensor) -> tuple[Tensor, Tensor]:
    """The mask in the type of the IDs, and the positions, of texts padded on the left."""
    if padding_mask.shape != ids.shape:
        raise ValueError(
            f"padding_mask must have the shape of ids, {list(ids.shape)}, "
            f"got {list(padding_mask.shape)}"
        )
    positions, real = positions_from_mask(padding_mask), padding_mask.to(ids.dtype)
    if values_can_be_read(real) and not real[:, -1].all():
        raise ValueError(
            "padding_mask must be 1 in the last column: pad on the left, so that the next "
            f"token stands behind the text; got {real[:, -1].tolist()}"
        )
    return real, positions


def _encodings(
    encoding: PositionEncoding | Callable[[], PositionEncoding] | None, n_layers: int
) -> list[PositionEncoding]:
    if encoding is None or isinstance(encoding, PositionEncoding):
        return [PositionEncoding() if encoding is None else encoding] * n_layers
    if not callable(encoding):
        raise TypeError(
            "encoding must be a PositionEncoding, or what makes one when called, "
            f"got {type(encoding).__name__}"
        )
    made = [encoding() for _ in range(n_layers)]
    for each in made:
        if not isinstance(each, PositionEncoding):
            raise TypeError(
                f"encoding must make a PositionEncoding when called, got {type(each).__name__}"
            )
    return made
