"""Find the operation whose gradient went wrong: ``with detect_anomaly():`` around forward and backward."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import modes, taps
from tensorlab.engine import sites

_undo: list[Callable[[], None]] = []  # what ends anomaly detection as it is switched now
_checks_nan = True
_lock = threading.Lock()


def is_anomaly_enabled() -> bool:
    """Whether backward passes are checked."""
    return bool(_undo)


def is_anomaly_check_nan_enabled() -> bool:
    """Whether the check looks for NaN."""
    return bool(_undo) and _checks_nan


def _switch(on: bool, check_nan: bool) -> None:
    global _checks_nan
    with _lock:
        while _undo:
            _undo.pop()()
        _checks_nan = check_nan
        if on:
            modes.watch_sites(True)
            _undo.append(lambda: modes.watch_sites(False))
            _undo.append(taps.watch_steps(_look))


def _look(node: Any, incoming: Any, outgoing: Any) -> None:
    """A tap: raises if a gradient that ``node`` computed holds NaN."""
    if not _checks_nan:
        return
    for position, g in enumerate(outgoing):
        if g is not None and bool(np.isnan(g._a).any()):
            given = [h for h in incoming if h is not None and bool(np.isnan(h._a).any())]
            came = " The gradient that came in held NaN already." if given else ""
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {position}th output.{came} {_where(node)}"
            )


def _where(node: Any) -> str:
    if node.site is None:
        return "Where its forward ran is not known: switch anomaly detection on around the forward pass too."
    return f"Its forward ran at {sites.describe(node.site)}"


class set_detect_anomaly:
    """Switch the check on or off, in all threads. As a call it stays; as a context manager it ends with the block.

    While on, nodes record the line of their forward, a backward pass that computes NaN raises ``RuntimeError`` naming the node and
    that line (unless ``check_nan`` is false), and any error of a backward pass carries a note with the line.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.previous = (is_anomaly_enabled(), _checks_nan)
        _switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        _switch(*self.previous)


class detect_anomaly(set_detect_anomaly):
    """A context manager that makes backward say which operation first computed NaN, and in which line it was called.

    >>> import tensorlab as tl
    >>> import warnings; warnings.simplefilter("ignore")
    >>> x = tl.tensor(-1.0, requires_grad=True)
    >>> with tl.autograd.detect_anomaly():
    ...     (x.sqrt() * 0).backward()
    Traceback (most recent call last):
      ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.previous = (is_anomaly_enabled(), _checks_nan)
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled "
            "for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.previous = (is_anomaly_enabled(), _checks_nan)
        _switch(True, self.check_nan)
