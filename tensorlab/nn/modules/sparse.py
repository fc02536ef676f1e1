"""Tables of vectors, read by number."""

from __future__ import annotations

from typing import Any

from tensorlab import creation, modes
from tensorlab.nn import functional as F
from tensorlab.nn import init
from tensorlab.nn.modules.module import Module
from tensorlab.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


def _row(padding_idx: int | None, rows: int) -> int | None:
    """The padding row counted from the start. Raises ``AssertionError`` where there is no such row."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"padding_idx must be within num_embeddings ({rows}), got {padding_idx}")
    return padding_idx % rows


class _Table(Module):
    """What ``Embedding`` and ``EmbeddingBag`` have in common: ``weight`` ``[num_embeddings, embedding_dim]``."""

    weight: Any

    def _make(self, weight: Any, trained: bool, device: Any, dtype: Any) -> None:
        if weight is None:
            if self.num_embeddings < 0:
                raise RuntimeError(
                    f"Trying to create tensor with negative dimension {self.num_embeddings}: "
                    f"[{self.num_embeddings}, {self.embedding_dim}]"
                )
            made = creation.empty((self.num_embeddings, self.embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(made, requires_grad=trained)
            self.reset_parameters()
            return
        if list(weight.shape) != [self.num_embeddings, self.embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(weight, requires_grad=trained)

    def reset_parameters(self) -> None:
        """Draw every row from the normal distribution; the padding row is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with modes.no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """One row of ``weight`` for every number in the input, ``[*]`` to ``[*, embedding_dim]``.

    ``weight`` starts normal; the row ``padding_idx`` starts as 0 and gets no gradient. Rows in use that are longer than
    ``max_norm`` are shortened in place. Gradients are dense; ``sparse`` changes nothing.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._make(_weight, not _freeze, device, dtype)

    def forward(self, input: Any) -> Any:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        said = [f"{self.num_embeddings}, {self.embedding_dim}"]
        said += [f"padding_idx={self.padding_idx}"] if self.padding_idx is not None else []
        said += [f"max_norm={self.max_norm}"] if self.max_norm is not None else []
        said += [f"norm_type={self.norm_type}"] if self.norm_type != 2 else []
        said += [f"scale_grad_by_freq={self.scale_grad_by_freq}"] if self.scale_grad_by_freq else []
        return ", ".join(said + (["sparse=True"] if self.sparse else []))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A layer over the rows of a given matrix, which is not trained unless ``freeze=False``."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, width = embeddings.shape
        return cls(rows, width, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of each bag of numbers: ``[bags, N]``, or ``[N]`` with ``offsets``.

    See :func:`tensorlab.nn.functional.embedding_bag`. Gradients are dense; ``sparse`` changes nothing.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._make(_weight, True, device, dtype)

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        said = [f"{self.num_embeddings}, {self.embedding_dim}"]
        said += [f"max_norm={self.max_norm}"] if self.max_norm is not None else []
        said += [f"norm_type={self.norm_type}"] if self.norm_type != 2 else []
        said += [f"scale_grad_by_freq={self.scale_grad_by_freq}"] if self.scale_grad_by_freq else []
        said += [f"mode={self.mode!r}"]
        said += [f"padding_idx={self.padding_idx}"] if self.padding_idx is not None else []
        return ", ".join(said)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer over the rows of a given matrix, which is not trained unless ``freeze=False``."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, width = embeddings.shape
        made = cls(
            rows, width, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        )  # fmt: skip
        made.weight.requires_grad = not freeze
        return made
