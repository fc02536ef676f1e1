"""Why a view that was made in a special way cannot be given new history after a write to its memory."""

from __future__ import annotations

from typing import Any

from tensorlab.engine import sites

#: Why the history of a view cannot be rewritten, by how the view came to be.
NOT_REWRITTEN = {
    "several": "This view is the output of a function that returns multiple views. Such functions do not allow "
    "the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "no_grad": "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the no_grad block (if you don't want the "
    "inplace to be tracked) or both outside (if you want the inplace to be tracked).",
    "inference": "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the inference_mode block (if you don't want "
    "the inplace to be tracked) or both outside (if you want it to be).",
    "function": "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle "
    "view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
    "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function. (A "
    "module with full backward hooks passes its inputs and outputs through one.)",
}


def rewritten(x: Any, made_in: str) -> RuntimeError:
    """The error for a view whose memory was written through another tensor, so that its place in the graph is not known any more."""
    wrote = x._st.writes[-1:] if x._st is not None else ()
    by = "".join(f" (by {op}(){' at ' + sites.describe(site) if site else ''})" for _, op, site in wrote)
    if made_in in ("several", "function"):
        what = f"Output {x._edge[1]} of {x._edge[0].name()}" if x._edge is not None else "Output 0 of a function"
        text = f"{what} is a view and its base or another view of its base has been modified inplace{by}."
    else:
        mode = "no_grad" if made_in == "no_grad" else "inference"
        what = f"A view was created in {mode} mode"
        text = f"{what} and its base or another view of its base has been modified inplace with grad mode enabled{by}."
    return RuntimeError(f"{text} {NOT_REWRITTEN[made_in]}")
