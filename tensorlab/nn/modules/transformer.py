"""Transformers: encoder and decoder layers, stacks of them, and the whole of the original paper.

Source: Vaswani and others, "Attention Is All You Need", 2017; ``norm_first``: Xiong and others, 2020.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tensorlab import creation
from tensorlab.nn import functional as F
from tensorlab.nn import init
from tensorlab.nn.modules.attention import MultiheadAttention
from tensorlab.nn.modules.container import ModuleList
from tensorlab.nn.modules.dropout import Dropout
from tensorlab.nn.modules.linear import Linear
from tensorlab.nn.modules.module import Module
from tensorlab.nn.modules.normalization import LayerNorm

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip


def _activation(given: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


class _Layer(Module):
    """What encoder and decoder layers have in common: attention to themselves, and two linear maps."""

    def _make(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: str | Callable[[Any], Any],
        eps: float,
        attentions: tuple[str, ...],
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        options: dict[str, Any],
    ) -> None:
        for name in attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **options))
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        self.norm_first = norm_first
        parts = range(1, len(attentions) + 2)
        for i in parts:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=eps, bias=bias, **options))
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _residual(self, x: Any, norm: Any, part: Callable[[Any], Any]) -> Any:
        """``part`` beside a shortcut, with the normalisation before or after it."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _feed(self, x: Any, after: Any) -> Any:
        return after(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then two linear maps, each beside a shortcut: ``[L, N, d_model]`` to the same.

    ``activation`` is ``"relu"``, ``"gelu"`` or a function; ``norm_first`` normalises before each part instead of after it.
    """

    self_attn: Any
    norm1: Any
    norm2: Any
    dropout1: Any
    dropout2: Any

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._make(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, ("self_attn",), batch_first, norm_first,
            bias, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        def attend(x: Any) -> Any:
            found = self.self_attn(
                x,
                x,
                x,
                key_padding_mask=src_key_padding_mask,
                need_weights=False,
                attn_mask=src_mask,
                is_causal=is_causal,
            )
            return self.dropout1(found[0])

        x = self._residual(src, self.norm1, attend)
        return self._residual(x, self.norm2, lambda x: self._feed(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """An encoder layer that also looks at ``memory`` ``[S, N, d_model]``: target ``[T, N, d_model]`` to the same."""

    self_attn: Any
    multihead_attn: Any
    norm1: Any
    norm2: Any
    norm3: Any
    dropout1: Any
    dropout2: Any
    dropout3: Any

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._make(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, ("self_attn", "multihead_attn"), batch_first,
            norm_first, bias, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        def attend(x: Any) -> Any:
            found = self.self_attn(
                x, x, x, key_padding_mask=tgt_key_padding_mask, need_weights=False, attn_mask=tgt_mask, is_causal=tgt_is_causal
            )  # fmt: skip
            return self.dropout1(found[0])

        def look(x: Any) -> Any:
            found = self.multihead_attn(
                x, memory, memory, key_padding_mask=memory_key_padding_mask, need_weights=False, attn_mask=memory_mask,
                is_causal=memory_is_causal,
            )  # fmt: skip
            return self.dropout2(found[0])

        x = self._residual(tgt, self.norm1, attend)
        x = self._residual(x, self.norm2, look)
        return self._residual(x, self.norm3, lambda x: self._feed(x, self.dropout3))


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """``num_layers`` copies of an encoder layer one after another, and a normalisation at the end if one is given.

    ``enable_nested_tensor`` and ``mask_check`` change nothing: they choose between ways of PyTorch's to compute the same.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:
        causal = bool(is_causal) and mask is not None
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """``num_layers`` copies of a decoder layer one after another, and a normalisation at the end if one is given."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        options = {
            "tgt_mask": tgt_mask, "memory_mask": memory_mask, "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask, "tgt_is_causal": bool(tgt_is_causal) and tgt_mask is not None,
            "memory_is_causal": memory_is_causal and memory_mask is not None,
        }  # fmt: skip
        for layer in self.layers:
            tgt = layer(tgt, memory, **options)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """Encoder and decoder: ``src`` ``[S, N, d_model]`` and ``tgt`` ``[T, N, d_model]`` to ``[T, N, d_model]``.

    With ``batch_first`` N comes first; without a batch there is no N. Raises ``RuntimeError`` where sizes do not fit.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        given: tuple[Any, ...] = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            self.encoder = TransformerEncoder(TransformerEncoderLayer(*given, **options), num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(TransformerDecoderLayer(*given, **options), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model ({self.d_model}), got {src.shape[-1]} and "
                f"{tgt.shape[-1]}"
            )
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """A mask ``[sz, sz]`` of minus infinity above the diagonal: no place looks at a later one."""
        return creation.full((sz, sz), -float("inf"), device=device, dtype=dtype).triu(1)
