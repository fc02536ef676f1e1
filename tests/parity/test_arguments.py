"""Arguments of the wrong type: where PyTorch refuses them we do, with its class of error, and we name what was wrong."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import tensorlab as tl
from tests.parity import oracle

torch = oracle.torch

#: Calls of both libraries, separated by semicolons. ``x`` holds the numbers from 0 to 5 in two rows.
CALLS = [call.strip() for call in """
x.expand(None); x.expand('a'); x.expand(2.0,3); x.expand([2.,3]); x.expand(torch.tensor(2),3); x.expand(torch.tensor([2,3]))
x.expand(); x.expand(()); x.expand(2,None); x.view(); x.view(()); x.view(None); x.view('a'); x.view(6.); x.view([6.]); x.view(2,'a')
x.view(torch.tensor(6)); x.view(torch.tensor([6])); x.reshape(); x.reshape(()); x.reshape(None); x.reshape(6.); x.reshape([6.])
x.reshape(torch.tensor(6)); x.permute(); x.permute(()); x.permute(None); x.permute(1.,0); x.permute([1.,0]); x.permute('a')
x.permute(torch.tensor(1),0); x.repeat(); x.repeat(None); x.repeat(2.); x.repeat([2.,1]); x.repeat('a'); x.flip(); x.flip(None)
x.flip(0.); x.flip('a'); x.sum(None); x.sum('a'); x.sum(1.); x.sum([1.]); x.sum(torch.tensor(1)); x.sum([None]); x.sum(dim=[0,None])
x.mean('a'); x.mean(1.); x.prod(1.); x.prod('a'); x.amax(1.); x.amax('a'); x.max(1.); x.max('a'); x.argmax('a'); x.argmax(1.)
x.all(1.); x.all('a'); x.var(1.); x.var('a'); x.norm(2,1.); x.norm('a'); x.logsumexp(1.); x.logsumexp('a'); x.softmax(1.)
x.softmax('a'); x.softmax(None); x.softmax(); x.cumsum(1.); x.cumsum('a'); x.cumsum(None); x.transpose(0,None); x.transpose(0,1.)
x.transpose(0,'a'); x.transpose(0); x.transpose(torch.tensor(0),1); x.movedim(0,None); x.movedim(0,1.); x.movedim([0.],[1])
x.squeeze(1.); x.squeeze('a'); x.squeeze(None); x.squeeze([0.]); x.unsqueeze(1.); x.unsqueeze(None); x.unsqueeze('a'); x.unsqueeze()
x.flatten(1.); x.flatten('a'); x.flatten(None); x.unflatten(1,None); x.unflatten(1,3); x.unflatten(1,(3.,1)); x.unflatten(1.,(3,1))
x.select(0,None); x.select(0,1.); x.select(0.,1); x.select(0,torch.tensor(1)); x.narrow(0,1.,1); x.narrow(0,0,1.); x.narrow(0,0,None)
x.narrow(None,0,1); x.as_strided(None,None); x.as_strided((2.,),(1,)); x.as_strided((2,),(1.,)); x.as_strided(2,1)
x.as_strided((2,),(1,),1.); x.diagonal(1.); x.diagonal(None); x.diagonal(0,0.,1); x.unfold(0,2,1.); x.unfold(0,None,1); x.split(None)
x.split(1.); x.split([1.,1]); x.split('a'); x.split(1,1.); x.chunk(None); x.chunk(2.); x.chunk(2,1.); x.chunk('a'); x.unbind(1.)
x.unbind(None); x.tril(1.); x.tril(None); x.roll(1.); x.roll(None); x.roll(1,1.); x.roll('a'); x.tile(2.); x.tile(None); x.diag(1.)
x.sort(1.); x.sort(None); x.sort('a'); x.topk(1.); x.topk(None); x.topk(1,1.); x.kthvalue(1.); x.median(1.); x.median('a')
x.gather(1.,torch.zeros(1,1).long()); x.gather(None,torch.zeros(1,1).long()); x.gather(0,None)
x.index_select(1.,torch.zeros(1).long()); x.index_select(None,torch.zeros(1).long()); x.repeat_interleave(1.)
x.repeat_interleave(None); x.repeat_interleave('a'); x.repeat_interleave([1,2]); x.repeat_interleave(2,1.); x.size(1.); x.size('a')
x.stride(1.); x.resize_(None); x.resize_(2.); x.new_zeros(None); x.new_zeros(2.); x.new_zeros('a'); x.new_zeros([2.]); x.new_full(2,1)
x.new_full((2.,),1); torch.zeros(None); torch.zeros(2.); torch.zeros([2.]); torch.zeros(torch.tensor(2)); torch.zeros('a')
torch.zeros(2,None); torch.full(2,1.); torch.full(None,1.); torch.full((2,),None); torch.full((2,),'a'); torch.eye(2.)
torch.eye(None); torch.arange('a'); torch.arange(None); torch.linspace(0,1,2.); torch.linspace(0,1,None); torch.linspace('a',1,2)
torch.stack([x,x],1.); torch.stack([x,x],None); torch.cat([x,x],1.); torch.cat([x,x],None); torch.cat([x,x],'a'); torch.cat(None)
torch.stack(None); torch.reshape(x); torch.reshape(x,6); torch.reshape(x,None); torch.permute(x,None); torch.permute(x,1)
torch.broadcast_to(x,None); torch.broadcast_to(x,3); torch.flip(x,None); torch.flip(x,0); torch.tile(x,2); torch.roll(x,None)
torch.clamp(x,'a'); torch.clamp(x,min='a'); torch.lerp(x,x,'a'); torch.lerp(x,x,None); torch.add(x,x,alpha='a'); torch.pow(x,'a')
torch.pow(x,None); x.masked_fill(x>1,None); x.masked_fill(x>1,'a'); x.fill_(None); x.fill_('a'); x.clamp('a'); x.quantile(None)
x.std(correction='a'); x.view(torch.tensor(2),torch.tensor(3)); x.expand(True,3); x.sum(True); x.sum(False); x.t().view(6); float(x)
int(x); bool(x); complex(x); float(torch.zeros(0)); x.__index__(); torch.tensor(1.5).__index__(); x.item(); float(torch.tensor(1j))
int(torch.tensor(1j)); range(torch.tensor([2])); x.sum_to_size(None); x.expand_as(None); x.view_as(3); x.split(2,None); x.dist(None)
x.renorm(None,0,1); x.histc('a'); x.diff('a'); x.rot90('a'); x.tensor_split('a'); x.tensor_split(1.); x.hsplit('a'); x.diag_embed(1.)
x.cummax(1.); x.cummax('a'); x.mode(1.); x.aminmax(dim=1.); x.count_nonzero(1.); x.nansum(1.); torch.combinations(x[0],1.)
torch.combinations(x[0],None)
""".replace("\n", "; ").split(";") if call.strip()]  # fmt: skip


def outcome(lib: Any, call: str) -> Any:
    """The result of a call, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, {"torch": lib, "x": lib.arange(6.0).reshape(2, 3)})
        except Exception as error:
            return error


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_refused_with_pytorchs_class_of_error_or_gives_the_same(call: str) -> None:
    theirs, ours = outcome(torch, call), outcome(tl, call)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (ours, theirs)
        return
    assert not isinstance(ours, Exception), ours
    assert shapes(ours) == shapes(theirs)


