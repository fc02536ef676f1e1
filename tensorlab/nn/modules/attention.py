"""Attention with many heads, as a module."""

from __future__ import annotations

from typing import Any

from tensorlab import creation
from tensorlab.nn import init
from tensorlab.nn.functional.attention import attended
from tensorlab.nn.modules.linear import Linear
from tensorlab.nn.modules.module import Module
from tensorlab.nn.parameter import Parameter

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer under the name that PyTorch gives to the one behind the heads."""


class MultiheadAttention(Module):
    """Attention with ``num_heads`` heads between projections: query ``[L, N, E]``, key and value ``[S, N, E]`` to ``[L, N, E]``.

    With ``batch_first`` N comes first; without a batch there is no N. ``forward`` gives the result and, with ``need_weights``,
    how much each query looked at each key (averaged over heads unless ``average_attn_weights=False``). Boolean masks say where
    *not* to look. A query that may look nowhere gets 0. Source: Vaswani and others, "Attention Is All You Need", 2017.
    """

    in_proj_weight: Any
    in_proj_bias: Any
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def made(*shape: int) -> Parameter:
            return Parameter(creation.empty(shape, device=device, dtype=dtype))

        one = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", made(3 * embed_dim, embed_dim) if one else None)
        for name, width in (("q", embed_dim), ("k", self.kdim), ("v", self.vdim)):
            self.register_parameter(f"{name}_proj_weight", None if one else made(embed_dim, width))
        self.register_parameter("in_proj_bias", made(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, made(1, 1, embed_dim) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._order_of_parameters()
        self._reset_parameters()

    def _order_of_parameters(self) -> None:
        """The order in which PyTorch lists them, which optimizers and saved states go by."""
        first = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"]
        if not self._qkv_same_embed_dim:
            first = first[1:] + first[:1]
        names = [*first, "in_proj_bias", "bias_k", "bias_v"]
        self.__dict__["_parameters"] = {name: self._parameters[name] for name in names}

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if self._parameters[name] is not None:
                init.xavier_uniform_(self._parameters[name])
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for name in ("bias_k", "bias_v"):
            if self._parameters[name] is not None:
                init.xavier_normal_(self._parameters[name])

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        own = self._parameters
        one = self._qkv_same_embed_dim
        return attended(
            query, key, value, self.embed_dim, self.num_heads,
            weights=self.in_proj_weight if one else tuple(own[f"{name}_proj_weight"] for name in "qkv"),
            in_bias=self.in_proj_bias, extra=(self.bias_k, self.bias_v), add_zero_attn=self.add_zero_attn,
            dropout_p=self.dropout if self.training else 0.0, out=(self.out_proj.weight, self.out_proj.bias),
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask, static=(None, None),
            average=average_attn_weights, is_causal=is_causal, batch_first=self.batch_first,
        )  # fmt: skip
