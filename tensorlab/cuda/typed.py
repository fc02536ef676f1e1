"""``cuda.FloatTensor`` and its like: older names that say the element type of tensors on a GPU."""

from __future__ import annotations

from tensorlab import typed

__all__: list[str] = []
for _name in typed.NAMES:
    globals()[_name] = typed.on_gpu(getattr(typed, _name))
    __all__ += [_name]
