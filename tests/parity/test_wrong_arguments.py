"""Every argument of a hundred methods replaced by something wrong: refused as PyTorch refuses it, with its class of error."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch

#: Methods with arguments that are right, for the tensors below.
RIGHT = """
sum 1; mean 1; prod 1; std 1; var 1; amax 1; amin 1; max 1; min 1; argmax 1; argmin 1; all 1; any 1; logsumexp 1; softmax 1
log_softmax 1; cumsum 1; cumprod 1; cummax 1; cummin 1; logcumsumexp 1; kthvalue 1,1; mode 1; median 1; nanmedian 1; nansum 1; nanmean 1
quantile 0.5,1; count_nonzero 1; sort 1,True; argsort 1; topk 1,1; unique_consecutive; diff 1,1; renorm 2,0,1.0; histc 4,0,5
transpose 0,1; swapaxes 0,1; permute 1,0; movedim 0,1; expand 2,3; reshape 3,2; view 3,2; squeeze 0; unsqueeze 0; flatten 0,1
unflatten 1,(3,1); select 0,1; narrow 0,0,1; as_strided (2,2),(1,1),0; diagonal 0,0,1; unfold 0,2,1; split 1,0; chunk 2,0; unbind 0
tril 0; triu 0; roll 1,0; flip 0; tile 2,1; repeat 2,1; diag 0; diag_embed 0,1,2; diagflat 0; rot90 1,(0,1); tensor_split 2,0; hsplit 3
vsplit 2; split_with_sizes (1,1),0; unsafe_chunk 2,0; unsafe_split 1,0; repeat_interleave 2,1; gather 0,i; index_select 0,v
index_fill 0,v,1.0; index_copy 0,v,s; index_add 0,v,s; index_reduce 0,v,s,'mean'; take v; put v,r1; scatter 0,i,s; scatter_add 0,i,s
scatter_reduce 0,i,s,'sum'; masked_fill m,0.5; masked_select m; masked_scatter m,r6; index_put (v,),r3; select_scatter r3,0,1
slice_scatter s,0,0,1; diagonal_scatter r,0,0,1; as_strided_scatter r,(2,),(1,); new_zeros 2,3; new_full (2,3),1.0; size 0; stride 0
dist x; kron x; take_along_dim i,0; where m,x; view_as x; expand_as x; reshape_as y; sum_to_size 1,3; resize_as_ x; t; fliplr; aminmax
isclose x; allclose x; equal x; nonzero; msort; cov; type_as x; fill_ 1.0; fill_diagonal_ 1.0; cumsum_ 1; t_; transpose_ 0,1
unsqueeze_ 0; squeeze_ 0; tril_ 0; index_fill_ 0,v,1.0; scatter_ 0,i,s; masked_fill_ m,0.5; copy_ x; resize_ 2,3; is_same_size x
"""
CALLS = [call.strip() for call in RIGHT.replace("\n", ";").split(";") if call.strip()]
WRONG = (
    "None", "'a'", "1.5", "2.0", "[1.5]", "[None]", "['a']", "T.tensor([1, 2])", "T.tensor(1.5)", "T.tensor(1)", "True", "()", "{}", "1j",
    "object()", "99", "-99", "(0, 99)",
)  # fmt: skip
#: Calls that differ on purpose, by the reason.
APART = {
    "None says what leaving the argument out says": """
        x.prod(None) x.max(None) x.min(None) x.median(None) x.nanmedian(None) x.std(1,None) x.var(1,None) x.unique_consecutive(None)
        x.fill_diagonal_(1.0,None) x.copy_(x,None) x.sort(1,True,None) x.sum_to_size()""",
    "a boolean is no size": """
        x.tile(2,True) x.repeat(2,True) x.new_zeros(2,True) x.sum_to_size(1,True) x.resize_(2,True) x.permute(1,True) x.expand(2,True)
        x.reshape(3,True) x.view(3,True)""",
    "a fraction is no size": "x.split(T.tensor(1.5),0)",
    "an imaginary part is not dropped": "x.copy_(1j)",
    "another class of error that says more": """
        x.unflatten(1,T.tensor([1, 2])) x.unflatten(1,{}) x.repeat_interleave(T.tensor(1.5),1) x.index_put([None],r3) x.index_put((),r3)""",
    "nothing to sum over is everything, as for sum": "x.logsumexp(())",
    "tensors may say where to cut": "x.hsplit(T.tensor([1, 2])) x.vsplit(T.tensor([1, 2])) x.hsplit(T.tensor(1.5)) x.vsplit(T.tensor(1.5))",
}


def arguments(text: str) -> list[str]:
    """What stands between the commas that are in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part for part in parts if part]


def outcome(lib: Any, call: str) -> Any:
    """The name of the error that a call raises, or the shapes and values that it gives."""
    known = {
        "T": lib, "x": lib.arange(6.0).reshape(2, 3), "y": lib.arange(6.0).reshape(3, 2), "v": lib.tensor([0]),
        "i": lib.tensor([[0, 0, 0]]), "s": lib.ones(1, 3), "r": lib.ones(2), "r1": lib.ones(1), "r3": lib.ones(3), "r6": lib.ones(6),
        "m": lib.tensor([[True, False, True], [False, True, False]]),
    }  # fmt: skip
    try:
        found = eval(call, known)
    except Exception as error:
        return type(error).__name__
    results = found if isinstance(found, (tuple, list)) else [found]
    return [tuple(y.shape) if isinstance(y, lib.Tensor) else y for y in results]


def apart(call: str) -> bool:
    return any(call.replace(" ", "") in known.replace(", ", ",").split() for known in APART.values())


@pytest.mark.parametrize("right", CALLS)
def test_a_wrong_argument_is_refused_with_pytorchs_class_of_error(right: str) -> None:
    name, _, text = right.partition(" ")
    given = arguments(text)
    calls = [given[:k] + [wrong] + given[k + 1 :] for k in range(len(given)) for wrong in WRONG]
    calls += [given, *[given[:k] for k in range(len(given))], [*given, "None"]]
    differ = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for parts in calls:
            call = f"x.{name}({','.join(parts)})"
            ours, theirs = outcome(tl, call), outcome(torch, call)
            if ours != theirs and not apart(call):
                differ[call] = f"{ours} instead of {theirs}"
    assert differ == {}