def shapes(value: Any) -> list[tuple[int, ...]]:
    """The shapes of all tensors in a result."""
    results = value if isinstance(value, tuple) else (value,)
    return [tuple(result.shape) for result in results if hasattr(result, "shape")]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("x.expand(None)", r"expand\(\): argument 'size' \(position 1\) must be tuple of ints, not NoneType"),
        (
            "x.view([6.0])",
            r"view\(\): argument 'size'.* must be tuple of ints, but found element of type float at pos 1",
        ),
        ("x.reshape('a')", r"reshape\(\): argument 'shape' \(position 1\) must be tuple of ints, not str"),
        ("torch.flip(x, 0)", r"flip\(\): argument 'dims' \(position 2\) must be tuple of ints, not int"),
        ("torch.sum(x, 1.5)", r"sum\(\): argument 'dim' \(position 2\) must be int, not float"),
        ("torch.transpose(x, 0, None)", r"transpose\(\): argument 'dim1' \(position 3\) must be int, not NoneType"),
        ("torch.tril(x, 1.0)", r"tril\(\): argument 'diagonal' \(position 2\) must be int, not float"),
        ("x.permute()", r"permute\(\) missing 1 required positional arguments: \"dims\""),
        ("float(x)", r"only one element tensors can be converted to Python scalars.*\[2, 3\]"),
    ],
)
def test_the_error_names_the_operation_the_argument_and_its_position(call: str, words: str) -> None:
    assert re.search(words, str(outcome(tl, call)))


NAMED = """
x.permute(dims=(1,0)); x.flip(dims=(0,)); x.expand(size=(2,3)); x.view(size=(3,2)); x.tile(dims=(2,1)); x.reshape(shape=(6,))
x.repeat(repeats=(1,2)); x.view(dtype=torch.int32)
""".replace("\n", "; ").split(";")


@pytest.mark.parametrize("call", [call.strip() for call in NAMED if call.strip()])
def test_sizes_may_be_given_by_name(call: str) -> None:
    assert oracle.differences(outcome(tl, call), outcome(torch, call)) == []


@pytest.mark.parametrize("shape", [(6,), (2, 3), ()])
def test_in_asks_whether_an_element_is_equal(shape: tuple[int, ...]) -> None:
    for element in (1, 1.5, True, 2j, "a", None, [1], torch.tensor(2.0), torch.ones(3), torch.ones(5)):
        outcomes = []
        for library in (torch, tl):
            x = library.arange(6.0)[: max(1, torch.Size(shape).numel())].reshape(shape)
            given = element if library is torch else oracle.ours(element)
            try:
                outcomes.append(given in x)
            except (RuntimeError, TypeError) as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1], element
