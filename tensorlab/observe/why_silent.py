"""Why a hook was not called: one sentence that names the cause, from what was seen of calls and passes."""

from __future__ import annotations

from typing import Any

from tensorlab.observe.hook_recorder import HookRecorder, Pass
from tensorlab.observe.hooks import IN_BACKWARD, Found
from tensorlab.tensor import Tensor

NOTHING_YET = "Nothing has run since the recording began."


def why_silent(found: Found, recorder: HookRecorder, root: str) -> str:
    """Why ``found`` was not called in the last pass, or not at all; empty where it was."""
    fired = recorder.fired.get(found.number, 0)
    last = recorder.passes[-1] if recorder.passes else None
    if fired and (found.kind not in IN_BACKWARD or last is None or recorder.last_pass.get(found.number) == last.number):
        return ""
    if not recorder.attached and not recorder.next:
        return "Nothing is recorded: start the recording, then run the model."
    if found.kind in ("forward pre", "forward"):
        return _of_call(found, recorder, root)
    if found.kind in ("backward pre", "backward"):
        return _of_module(found, recorder, last, root)
    if found.kind in IN_BACKWARD:
        return _of_tensor(found, recorder, last)
    return _of_request(found, recorder)


def _of_call(found: Found, recorder: HookRecorder, root: str) -> str:
    if found.on is None:
        return NOTHING_YET if not recorder.calls else "It was registered after the last call of a module."
    call = recorder.calls.get(id(found.on))
    if call is not None:
        return f"It was registered after the last call of {found.owner}, or another hook or forward() raised before its turn."
    if not recorder.calls:
        return f"{root or 'The model'} has not been called since the recording began."
    return (
        f"{found.owner} was not called: forward() of {root or 'the model'} does not use it, or calls {found.owner}.forward(...) itself, "
        "which passes hooks by."
    )


def _of_module(found: Found, recorder: HookRecorder, last: Pass | None, root: str) -> str:
    if found.on is None:
        return "backward() has not run since the recording began." if last is None else NOTHING_YET
    call = recorder.calls.get(id(found.on))
    if call is None:
        return _of_call(found, recorder, root)
    if not call.grad:
        return f"{found.owner} ran under no_grad: no graph was recorded, so no gradient comes back to it."
    if not call.output:
        return (
            f"Nothing that {found.owner} gave needs a gradient: neither its inputs nor its parameters require grad (frozen?). "
            "Set requires_grad on one of them."
        )
    if last is None or last.at < call.at:
        return f"backward() has not run since {found.owner} was called."
    made = recorder.fired.get(found.number, 0)
    if not made and found.made is not None and _late(found, recorder):
        return f"It was registered after {found.owner} was called. Backward hooks are put in place by the call: call it again."
    return f"The last backward pass did not reach the output of {found.owner}: the loss does not depend on it, or it was detached."


def _late(found: Found, recorder: HookRecorder) -> bool:
    """Whether a pass went through the module's parameters, which it can only do through its output."""
    reached = recorder.passes[-1].leaves
    return any(id(p) in reached for p in found.on.parameters())


def _of_tensor(found: Found, recorder: HookRecorder, last: Pass | None) -> str:
    x = found.on
    if isinstance(x, Tensor) and not x.requires_grad:
        return f"{found.owner}.requires_grad is False: no gradient goes to it (frozen?)."
    if last is None:
        return "backward() has not run since the recording began."
    reached = id(x) in last.leaves if isinstance(x, Tensor) else x.seq in last.nodes
    if found.kind == "post accumulate" and not last.fills:
        return "The last pass was autograd.grad(), which adds to no .grad: hooks after the accumulation are not called."
    if reached:
        return f"It was registered after the last backward pass, or no gradient (None) arrived at {found.owner}."
    if isinstance(x, Tensor):
        return (
            f"The last backward pass did not reach {found.owner}: the loss does not depend on it. explain_grad({found.owner}, loss) "
            "shows where the path is cut."
        )
    return f"The last backward pass did not go through {found.owner}: it started elsewhere, or the path there is cut."


def _of_request(found: Found, recorder: HookRecorder) -> str:
    kind: Any = found.kind.removesuffix(" pre")
    if kind == "step":
        if found.on is not None and id(found.on) in recorder.stepped:
            return f"It was registered after the last {found.owner}.step()."
        return f"{found.owner}.step() has not run since the recording began."
    if kind.endswith("registration"):
        return "No module got a part of that kind since the recording began."
    return f"{kind}() has not been called since the recording began."
