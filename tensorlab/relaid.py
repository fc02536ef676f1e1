"""In-place forms of views: the tensor itself gets another shape and other strides over the memory that it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorlab import dispatch, taps
from tensorlab.dispatch import edge_of, record, storage_of
from tensorlab.engine import sites
from tensorlab.engine.hooks import move_retained
from tensorlab.engine.node import new_accumulator
from tensorlab.functional.arguments import one_dim
from tensorlab.functional.shapes import checked_layout
from tensorlab.inplace import may_record
from tensorlab.layout import wrap_dim, wrap_dims
from tensorlab.modes import state
from tensorlab.ops import ROWS
from tensorlab.viewing import alias, layout_of


def relay(x: Any, name: str, **attrs: Any) -> Any:
    """Give ``x`` the layout that a view of it would have, and the history of that view. Returns ``x``.

    Raises ``RuntimeError`` for a leaf that requires grad, as any write does. Views of ``x`` stay what they were.
    """
    row, op = ROWS[name], f"{name}_"
    before, st = layout_of(x), storage_of(x)
    if st.inference and not state.inference:
        raise RuntimeError(
            f"{op}(): Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal "
            "tensor before doing inplace update."
        )
    if state.grad and x._rg and x._edge is None and x._view is None:
        raise RuntimeError(
            f"{op}(): a leaf Variable that requires grad is being used in an in-place operation. Use x.{name}(), which gives a view."
        )
    after = row.view(before, **attrs)
    made = alias(x, after, x._a.dtype)
    recording = state.grad and x._live and edge_of(x) is not None
    if recording:
        may_record(op, x)
        record(row, (x,), {**attrs, "base_layout": before}, (made,))
    x._a, x._off = made._a, made._off
    st.bump(op, sites.here(2))
    if recording:
        move_retained(x._edge, made._edge)
        x._edge = made._edge
        x._rg = x._live = True
    new_accumulator(x)
    if x._view is not None:
        x._view.layout = after
        if recording:
            x._view.stamp = -1 if st.inference else st.version
    if dispatch.unusual:
        for tap in taps.ops:
            tap(row, (x,), attrs, (x,))
    return x


def t_(self: Any) -> Any:
    """Transpose a matrix in place: only its strides change. Returns the tensor."""
    if self._a.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._a.ndim}D")
    return relay(self, "t")


def transpose_(self: Any, dim0: int, dim1: int) -> Any:
    """Exchange two dimensions in place: only strides change. Returns the tensor."""
    n = self._a.ndim
    return relay(self, "transpose", dim0=wrap_dim(dim0, n, "transpose_"), dim1=wrap_dim(dim1, n, "transpose_"))


_ALL = object()


def squeeze_(self: Any, dim: Any = _ALL) -> Any:
    """Drop dimensions of size 1 in place: all, or those named. Returns the tensor."""
    return relay(self, "squeeze", dims=None if dim is _ALL else wrap_dims(dim, self._a.ndim, "squeeze_"))


def unsqueeze_(self: Any, dim: int) -> Any:
    """Put a new dimension of size 1 before ``dim``, in place. Returns the tensor."""
    return relay(self, "unsqueeze", dim=one_dim("unsqueeze_", self, dim, extra=1))


def as_strided_(self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Any:
    """Take any layout of the storage, in place; it is checked against the storage's size. Returns the tensor."""
    return relay(self, "as_strided", layout=checked_layout(self, size, stride, storage_offset))


FORMS: dict[str, Any] = {
    "t_": t_, "transpose_": transpose_, "swapaxes_": transpose_, "swapdims_": transpose_, "squeeze_": squeeze_,
    "unsqueeze_": unsqueeze_, "as_strided_": as_strided_,
}  # fmt: skip
