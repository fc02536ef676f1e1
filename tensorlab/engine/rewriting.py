"""Why a view that was made in a special way cannot be given new history after a write to its memory."""

from __future__ import annotations

from typing import Any

from tensorlab.engine import sites

#: Why the history of a view cannot be rewritten, by how the view came to be.
NOT_REWRITTEN = {
    "several": "This view is the output of a function that returns multiple views, whose graph cannot follow a write into one of them. "
    "Use the out-of-place form of the operation.",
    "no_grad": "It is not clear whether the write belongs to the graph, so it is forbidden. Make the view and write to it in the same "
    "place: both inside the no_grad block, and the write is not recorded, or both outside, and it is.",
    "inference": "It is not clear whether the write belongs to the graph, so it is forbidden. Make the view and write to it in the same "
    "place: both inside the inference_mode block, and the write is not recorded, or both outside, and it is.",
    "function": "This view was created inside a custom Function (or is an input that one returned as it was). Recording the write would go "
    "past the backward of that Function and give wrong gradients, so it is forbidden. Write to a clone() of what the Function "
    "returns. (A module with full backward hooks passes its inputs and outputs through one.)",
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
