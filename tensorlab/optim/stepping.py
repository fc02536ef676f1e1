"""``LaneOptimizer``: an optimizer that says its rule once, for arrays and for recorded steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorlab import modes
from tensorlab.engine import sites
from tensorlab.optim.lanes import Lane, Plan
from tensorlab.optim.optimizer import Group, Optimizer
from tensorlab.optim.recorded import Cell, RecordedLane

#: Computes the change of parameters into its third argument: ``rule(gradient, values, change, scratch, *slots)``.
Rule = Callable[..., None]


class LaneOptimizer(Optimizer):
    """An optimizer whose update is a rule that works on lanes of parameters.

    ``maximize``, ``weight_decay`` and its decoupled form are done here, before the rule.
    """

    #: Numbers that are remembered of each parameter.
    numbers: tuple[str, ...] = ("step",)
    #: Whether the rule reads the values of parameters.
    sees_values = False

    _plans: dict[int, Plan]

    def _prepare(self) -> None:
        super()._prepare()
        self._plans = {}

    def _kinds(self, group: Group) -> tuple[str, ...]:
        """The names of what is remembered of each parameter, in its shape."""
        return self.like_parameter

    def _start(self, name: str, group: Group) -> float:
        """The first value of what is remembered."""
        return 0.0

    def _rule(self, lane: Any, group: Group) -> Rule:
        """The rule, with the numbers of this step."""
        raise NotImplementedError(type(self).__name__)

    def _decay(self, lane: Any, group: Group) -> Any:
        """The weight of the parameters in the gradient; decay that is decoupled is done at once."""
        decay = lane.read(group.get("weight_decay", 0))
        if decay and group.get("decoupled_weight_decay"):
            lane.scale(1 - lane.read(group["lr"]) * decay)
            return 0.0
        return decay

    def _update(self, lane: Lane, group: Group) -> None:
        xp = lane.xp
        decay = self._decay(lane, group)
        rule = self._rule(lane, group)
        grads = lane.gradients()
        values: Any = lane.values() if lane.direct or decay or self.sees_values else None
        weight, maximize, direct = lane.constant(decay), group.get("maximize"), lane.direct
        for where, t, u, w, slots in lane.pieces:
            g = grads[where]
            p = None if values is None else values[where]
            if maximize:
                g = xp.negative(g, w)
            if decay:
                g = xp.add(g, xp.multiply(p, weight, t), w)
            wide = lane.wide(slots)
            rule(g, p, t, u, *wide)
            lane.stored(slots, wide)
            if direct:
                xp.subtract(p, t, p)

    def _record(self, lane: RecordedLane, group: Group) -> None:
        xp = lane.xp
        decay = self._decay(lane, group)
        rule = self._rule(lane, group)
        g, p, t, slots = lane.gradient(), lane.value(), Cell(), lane.slots()
        if group.get("maximize"):
            g = xp.negative(g)
        if not isinstance(decay, (int, float)) or decay:
            g = xp.add(g, xp.multiply(p, decay))
        rule(g, p, t, Cell(), *slots)
        lane.finish(t, slots)

    def _record_step(self) -> None:
        for group in self.param_groups:
            kinds = self._kinds(group)
            for p in group["params"]:
                if p._grad is not None:
                    start = _starting(self, group)
                    self._record(RecordedLane(p, self.state[p], kinds, self.numbers, start), group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters that have a gradient by one step. ``closure`` computes the loss again; its value is
        returned.
        """
        loss = None
        if closure is not None:
            with modes.enable_grad():
                loss = closure()
        if self.defaults.get("differentiable"):
            with modes.enable_grad():
                self._record_step()
            return loss
        name, site = f"{type(self).__name__}.step", sites.here(2)
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                ready = [p for p in group["params"] if p._grad is not None]
                if not ready:
                    continue
                kinds = self._kinds(group)
                plan = self._plans.get(id(group))
                if plan is None or not plan.fits(ready, self.state, kinds):
                    plan = Plan(ready, self.state, kinds, self.numbers, _starting(self, group))
                    self._plans[id(group)] = plan
                for lane in plan.lanes:
                    with lane.on:
                        self._update(lane, group)
                        lane.finish(name, site)
                    lane.fresh = False
        return loss


def _starting(owner: LaneOptimizer, group: Group) -> Callable[[str], float]:
    return lambda name: owner._start(name, group)
