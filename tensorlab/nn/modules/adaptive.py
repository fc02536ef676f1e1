"""A softmax over very many classes, most of them rare: frequent ones in a head, rare ones in clusters behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorlab import functional
from tensorlab.nn import functional as F
from tensorlab.nn.modules.container import ModuleList, Sequential
from tensorlab.nn.modules.linear import Linear
from tensorlab.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the mean loss."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of targets among ``n_classes`` sorted by frequency, and their loss.

    Classes below ``cutoffs[0]`` are in the head; those between two cutoffs share a cluster, which projects its input to
    ``in_features / div_value ** number`` features first. Shapes: input ``[N, in_features]``, target ``[N]``, or both without N.
    Source: Grave and others, "Efficient softmax approximation for GPUs", 2016.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given = list(cutoffs)
        if not given:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = all(a < b for a, b in zip([0, *given], [*given, n_classes], strict=True))
        if not rising or any(int(c) != c for c in given):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
                f"between 1 and n_classes-1; got {given} for {n_classes} classes"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*given, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = given[0]
        self.n_clusters = len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(self._clusters()):
            width = int(in_features // div_value ** (i + 1))
            down = Linear(in_features, width, bias=False, **options)
            self.tail.append(Sequential(down, Linear(width, high - low, bias=False, **options)))

    def _clusters(self) -> list[tuple[int, int]]:
        """First class, and the one after the last, of every cluster."""
        return list(zip(self.cutoffs[:-1], self.cutoffs[1:], strict=True))

    def reset_parameters(self) -> None:
        """Draw the first values again."""
        self.head.reset_parameters()
        for part in self.tail:
            for layer in part:
                layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        dim = target_.dim()
        if dim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input_.dim() != dim + 1:
            raise RuntimeError(
                f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with size {list(input_.shape)}"
            )
        if dim and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        input, target = (input_, target_) if dim else (input_.unsqueeze(0), target_.unsqueeze(0))
        low, high = int(target.min()), int(target.max())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] were found. "
            )
        head = F.log_softmax(self.head(input), dim=1)
        place = target.clamp(max=self.shortlist_size)
        inside = []
        for i, (first, end) in enumerate(self._clusters()):
            rows = ((target >= first) & (target < end)).nonzero(as_tuple=True)[0]
            place[rows] = self.shortlist_size + i
            if rows.numel():
                scores = F.log_softmax(self.tail[i](input[rows]), dim=1)
                inside.append((rows, scores.gather(1, (target[rows] - first).unsqueeze(1)).squeeze(1)))
        output = head.gather(1, place.unsqueeze(1)).squeeze(1)
        for rows, scores in inside:
            output = output.index_add(0, rows, scores)
        loss = (-output).mean()
        return _ASMoutput(output if dim else output.squeeze(0), loss)

    def log_prob(self, input: Any) -> Any:
        """Log-probabilities of all classes: ``[N, in_features]`` to ``[N, n_classes]``."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, part in enumerate(self.tail):
            parts.append(F.log_softmax(part(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return functional.cat(parts, 1)

    def predict(self, input: Any) -> Any:
        """The most probable class of each example."""
        scores = self.head(input)
        found = scores.argmax(dim=1)
        unsure = (found >= self.shortlist_size).nonzero(as_tuple=True)[0]
        if unsure.numel():
            found[unsure] = self.log_prob(input[unsure]).argmax(dim=1)
        return found
