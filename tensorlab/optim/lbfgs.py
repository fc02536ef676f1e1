"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorlab import functional, modes
from tensorlab.optim import checks
from tensorlab.optim.line_search import strong_wolfe
from tensorlab.optim.optimizer import Group, Optimizer

Closure = Callable[[], Any]


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last ``history_size`` changes of parameters and gradients.

    ``step(closure)`` does up to ``max_iter`` iterations and calls ``closure``, which computes the loss and its gradients,
    up to ``max_eval`` times (``max_iter * 5 // 4`` unless given). It ends early once no gradient is larger than
    ``tolerance_grad``, or no change larger than ``tolerance_change``. ``line_search_fn="strong_wolfe"`` searches for the
    step length, else it is ``lr``. All parameters are in one group and on one device. Source: Nocedal and Wright, 2006,
    chapters 3 and 7.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        checks.rate(lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError(f"only 'strong_wolfe' is supported, not {line_search_fn!r}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Any]:
        return self.param_groups[0]["params"]

    def step(self, closure: Closure) -> Any:  # type: ignore[override]
        """Minimize for up to ``max_iter`` iterations. ``closure`` clears the gradients, computes the loss, calls
        ``backward()`` and returns the loss; its first value is returned.
        """

        def evaluate() -> Any:
            with modes.enable_grad():
                return closure()

        with modes.no_grad():
            return self._minimize(evaluate, self.param_groups[0], self.state[self._params[0]])

    def _minimize(self, evaluate: Closure, group: Group, state: dict[str, Any]) -> Any:
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, evaluations = float(first), 1
        state["func_evals"] += 1
        gradient = self._gradient()
        if _largest(gradient) <= group["tolerance_grad"]:
            return first
        for turn in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = state["d"] = _direction(state, gradient, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            slope = float(functional.dot(gradient, d))
            t = state["t"] = _first_length(state, gradient, float(group["lr"]))
            if slope > -group["tolerance_change"]:
                break
            more = 0
            if group["line_search_fn"] is not None:
                most = group["max_eval"] - evaluations
                loss, gradient, t, more = self._search(evaluate, t, d, loss, gradient, slope, most, group)
                state["t"] = t
                self._move(t, d)
            else:
                self._move(t, d)
                if turn != group["max_iter"]:
                    loss, gradient, more = float(evaluate()), self._gradient(), 1
            evaluations += more
            state["func_evals"] += more
            if evaluations >= group["max_eval"] or self._arrived(group, state, gradient, loss):
                break
        return first

    def _arrived(self, group: Group, state: dict[str, Any], gradient: Any, loss: float) -> bool:
        """Whether the gradient is small, or the last change of the parameters or of the loss was."""
        return (
            _largest(gradient) <= group["tolerance_grad"]
            or _largest(state["d"] * state["t"]) <= group["tolerance_change"]
            or abs(loss - state["prev_loss"]) < group["tolerance_change"]
        )

    def _search(
        self, evaluate: Closure, t: float, d: Any, loss: float, gradient: Any, slope: float, most: int, group: Group
    ) -> tuple[float, Any, float, int]:
        """A step length by line search: the loss there, its gradient, the length, and how often it looked."""
        before = [p.clone() for p in self._params]

        def look(length: float) -> tuple[float, Any, float]:
            self._move(length, d)
            found, there = float(evaluate()), self._gradient()
            for p, values in zip(self._params, before, strict=True):
                p.copy_(values)
            return found, there, float(functional.dot(there, d))

        return strong_wolfe(look, t, _largest(d), (loss, gradient.clone(), slope), most, group["tolerance_change"])

    # ----------------------------------------------------------------------------------------- all parameters as one

    def _gradient(self) -> Any:
        """The gradients of all parameters as one vector; zeros where there is none."""
        parts = [p.detach() * 0 if p._grad is None else p._grad for p in self._params]
        return functional.cat([_real(part).reshape(-1) for part in parts])

    def _move(self, length: float, d: Any) -> None:
        """Add a multiple of a vector to the parameters."""
        at = 0
        for p in self._params:
            own = _real(p)
            size = own.numel()
            own.add_(d[at : at + size].reshape(own.shape) * length)
            at += size


def _real(x: Any) -> Any:
    return functional.view_as_real(x) if x.is_complex() else x


def _largest(x: Any) -> float:
    return float(functional.abs(x).max()) if x.numel() else 0.0


def _first_length(state: dict[str, Any], gradient: Any, lr: float) -> float:
    """The step length to begin with: cautious on the very first iteration."""
    return min(1.0, 1.0 / float(functional.abs(gradient).sum())) * lr if state["n_iter"] == 1 else lr


def _direction(state: dict[str, Any], gradient: Any, history_size: int) -> Any:
    """Against the gradient, bent by the curvature that was seen (the two-loop recursion)."""
    if state["n_iter"] == 1 or state.get("d") is None:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return -gradient
    changes, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
    y, s = gradient - state["prev_flat_grad"], state["d"] * state["t"]
    curvature = functional.dot(y, s)
    if curvature > 1e-10:
        for past, new in ((changes, y), (steps, s), (weights, 1.0 / curvature)):
            if len(past) == history_size:
                past.pop(0)
            past.append(new)
        state["H_diag"] = curvature / functional.dot(y, y)
    known = state.setdefault("al", [None] * history_size)
    q = -gradient
    for at in range(len(changes) - 1, -1, -1):
        known[at] = functional.dot(steps[at], q) * weights[at]
        q = q - changes[at] * known[at]
    r = q * state["H_diag"]
    for at in range(len(changes)):
        r = r + steps[at] * (known[at] - functional.dot(changes[at], r) * weights[at])
    return r
