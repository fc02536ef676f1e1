"""In-place forms of indexing, of views, and of functions of Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab.functional import placing, plain
from tensorlab.functional.indexing import combining, scattered
from tensorlab.inplace import write
from tensorlab.layout import wrap_dim
from tensorlab.ops import ROWS


def index_fill_(self: Any, dim: int, index: Any, value: Any) -> Any:
    """Write ``value`` at the indices of one dimension. Returns the tensor."""
    inputs, attrs = placing.filled_at("index_fill_", self, dim, index, value)
    return write(ROWS["index_fill"], *inputs, **attrs)


def index_copy_(self: Any, dim: int, index: Any, source: Any) -> Any:
    """Write ``source`` at the indices of one dimension. Returns the tensor."""
    inputs, attrs = placing.copied_at("index_copy_", self, dim, index, source)
    return write(ROWS["index_copy"], *inputs, **attrs)


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Write ``values``, broadcast, at the places that index tensors name together, or add them. Returns the tensor."""
    inputs, attrs = placing.put_at("index_put_", self, indices, values, accumulate)
    return write(ROWS["index_put"], *inputs, **attrs)


def put_(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Write the elements of ``source`` at ``index`` of the flattened tensor, or add them. Returns the tensor."""
    inputs, attrs = placing.put_where("put_", self, index, source, accumulate)
    return write(ROWS["put"], *inputs, **attrs)


def masked_scatter_(self: Any, mask: Any, source: Any) -> Any:
    """Write the elements of ``source``, one after another, where ``mask`` holds. Returns the tensor."""
    placing.masked_by("masked_scatter_", self, mask, source)
    return write(ROWS["masked_scatter"], self, mask.expand(self._a.shape), source)


def scatter_reduce_(self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """Combine with ``src`` at ``index`` along ``dim``; see ``scatter_reduce``. Returns the tensor."""
    inputs, attrs = placing.reduced_at("scatter_reduce_", self, dim, index, src, reduce, include_self)
    return write(ROWS["scatter_reduce"], *inputs, **attrs)


def index_reduce_(self: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """Combine with ``source`` at the indices of one dimension; see ``index_reduce``. Returns the tensor."""
    inputs, attrs = placing.combined_along("index_reduce_", self, dim, index, source, reduce, include_self)
    return write(ROWS["scatter_reduce"], *inputs, op="index_reduce_", **attrs)


def scatter_(self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Any:
    """Write ``src``, a tensor or a number, at ``index`` along ``dim``; ``reduce`` is ``add`` or ``multiply``. Returns the tensor."""
    written = scattered("scatter_", self, index, src, value)
    d = wrap_dim(dim, self._a.ndim, "scatter_")
    if reduce is None:
        return write(ROWS["scatter"], self, index, written, dim=d)
    how = combining("scatter_", reduce)
    return write(ROWS["scatter_reduce"], self, index, written, op="scatter_", dim=d, reduce=how, include_self=True)


def _through_copy(name: str) -> Callable[..., Any]:
    """The in-place form of a function that is made of several: its result is copied in."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = plain[name](self.clone() if self.requires_grad else self, *args, **kwargs)
        return write(ROWS["copy"], self, found, op=f"{name}_")

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"``{name}``, written into the tensor. Returns the tensor."
    return method


renorm_ = _through_copy("renorm")

FORMS: dict[str, Any] = {
    form.__name__: form
    for form in (
        index_fill_, index_copy_, index_put_, put_, masked_scatter_, scatter_reduce_, index_reduce_, scatter_, renorm_,
    )
}  # fmt: skip
