"""``Tensor``: an array with a place in the graph.

The class holds what a tensor is; what can be done with it are functions of ``functional``, ``conversion``, ``random`` and
``inplace``, which ``methods`` puts in place.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorlab import backend, creation, dispatch, dtypes, fastpath, layout, printing
from tensorlab.backend.storage import Storage
from tensorlab.copying import as_subclass, deepcopied, reduced
from tensorlab.device import device as device_class
from tensorlab.dispatch import storage_of, wrap
from tensorlab.engine import cuts, hidden
from tensorlab.engine.hooks import RemovableHandle, hook_table, register
from tensorlab.engine.node import accumulator, reduce_to
from tensorlab.engine.run import backward as run_backward
from tensorlab.functional import pointwise
from tensorlab.functional import shapes as F
from tensorlab.functional.arguments import need_tensor, sizes_of
from tensorlab.modes import state
from tensorlab.ops import ROWS
from tensorlab.passes import backward
from tensorlab.size import Size
from tensorlab.subscripts import getitem, setitem
from tensorlab.viewing import layout_of, strides_of, view


class Tensor:
    """A multi-dimensional array of one element type that can record how it was computed.

    Make one with ``tensorlab.tensor(data)``. ``requires_grad=True`` starts recording; ``backward()`` fills ``.grad`` of the leaves.
    """

    __slots__ = (
        "_a",
        "_st",
        "_edge",
        "_rg",
        "_live",
        "_grad",
        "_view",
        "_acc",
        "_off",
        "_notes",
        "__dict__",
        "__weakref__",
    )

    _a: Any
    _st: Storage | None
    _edge: Any
    _rg: bool
    _live: bool
    _grad: Any
    _view: Any
    _acc: Any
    _off: int

    if TYPE_CHECKING:  # most methods are functions that methods.py puts in place

        def __getattr__(self, name: str) -> Any: ...

    def __new__(cls, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
        if len(args) == 1 and not isinstance(args[0], int):
            source = (
                args[0]
                if isinstance(args[0], Tensor)
                else creation.tensor(args[0], dtype=dtype or dtypes.default.float, device=device or "cpu")
            )
            return source if cls is Tensor and source is not args[0] else as_subclass(source, cls)
        made = creation.empty(*(args or (0,)), dtype=dtype, device=device or "cpu")
        return made if cls is Tensor else as_subclass(made, cls)

    # ------------------------------------------------------------------------------------------------ what it is

    @property
    def shape(self) -> Size:
        """The size of every dimension."""
        return Size(self._a.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return Size(self._a.shape) if dim is None else self._a.shape[layout.wrap_dim(dim, self._a.ndim, "size")]

    def dim(self) -> int:
        """The number of dimensions."""
        return self._a.ndim

    ndimension = dim
    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements."""
        return int(self._a.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """How many storage elements lie between neighbours along each dimension, or along one."""
        found = layout_of(self).strides
        return found if dim is None else found[layout.wrap_dim(dim, self._a.ndim, "stride")]

    def storage_offset(self) -> int:
        """Where in the storage the first element lies, in elements."""
        return layout_of(self).offset

    def data_ptr(self) -> int:
        """The address of the first element in memory; 0 for an empty tensor."""
        return backend.of(self._a).address(self._a) if self._a.size else 0

    def is_contiguous(self, memory_format: Any = layout.contiguous_format) -> bool:
        """Whether elements lie in row-major order without gaps, or in the order of another memory format."""
        shape, strides = self._a.shape, strides_of(self._a)
        if memory_format is layout.contiguous_format:
            return layout.is_contiguous(shape, strides)
        order = layout.format_order(len(shape), memory_format) if len(shape) in (4, 5) else ()
        return bool(order) and layout.is_contiguous([shape[d] for d in order], [strides[d] for d in order])

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self._a.itemsize)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self._a.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, as if each were stored once."""
        return int(self._a.size * self._a.itemsize)

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type."""
        return dtypes.of(self._a.dtype)

    @property
    def device(self) -> device_class:
        """Where the elements are."""
        return dispatch.device_of(self._a)

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on a GPU."""
        return self.device.type == "cuda"

    def is_floating_point(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self._a.dtype.kind == "c"

    def is_signed(self) -> bool:
        """Whether the element type holds negative numbers."""
        return self.dtype.is_signed

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._st is not None and self._st.inference

    @property
    def _version(self) -> int:
        """How many in-place writes this tensor's storage has seen."""
        if self._st is None:
            return 0
        if self._st.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._st.version

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of, or ``None``."""
        return self._view.base if self._view is not None else None

    def _is_view(self) -> bool:
        return self._view is not None

    # --------------------------------------------------------------------------------------------- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        if self._view is None:
            return self._rg
        if not self._view.made_in:
            self._view.sync(self)
        return self._rg or self._view.base._rg

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start or stop recording, in place. Raises ``RuntimeError`` for integers, and for turning a computed tensor off."""
        if requires_grad and not (self.dtype.is_floating_point or self.dtype.is_complex):
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, this one is "
                f"{self.dtype.name}; convert with .float()"
            )
        if requires_grad and self.requires_grad:
            return self
        unsettled = not requires_grad and self._edge is None and self._view is not None and self._view.made_in
        if not unsettled and self.grad_fn is not None:
            if not requires_grad:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
                    "that doesn't require differentiation use var_no_grad = var.detach()."
                )
            return self
        if requires_grad and self.is_inference() and not state.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self._rg = requires_grad
        self._live = requires_grad or self._view is not None
        return self

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor, or ``None`` for a leaf."""
        if self._view is not None:
            self._view.sync(self)
        return self._edge[0] if self._edge is not None else None

    @property
    def output_nr(self) -> int:
        """Which of the results of ``grad_fn`` this tensor is."""
        return self._edge[1] if self._edge is not None else 0

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was given, not computed (from anything that requires grad)."""
        return self.grad_fn is None

    @property
    def retains_grad(self) -> bool:
        """Whether this computed tensor's ``.grad`` will be filled."""
        return (
            self._edge is not None and self._edge[0].hooks is not None and self._edge[1] in self._edge[0].hooks.retain
        )

    @property
    def grad(self) -> Tensor | None:
        """The gradient that ``backward()`` left here, or ``None``."""
        if self._grad is None and self._edge is not None and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed: this one was made by "
                f"{self._edge[0].name()}. Its .grad attribute won't be populated during autograd.backward(). If you "
                "want it to be, call .retain_grad() on it before backward(); if you meant a leaf, access that one "
                "instead.",
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            for what, mine, theirs in (
                ("of size", list(self._a.shape), list(value._a.shape)),
                ("with dtype", self.dtype.name, value.dtype.name),
                ("on device", str(self.device), str(value.device)),
            ):
                if mine != theirs:
                    raise RuntimeError(
                        f"attempting to assign a gradient {what} '{theirs}' to a tensor {what} "
                        f"'{mine}'; they must be the same"
                    )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def data(self) -> Tensor:
        """The same memory without history. It shares the version, so a write to what a graph saved is noticed by backward, and one
        into a computed value is told of by a warning."""
        out = self._apart(".data")
        storage = storage_of(out)
        storage.parts = storage.parts or ()
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._rg and not (value.is_floating_point() or value.is_complex()):
            raise RuntimeError(
                f"data set to a tensor that requires gradients must be floating point or complex dtype, not {value.dtype}"
            )
        self._a, self._st, self._off = value._a, storage_of(value), value._off
        self._acc = None

    def detach(self) -> Tensor:
        """The same memory as a tensor that needs no gradient. In-place changes to either are seen, and noticed, by both."""
        return self._apart("detach()")

    def _apart(self, how: str) -> Tensor:
        out = wrap(self._a)
        out._st = storage_of(self)
        out._off = self._off
        if self._live:  # a view that may not be asked for its place in the graph any more can still be detached
            special = self._view is not None and self._view.made_in
            edge = self._edge if special else dispatch.edge_of(self)
            cuts.cut(out, edge, "detach")
            if edge is not None and not edge[0].first:
                hidden.shares(out, edge, how)
        return out

    def detach_(self) -> Tensor:
        """Cut this tensor from its history, in place."""
        if self._view is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        cuts.cut(self, self._edge, "detach_")
        self._edge, self._rg, self._live = None, False, self._view is not None
        return self

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Compute gradients of this tensor and add them to ``.grad`` of the leaves.

        ``gradient`` weighs the elements; it may be left out for a tensor of one element. Raises ``RuntimeError`` where there is no
        graph, where ``gradient`` is needed or has another shape, and where saved values are gone or were overwritten.
        """
        if inputs is None and not create_graph:
            run_backward((self,), (gradient,), retain_graph, False, None)
            return
        backward((self,), (gradient,), retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Fill ``.grad`` of this computed tensor too, after its hooks ran. Does nothing for leaves."""
        node = self.grad_fn
        if node is None:
            if not self.requires_grad:
                raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
            return
        node.hook_tables().retain[self._edge[1]] = weakref.ref(self)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when this tensor's gradient is known; a returned tensor replaces it. Returns a removable handle."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node = self.grad_fn
        hooks = (accumulator(self) if node is None else node).hook_tables()
        return register(hooks.tensor.setdefault(self.output_nr, hook_table()), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(tensor)`` after its ``.grad`` was added to. For leaves only."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return register(accumulator(self).after, hook)

    # ------------------------------------------------------------------------------------------------ values for Python

    def item(self) -> Any:
        """The one element as a Python number. Raises ``RuntimeError`` for any other number of elements."""
        if self._a.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._a.size} elements cannot be converted to Scalar; shape "
                f"{list(self._a.shape)}. Index one element first."
            )
        value = self._a.item()
        return float(value) if self._a.dtype.kind == "V" else value

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        host = backend.to_host(self._a)
        return (host.astype(np.float32) if host.dtype.kind == "V" else host).tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The elements as a NumPy array that shares memory. Raises where that would lose a gradient or needs a copy.

        ``force=True`` detaches and copies from a GPU where needed.
        """
        if not isinstance(force, bool):
            raise TypeError(f"numpy(): argument 'force' must be bool, not {type(force).__name__}")
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.is_cuda and not force:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy "
                f"the tensor to host memory first."
            )
        return self._a.view() if type(self._a) is np.ndarray else backend.to_host(self._a)

    def _scalar(self, what: str) -> Any:
        """The one element, for a conversion to a Python number."""
        if self._a.size != 1:
            raise ValueError(
                f"only one element tensors can be converted to Python scalars; this one has {self._a.size}, its shape is "
                f"{list(self._a.shape)}. Index one element first."
            )
        value = self.item()
        if what != "complex" and isinstance(value, complex):
            if value.imag:
                raise RuntimeError(
                    f"value {value} cannot be converted to type {what} without overflow: it has an imaginary part; take .real"
                )
            return value.real
        return value

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self._a.size != 1 or self._a.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    def __bool__(self) -> bool:
        if self._a.size != 1:
            count = "no values" if self._a.size == 0 else "more than one value"
            raise RuntimeError(
                f"Boolean value of Tensor with {count} is ambiguous; shape {list(self._a.shape)}. Use .any() or .all()."
            )
        return bool(self._a.item())

    def __len__(self) -> int:
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self._a.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if self._a.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(F.unbind(self, 0))

    def __contains__(self, value: Any) -> bool:
        return bool(pointwise.eq(self, value).any())

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self._a.ndim == 0 else object.__format__(self, spec)

    def __repr__(self) -> str:
        return printing.tensor_repr(self)

    def __dir__(self) -> list[str]:
        return [
            name
            for name in object.__dir__(self)
            if name not in ("_a", "_st", "_edge", "_rg", "_live", "_view", "_acc", "_off")
        ]

    __deepcopy__ = deepcopied
    __reduce__ = reduced

    # ------------------------------------------------------------------------------------- for gradient formulas

    def _op(self, name: str, *others: Any, **attrs: Any) -> Tensor:
        """Run a row by name with this tensor as its first input; for gradient formulas."""
        row = ROWS[name]
        return dispatch.call(row, (self, *others), **attrs) if row.view is None else view(row, self, **attrs)

    def _zeros(self, shape: tuple[int, ...]) -> Tensor:
        """Zeros of this tensor's type and device; for gradient formulas."""
        return wrap(backend.zeros(shape, self._a))

    # ------------------------------------------------------------------------------------------------------- shapes

    def view(self, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
        """The same storage under another shape, or, given a dtype, its bits as another type."""
        if dtype is not None or (len(shape) == 1 and isinstance(shape[0], dtypes.dtype)):
            return F.view_dtype(self, shape[0] if dtype is None else dtype)
        return F.view_as_shape(self, sizes_of("view", "size", shape, size))

    def reshape(self, *sizes: Any, shape: Any = None) -> Tensor:
        """Another shape: a view where one is possible, else a copy."""
        return F.reshape(self, sizes_of("reshape", "shape", sizes, shape))

    def view_as(self, other: Tensor) -> Tensor:
        """The same storage under the shape of another tensor."""
        need_tensor("view_as", "other", 1, other)
        return F.view_as_shape(self, other._a.shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        """The shape of another tensor: a view where one is possible, else a copy."""
        need_tensor("reshape_as", "other", 1, other)
        return F.reshape(self, other._a.shape)

    def permute(self, *order: Any, dims: Any = None) -> Tensor:
        """Dimensions in another order; a view."""
        return F.permute(self, sizes_of("permute", "dims", order, dims))

    def expand(self, *sizes: Any, size: Any = None) -> Tensor:
        """Dimensions of size 1 stretched with stride 0; a view."""
        return F.expand(self, sizes_of("expand", "size", sizes, size))

    def expand_as(self, other: Tensor) -> Tensor:
        """Stretched to the shape of another tensor; a view."""
        need_tensor("expand_as", "other", 1, other)
        return F.expand(self, other._a.shape)

    def repeat(self, *times: Any, repeats: Any = None) -> Tensor:
        """The tensor laid out several times along each dimension; a copy."""
        return F.repeat(self, sizes_of("repeat", "repeats", times, repeats))

    def flip(self, *which: Any, dims: Any = None) -> Tensor:
        """Dimensions reversed; a copy."""
        return F.flip(self, sizes_of("flip", "dims", which, dims))

    def sum_to_size(self, *sizes: Any, size: Any = None) -> Tensor:
        """Summed so that it has ``size``, which must broadcast to its shape."""
        shape = sizes_of("sum_to_size", "size", sizes, size) if sizes or size is not None else ()
        try:
            layout.expand(layout.Layout(shape, layout.contiguous_strides(shape)), self._a.shape)
        except RuntimeError:
            raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(self._a.shape)}}}.") from None
        return reduce_to(self, shape) if shape else self.sum()

    @property
    def T(self) -> Tensor:
        """All dimensions in reverse order."""
        return F.t(self) if self._a.ndim == 2 else F.permute(self, tuple(range(self._a.ndim))[::-1])

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
        if self._a.ndim < 2:
            raise RuntimeError(
                f"tensor.mT is only supported on matrices or batches of matrices. Got {self._a.ndim}-D tensor."
            )
        return F.transpose(self, -2, -1)

    def conj(self) -> Tensor:
        """The complex conjugate; the tensor itself if it is real."""
        return self if self._a.dtype.kind != "c" else pointwise.conj(self)

    __getitem__ = getitem
    __setitem__ = setitem


dispatch.bind(Tensor)
fastpath.bind(Tensor)
