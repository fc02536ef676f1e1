"""Attention: scaled dot products, and many heads of them. A query that may look at nothing gets 0, with gradient 0."""

from __future__ import annotations

import math
from typing import Any

from tensorlab import functional, layout
from tensorlab.functional.arguments import need_tensor
from tensorlab.nn.functional.layers import dropout, linear

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

Tensor = Any
_NEVER = -float("inf")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.mT * scale + attn_mask) @ value``.

    Shapes: query ``[..., L, E]``, key ``[..., S, E]``, value ``[..., S, Ev]``, result ``[..., L, Ev]``.

    ``attn_mask`` is added to the scores, or if boolean says where to look; ``is_causal`` lets a query look at keys up to its own
    place. ``scale`` is ``1 / sqrt(E)`` if left out. ``enable_gqa`` repeats the heads of keys and values (third dimension from
    the end) to those of the query. A query that may look nowhere gets 0. Source: Vaswani and others, 2017.

    >>> import tensorlab as tl
    >>> x = tl.tensor([[1., 0.], [0., 1.]])
    >>> tl.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)[0]
    tensor([1., 0.])
    """
    for position, (name, x) in enumerate((("query", query), ("key", key), ("value", value)), 1):
        need_tensor("scaled_dot_product_attention", name, position, x)
        if x._a.ndim < 2:
            raise RuntimeError(
                "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 dimensional, but got "
                f"{name} {list(x._a.shape)}"
            )
    if not query._a.dtype == key._a.dtype == value._a.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got "
            f"{query.dtype.name}, {key.dtype.name} and {value.dtype.name}"
        )
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        key, value = (_repeated(query, x) for x in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query._a.shape[-1]) if query._a.shape[-1] else 1.0
    odds = _odds(query * scale, key, attn_mask, is_causal)
    return functional.matmul(dropout(odds, dropout_p) if dropout_p else odds, value)


def _repeated(query: Tensor, x: Tensor) -> Tensor:
    """Keys or values with as many heads as the query has."""
    wanted, heads = query._a.shape[-3], x._a.shape[-3]
    if wanted % heads:
        raise RuntimeError(
            f"Number of heads in key and value must divide the number of heads in query: {heads}, {wanted}"
        )
    return x if wanted == heads else functional.repeat_interleave(x, wanted // heads, -3)


def _odds(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
    """How much each query looks at each key."""
    scores = functional.matmul(query, key.mT)
    dead = None
    if is_causal:
        later = functional.triu(query.detach().new_ones(scores._a.shape[-2:]), 1) > 0
        scores = functional.masked_fill(scores, later, _NEVER)
    elif mask is not None:
        shape = scores._a.shape
        if layout.broadcast_shapes(mask._a.shape, shape, op="scaled_dot_product_attention") != shape:
            raise RuntimeError(
                f"scaled_dot_product_attention: attn_mask of shape {list(mask._a.shape)} has more than the scores, {list(shape)} "
                "(one for each query and key); give one that broadcasts to them"
            )
        if mask._a.dtype.kind == "b":
            hidden = ~mask
            scores = functional.masked_fill(scores, hidden, _NEVER)
        else:
            hidden = mask.detach() == _NEVER
            scores = scores + mask
        dead = hidden.all(-1, keepdim=True) if hidden._a.shape[-1:] == scores._a.shape[-1:] else None
        if dead is not None and not dead.any():
            dead = None
    if dead is not None:
        scores = functional.masked_fill(scores, dead, 0.0)
    odds = functional.softmax(scores, -1)
    return odds if dead is None else functional.masked_fill(odds, dead, 0.0)


# --------------------------------------------------------------------------------------------------------- many heads


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention with ``num_heads`` heads between projections. Shapes: query ``[L, N, E]``, key and value ``[S, N, E]``, or without N.

    Boolean masks say where *not* to look: ``key_padding_mask`` ``[N, S]``, ``attn_mask`` ``[L, S]`` or ``[N * heads, L, S]``; masks
    of numbers are added to the scores. Gives the result and, with ``need_weights``, how much each query looked at each key.
    """
    return attended(
        query, key, value, embed_dim_to_check, num_heads,
        weights=(q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight,
        in_bias=in_proj_bias, extra=(bias_k, bias_v), add_zero_attn=add_zero_attn, dropout_p=dropout_p if training else 0.0,
        out=(out_proj_weight, out_proj_bias), key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
        static=(static_k, static_v), average=average_attn_weights, is_causal=is_causal, batch_first=False,
    )  # fmt: skip


def attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: int,
    heads: int,
    *,
    weights: Any,
    in_bias: Tensor | None,
    extra: tuple[Tensor | None, Tensor | None],
    add_zero_attn: bool,
    dropout_p: float,
    out: tuple[Tensor, Tensor | None],
    key_padding_mask: Tensor | None,
    need_weights: bool,
    attn_mask: Tensor | None,
    static: tuple[Tensor | None, Tensor | None],
    average: bool,
    is_causal: bool,
    batch_first: bool,
) -> tuple[Tensor, Tensor | None]:
    """``multi_head_attention_forward`` for either order of the first two dimensions; ``weights`` is one matrix, or three."""
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, heads)
    if not batched:
        query, key, value = _one_example(query, key, value, 0 if batch_first else 1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if query._a.shape[-1] != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {query._a.shape[-1]}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    q, k, v = _projected(query, key, value, weights, in_bias)
    n, length = query._a.shape[:2] if batch_first else query._a.shape[1::-1]
    if extra[0] is not None:
        k, v = (_with_bias(x, b, batch_first) for x, b in zip((k, v), extra, strict=True))
    q = _heads(q, heads, batch_first)
    k, v = (
        _given(s, n, heads) if s is not None else _heads(x, heads, batch_first)
        for x, s in zip((k, v), static, strict=True)
    )
    if add_zero_attn:
        k, v = (functional.cat([x, x.new_zeros((n, heads, 1, x._a.shape[-1]))], 2) for x in (k, v))
    added = int(extra[0] is not None) + int(add_zero_attn)
    mask = _mask(q, attn_mask, key_padding_mask, k._a.shape[2], added)
    odds = _odds(q * (1 / math.sqrt(width // heads)), k, mask, False)
    if dropout_p:
        odds = dropout(odds, dropout_p)
    mixed = functional.matmul(odds, v)
    mixed = mixed.permute(0, 2, 1, 3) if batch_first else mixed.permute(2, 0, 1, 3)
    found = linear(mixed.reshape((n, length, width) if batch_first else (length, n, width)), *out)
    found = found if batched else found.squeeze(0 if batch_first else 1)
    if not need_weights:
        return found, None
    looked = odds.mean(1) if average else odds
    return found, looked if batched else looked.squeeze(0)


def _one_example(query: Tensor, key: Tensor, value: Tensor, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    """With a batch of one; what was one tensor stays one."""
    one = query.unsqueeze(dim)
    two = one if key is query else key.unsqueeze(dim)
    return one, two, one if value is query else two if value is key else value.unsqueeze(dim)


def _check_shapes(query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any, heads: int) -> bool:
    """Whether there is a batch. Raises ``AssertionError`` or ``RuntimeError`` for dimensions that do not fit."""
    for position, (name, x) in enumerate((("query", query), ("key", key), ("value", value)), 1):
        need_tensor("multi_head_attention_forward", name, position, x)
    dim = query._a.ndim
    if dim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dim}-D query tensor")
    kind = "batched (3-D)" if dim == 3 else "unbatched (2-D)"
    if key._a.ndim != dim or value._a.ndim != dim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {dim}-D but found {key._a.ndim}-D and {value._a.ndim}-D "
            "tensors respectively"
        )
    if padding is not None and padding._a.ndim != dim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {dim - 1}-D but found {padding._a.ndim}-D "
            "tensor instead"
        )
    if mask is not None and mask._a.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask._a.ndim}-D tensor instead"
        )
    return dim == 3


