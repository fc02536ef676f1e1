"""Recurrent networks: RNN, LSTM, GRU over whole sequences, and their cells for one step."""

from __future__ import annotations

import math
import warnings
from typing import Any

from tensorlab import creation, dispatch
from tensorlab.nn import init
from tensorlab.nn.modules.module import Module
from tensorlab.nn.packing import PackedSequence
from tensorlab.nn.parameter import Parameter
from tensorlab.nn.recurrence import GATES, Weights, one_step, stacked

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]


def _check_options(
    mode: str,
    input_size: Any,
    hidden_size: Any,
    num_layers: int,
    bias: Any,
    batch_first: Any,
    dropout: Any,
    proj_size: int,
) -> None:
    """Raise ``TypeError`` or ``ValueError`` for what is no size, no flag or no probability."""
    for name, flag in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater "
            f"than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size and mode != "LSTM":
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: weights by layer and direction, and how shapes are read."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        _check_options(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        rows, width = GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            given = input_size if layer == 0 else width * (2 if bidirectional else 1)
            for suffix in self._suffixes(layer):
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, given), "weight_hh": (rows, width)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
                for name, shape in shapes.items():
                    made = Parameter(creation.empty(shape, device=device, dtype=dtype))
                    self.register_parameter(name + suffix, made)
        self.reset_parameters()

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        found = []
        for layer in range(self.num_layers):
            for suffix in self._suffixes(layer):
                names = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if self.bias else [])]
                found.append(
                    [getattr(self, name + suffix) for name in names + (["weight_hr"] if self.proj_size else [])]
                )
        return found

    def reset_parameters(self) -> None:
        """Draw all weights uniformly from ``±1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: PyTorch lays weights out for a GPU library here."""

    def _weights(self, suffix: str) -> Weights:
        def named(name: str) -> Any:
            return getattr(self, name + suffix)

        one, two = (named("bias_ih"), named("bias_hh")) if self.bias else (None, None)
        return Weights(named("weight_ih"), named("weight_hh"), one, two, named("weight_hr") if self.proj_size else None)

    # ------------------------------------------------------------------------------------------------------ forward

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if not isinstance(input, dispatch.Tensor):
            raise TypeError(
                f"{type(self).__name__}: input must be a Tensor or a PackedSequence, not {type(input).__name__}"
            )
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        x = input if batched else input.unsqueeze(1)
        if batched and self.batch_first:
            x = x.transpose(0, 1)
        self._check_input(x)
        if hx is not None:
            self._check_dims(hx, batched)
            hx = hx if batched else self._each(hx, lambda s: s.unsqueeze(1))
        steps, count = x.shape[:2]
        out, last = self._run(x.reshape((steps * count, x.shape[-1])), hx, (count,) * steps)
        out = out.reshape((steps, count, out.shape[-1]))
        if batched and self.batch_first:
            out = out.transpose(0, 1)
        return (out, last) if batched else (out.squeeze(1), self._each(last, lambda s: s.squeeze(1)))

    def _packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        sizes = tuple(input.batch_sizes.tolist())
        self._check_input(input.data)
        if hx is not None and input.sorted_indices is not None:
            hx = self.permute_hidden(hx, input.sorted_indices)
        out, last = self._run(input.data, hx, sizes)
        packed = PackedSequence(out, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
        return packed, self.permute_hidden(last, input.unsorted_indices)

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """States with their sequences in another order."""
        return hx if permutation is None else self._each(hx, lambda s: s.index_select(1, permutation))

    def _each(self, hx: Any, function: Any) -> Any:
        return tuple([function(s) for s in hx]) if isinstance(hx, tuple) else function(hx)

    def _check_input(self, x: Any) -> None:
        own = self._parameters["weight_ih_l0"] if "weight_ih_l0" in self._parameters else self.weight_ih_l0
        if x.dtype is not own.dtype:
            raise ValueError(
                f"RNN input dtype ({x.dtype}) does not match weight dtype ({own.dtype}). Convert input: input.to({own.dtype}), "
                f"or convert model: model.to({x.dtype})"
            )
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.shape[-1]}"
            )

    def _check_dims(self, hx: Any, batched: bool) -> None:
        wanted = 3 if batched else 2
        found = [s.dim() for s in (hx if isinstance(hx, tuple) else (hx,))]
        if any(n != wanted for n in found):
            kind = "batched 3-D" if batched else "unbatched 2-D"
            what = "hx and cx should" if self.mode == "LSTM" else "hx should"
            raise RuntimeError(
                f"For {kind} input, {what} also be {wanted}-D but got ({', '.join(f'{n}-D' for n in found)}) "
                f"tensor{'s' if len(found) > 1 else ''}"
            )

    def _run(self, x: Any, hx: Any, batch_sizes: tuple[int, ...]) -> tuple[Any, Any]:
        """All layers over all steps."""
        rows = self.num_layers * (2 if self.bidirectional else 1)
        count = batch_sizes[0] if batch_sizes else 0
        widths = [self.proj_size or self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        if hx is None:
            states = tuple([x.new_zeros((rows, count, width)) for width in widths])
        else:
            states = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
            for i, (s, width) in enumerate(zip(states, widths, strict=True)):
                if tuple(s.shape) != (rows, count, width):
                    which = f"hidden[{i}]" if len(widths) > 1 else "hidden"
                    raise RuntimeError(f"Expected {which} size {(rows, count, width)}, got {list(s.shape)}")
        layers = [[self._weights(suffix) for suffix in self._suffixes(layer)] for layer in range(self.num_layers)]
        out, last = stacked(self.mode, x, states, layers, batch_sizes, self.dropout if self.training else 0.0)
        return out, last if self.mode == "LSTM" else last[0]

    def extra_repr(self) -> str:
        said = f"{self.input_size}, {self.hidden_size}"
        said += f", proj_size={self.proj_size}" if self.proj_size else ""
        said += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        said += "" if self.bias else f", bias={self.bias}"
        said += f", batch_first={self.batch_first}" if self.batch_first else ""
        said += f", dropout={self.dropout}" if self.dropout else ""
        return said + (f", bidirectional={self.bidirectional}" if self.bidirectional else "")


class RNN(RNNBase):
    """``h = tanh(W x + b + U h + c)`` over a sequence, ``[T, N, input_size]`` to ``[T, N, hidden_size]``.

    ``forward(input, h0)`` gives the outputs and the last states ``[layers * directions, N, hidden_size]``. With ``batch_first`` N
    comes first; without a batch there is no N; a ``PackedSequence`` gives one back. ``nonlinearity`` is ``"tanh"`` or ``"relu"``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.__dict__["nonlinearity"] = args[3]
            args = args[:3] + args[4:]
            if "nonlinearity" in kwargs:
                raise TypeError("RNN() got multiple values for argument 'nonlinearity'")
        else:
            self.__dict__["nonlinearity"] = kwargs.pop("nonlinearity", "tanh")
        nonlinearity = self.nonlinearity
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory over a sequence, ``[T, N, input_size]`` to ``[T, N, hidden_size]`` (``proj_size`` if given).

    ``forward(input, (h0, c0))`` gives the outputs and the last states, ``[layers * directions, N, width]`` each. With
    ``batch_first`` N comes first; without a batch there is no N; a ``PackedSequence`` gives one back.
    Source: Hochreiter and Schmidhuber, 1997.

    >>> import tensorlab as tl
    >>> out, (h, c) = tl.nn.LSTM(3, 4, num_layers=2)(tl.zeros(5, 1, 3))
    >>> out.shape, h.shape
    (tensorlab.Size([5, 1, 4]), tensorlab.Size([2, 1, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _check_dims(self, hx: Any, batched: bool) -> None:
        if not isinstance(hx, (tuple, list)) or len(hx) != 2:
            raise TypeError(f"LSTM: hx must be a pair (h0, c0), not {type(hx).__name__}")
        super()._check_dims(tuple(hx), batched)


class GRU(RNNBase):
    """A gated recurrent unit over a sequence, ``[T, N, input_size]`` to ``[T, N, hidden_size]``. Source: Cho and others, 2014.

    ``forward(input, h0)`` gives the outputs and the last states. See :class:`LSTM` for shapes.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


# ------------------------------------------------------------------------------------------------------------- cells


class RNNCellBase(Module):
    """What the cells have in common: one step, with its own weights."""

    weight_ih: Any
    weight_hh: Any
    bias_ih: Any
    bias_hh: Any

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        shapes = {
            "weight_ih": (rows, input_size),
            "weight_hh": (rows, hidden_size),
            "bias_ih": (rows,),
            "bias_hh": (rows,),
        }
        for name, shape in shapes.items():
            wanted = bias or name.startswith("weight")
            made = Parameter(creation.empty(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights uniformly from ``±1 / sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _advance(self, mode: str, input: Any, states: Any, names: tuple[str, ...]) -> Any:
        """The states after one step; the input and they are checked, and may lack the batch."""
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for name, s in zip(names, states or (), strict=False):
            if s.dim() not in (1, 2):
                raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {s.dim()}D instead")
        batched = input.dim() == 2
        x = input if batched else input.unsqueeze(0)
        if x.shape[1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {x.shape[1]} expected {self.input_size}")
        if states is None:
            states = [x.new_zeros((x.shape[0], self.hidden_size)) for _ in names]
        else:
            states = [s if batched else s.unsqueeze(0) for s in states]
        for i, s in enumerate(states):
            if s.shape[0] != x.shape[0]:
                raise RuntimeError(f"Input batch size {x.shape[0]} doesn't match hidden{i} batch size {s.shape[0]}")
            if s.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {s.shape[1]}, expected {self.hidden_size}"
                )
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        now = one_step(mode, x, tuple(states), weights)
        return now if batched else tuple([s.squeeze(0) for s in now])

    def extra_repr(self) -> str:
        said = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return said + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")


class RNNCell(RNNCellBase):
    """One step of a plain RNN: ``[N, input_size]`` and ``h`` ``[N, hidden_size]`` to the next ``h``."""

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._advance(f"RNN_{self.nonlinearity.upper()}", input, None if hx is None else (hx,), ("hidden",))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: ``[N, input_size]`` and ``(h, c)``, ``[N, hidden_size]`` each, to the next pair."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._advance("LSTM", input, hx, ("hx[0]", "hx[1]"))


class GRUCell(RNNCellBase):
    """One step of a GRU: ``[N, input_size]`` and ``h`` ``[N, hidden_size]`` to the next ``h``."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._advance("GRU", input, None if hx is None else (hx,), ("hidden",))[0]