def _projected(query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None) -> tuple[Any, ...]:
    """Query, key and value through their matrices; in one product where they are one tensor."""
    if not isinstance(weights, tuple):
        if query is key and key is value:
            both = linear(query, weights, bias)
            return functional.split(both, both._a.shape[-1] // 3, -1)
        weights = functional.split(weights, weights._a.shape[0] // 3)
    biases = (None, None, None) if bias is None else functional.split(bias, bias._a.shape[0] // 3)
    for name, x, w in zip(("query", "key", "value"), (query, key, value), weights, strict=True):
        if w is None:
            raise AssertionError(f"use_separate_proj_weight is True but the projection of {name} is None")
        if x._a.shape[-1] != w._a.shape[-1]:
            raise AssertionError(f"expecting {name} with {w._a.shape[-1]} features, but got {list(x._a.shape)}")
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def _with_bias(x: Tensor, bias: Tensor | None, batch_first: bool) -> Tensor:
    """One more key (or value), the same for all examples."""
    n = x._a.shape[0 if batch_first else 1]
    width = x._a.shape[-1]
    more = bias.expand((n, 1, width) if batch_first else (1, n, width))  # type: ignore[union-attr]
    return functional.cat([x, more], 1 if batch_first else 0)


def _heads(x: Tensor, heads: int, batch_first: bool) -> Tensor:
    """``[N, heads, length, width / heads]``, a view."""
    one, two, width = x._a.shape
    apart = x.reshape((one, two, heads, width // heads))
    return apart.permute(0, 2, 1, 3) if batch_first else apart.permute(1, 2, 0, 3)


def _given(x: Tensor, n: int, heads: int) -> Tensor:
    """Keys or values that come with their heads, ``[N * heads, S, width]``."""
    if x._a.shape[0] != n * heads:
        raise AssertionError(f"expecting static_k.size(0) of {n * heads}, but got {x._a.shape[0]}")
    return x.reshape((n, heads, *x._a.shape[1:]))


def _mask(q: Tensor, mask: Tensor | None, padding: Tensor | None, keys: int, added: int) -> Tensor | None:
    """Both masks as numbers to add to the scores ``[N, heads, L, S]``; what was added to the keys may always be looked at."""
    n, heads, length = q._a.shape[:3]
    found = None
    if mask is not None:
        shape = mask._a.shape
        wanted = (length, keys - added) if len(shape) == 2 else (n * heads, length, keys - added)
        if shape != wanted:
            raise RuntimeError(f"The shape of the {len(shape)}D attn_mask is {tuple(shape)}, but should be {wanted}.")
        found = _open_end(_numbers(mask, q, "attn_mask"), added)
        found = found if len(shape) == 2 else found.reshape((n, heads, length, keys))
    if padding is not None:
        if padding._a.shape != (n, keys - added):
            raise AssertionError(
                f"key_padding_mask should be of shape {(n, keys - added)}, got {tuple(padding._a.shape)}"
            )
        hidden = _open_end(_numbers(padding, q, "key_padding_mask"), added).reshape((n, 1, 1, keys))
        found = hidden if found is None else found + hidden
    return found


def _numbers(mask: Tensor, q: Tensor, name: str) -> Tensor:
    if mask._a.dtype.kind == "b":
        return q.detach().new_zeros(mask._a.shape).masked_fill(mask, _NEVER)
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask.to(q.dtype)


def _open_end(mask: Tensor, added: int) -> Tensor:
    return functional.cat([mask, mask.new_zeros((*mask._a.shape[:-1], added))], -1) if added else mask
